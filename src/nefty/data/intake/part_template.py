"""A file of facts to begin with: what is known of a recording, what is missing, and all else as comments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from nefty.data.intake.intake import Recording
from nefty.data.intake.known import NO_FACTS, Known
from nefty.data.intake.part_file import FILES
from nefty.physics.materials import KIND_OF, Material


@dataclass(frozen=True)
class Told:
    """How a fact is explained: an example of its value as TOML, and what it means."""

    example: str
    text: str


HEAD = """\
# What is known of {file} and of recordings like it: nefty reconstruct, nefty inspect, nefty batch --facts and
# nefty.load(..., facts=...) read it. Words and units are those of the options: --flash-frame 11 is flash_frame = 11.
# A line that begins with # is not read; take the # away where you know better. What is typed wins over this file.
"""
GROUPS: Mapping[str, Mapping[str, Told]] = {
    "The part": {
        "material": Told('"cfrp"', "a name, a .toml file, or a table { alpha_z = ..., alpha_y = ..., alpha_x = ... }"),
        "alpha": Told(
            '"4.5e-7 m2/s"', "diffusivity through the thickness; the ratios in the plane stay the material's"
        ),
        "thickness": Told('"1.3 mm"', "of the part"),
        "pixel": Told('"0.2 mm"', 'what a pixel of the camera sees; ["0.2 mm", "0.3 mm"] for (y, x)'),
        "no_losses": Told("true", "the faces lose no heat"),
    },
    "The heating": {
        "pulse": Told('"20 ms"', "how long it lasted"),
        "heating": Told('"curve.csv"', "its course instead: lines of time in s since it began, value"),
        "flash_frame": Told("11", "number, from 0, of the frame in which the flash falls"),
        "onset": Told('"auto"', "when within that frame: frame, decay or auto"),
    },
    "The camera and its file": {
        "fps": Told("50", "frames per second"),
        "times": Told("[0.0, 0.02]", "of all frames, in s, instead of fps"),
        "units": Told('"K"', "of the values: K, C or counts"),
        "ambient": Told("295.2", "to subtract, in the unit of the values; or frames, pixels, off"),
        "calibration": Told("[0.01, 270.0]", "slope and offset: temperature = slope x value + offset"),
        "lookup": Told('"table.npy"', "temperature of each count, the first of count 0"),
        "variable": Told('"frames"', "array in the file, where it holds several"),
        "axes": Told('"tyx"', "order of the array: tyx, yxt, txy or xyt"),
        "emissivity": Told("0.95", "of the part, for files with the camera's constants; as are the next four"),
        "reflected": Told('"22 C"', "temperature that the part reflects"),
        "atmosphere": Told('"22 C"', "temperature of the air between part and camera"),
        "humidity": Told("0.5", "of that air, 0 to 1"),
        "distance": Told('"0.5 m"', "from the part to the camera"),
    },
    "The region": {
        "roi": Told('"10:50,20:80"', "only these rows and columns, first and one past the last; auto, off"),
        "mask": Told('"mask.npy"', "pixels (y, x) that count, true or false"),
        "polygon": Told("[[10, 20], [50, 20], [30, 80]]", "only pixels inside of it: corners (row, column)"),
        "leave_out": Told('"10:20,30:40"', "rectangles like roi whose pixels do not count, apart by spaces"),
    },
    "The preparation": {
        "bin": Told('"auto"', 'average N x N pixels; or to a size such as "0.5 mm"; auto, off'),
        "frames": Told("60", "average in time to about so many frames; off"),
        "start": Told('"50 ms"', "leave out frames earlier than this after the flash"),
        "until": Told('"20 s"', "leave out frames later than this after the flash"),
        "gain": Told('"joint"', "estimated by the inversion; early: divided out before"),
        "corrupt": Told('"auto"', "frames to leave out, [100, 101]; auto finds them, off"),
        "dead": Told('"auto"', "look for dead pixels: auto or off"),
        "saturation": Told('"auto"', "value from which on the camera is saturated; auto finds it, off"),
        "drift": Told('"off"', "pixels that were not heated, as rows and columns; auto, off"),
    },
}


def part_template(recording: Recording) -> str:
    """The text of a ``part.toml``; what a reconstruction still needs is marked by MISSING."""
    missing = {fact.name: fact for fact in recording.missing}
    said = recording.known.said()
    lines = [HEAD.format(file=recording.file.name)]
    for title, facts in _groups():
        lines.append(f"# {title}")
        for name, told in facts.items():
            comment = f"  # {told.text}" if told.text else ""
            if name in said:
                lines.append(f"{name} = {_toml(name, said[name])}{comment}")
            elif name in missing:
                lines.append(f"# MISSING: {missing[name].what}; take the # away and give your value:")
                lines.append(f"# {name} = {told.example}{comment}")
            else:
                lines.append(f"# {name} = {told.example}{comment}")
        lines.append("")
    lines += [f"# Assumed, {step.name}: {step.text}" for step in recording.assumed]
    return "\n".join(lines).rstrip() + "\n"


def _groups() -> Iterator[tuple[str, Mapping[str, Told]]]:
    """The groups, and at the end the facts that no group explains."""
    yield from GROUPS.items()
    explained = {name for facts in GROUPS.values() for name in facts}
    names = [f.name for f in fields(Known) if f.name not in (*NO_FACTS, *explained)]
    if names:
        yield "Further", {name: Told('"..."', f"as the option --{name.replace('_', '-')}") for name in names}


def _toml(name: str, value: Any) -> str:
    """A value as TOML: text in quotes, a material as a table, files by their whole path."""
    if isinstance(value, Material):
        units = {"alpha_z": "m2/s", "alpha_y": "m2/s", "alpha_x": "m2/s", "rho": "kg/m3", "cp": "J/kgK"}
        known = {key: v for key, v in value.model_dump(exclude_none=True).items() if key in ("name", *KIND_OF)}
        words = {key: v if key == "name" else f"{v!r} {units[key]}" for key, v in known.items()}
        return "{ " + ", ".join(f"{key} = {json.dumps(text)}" for key, text in words.items()) + " }"
    if isinstance(value, Path) or (name in FILES and isinstance(value, str)) or str(value).endswith(".toml"):
        return json.dumps(str(Path(value).resolve()), ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml("", item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
