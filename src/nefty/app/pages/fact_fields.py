"""The facts that a form asks for, by the names of the command line's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nefty.core.errors import InputError
from nefty.data.intake.known import Known
from nefty.physics.materials import MATERIALS

LENGTHS, TIMES, DIFFUSIVITIES = ("mm", "um", "cm", "m", "in"), ("ms", "s", "us", "min"), ("m2/s", "mm2/s", "cm2/s")


@dataclass(frozen=True)
class FactField:
    """One fact.

    Args:
        name: of the fact.
        label: of the input.
        kind: ``"text"``, ``"number"``, ``"count"``, ``"choice"`` or ``"flag"``.
        units: of a quantity, the first is proposed; a quantity is text, such as ``"1.3 mm"``.
        choices: what may be chosen.
        hint: what it is for.
        of_part: whether a recording that says everything itself refuses it.
    """

    name: str
    label: str
    kind: str = "text"
    units: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    hint: str = ""
    of_part: bool = False

    def parts(self, known: Known) -> tuple[str, str]:
        """What was said, as the input and the unit show it."""
        value = getattr(known, self.name)
        text = "" if value is None or value is False else str(value)
        if not self.units:
            return text, ""
        number, _, unit = text.partition(" ")
        return number, unit if unit in self.units else self.units[0]

    def read(self, text: str, unit: str = "") -> Any:
        """The value that the input and the unit say; None if nothing was said."""
        text = text.strip()
        if not text:
            return None
        if self.units:
            return ",".join(f"{side.strip()} {unit}" for side in text.replace(";", ",").split(","))
        if self.kind not in ("number", "count"):
            return text
        try:
            return int(text) if self.kind == "count" else float(text.replace(",", "."))
        except ValueError:
            what = "a whole number" if self.kind == "count" else "a number"
            raise InputError(f"{self.label}: {text!r} must be {what}.") from None


#: What most recordings need.
MAIN = (
    FactField("material", "Material", "choice", choices=tuple(sorted(MATERIALS)), of_part=True),
    FactField("thickness", "Thickness of the part", units=LENGTHS, of_part=True),
    FactField("pixel", "What a pixel shows", units=LENGTHS, hint="its edge length on the part", of_part=True),
    FactField("fps", "Frames per second", "number"),
    FactField("pulse", "Heating lasted", units=TIMES, hint="of a flash lamp about 5 ms", of_part=True),
    FactField("alpha", "Diffusivity, if measured", units=DIFFUSIVITIES, hint="through the thickness", of_part=True),
    FactField("flash_frame", "Flash in frame", "count", hint="number, from 0"),
    FactField("ambient", "Value before the flash", hint="a number, or frames, pixels, off"),
    FactField("units", "Values are in", "choice", choices=("K", "C", "counts")),
)
#: What can be set besides.
MORE = (
    FactField("no_losses", "The faces lose no heat", "flag", of_part=True),
    FactField("start", "Use frames from", units=TIMES, hint="after the flash"),
    FactField("until", "Use frames until", units=TIMES, hint="after the flash"),
    FactField("bin", "Average pixels", hint="N for N × N, a size such as 0.5 mm, or off"),
    FactField("frames", "Average in time to", hint="about so many frames, or off"),
    FactField("onset", "Flash within its frame", "choice", choices=("auto", "frame", "decay")),
    FactField("gain", "Uneven heating", "choice", choices=("joint", "early")),
    FactField("corrupt", "Frames to leave out", hint="such as 100,101; auto, off"),
    FactField("dead", "Look for dead pixels", "choice", choices=("auto", "off")),
    FactField("saturation", "Saturated from", hint="a value, auto or off"),
    FactField("drift", "Unheated pixels", hint="y0:y1,x0:x1, which tell the camera's drift"),
    FactField("calibration", "Calibration", hint="slope,offset to a temperature"),
    FactField("variable", "Array in the file", hint="where it holds several"),
    FactField("axes", "Its axes", "choice", choices=("tyx", "yxt", "txy", "xyt")),
    FactField("emissivity", "Emissivity", "number", hint="of files with the camera's constants"),
    FactField("reflected", "Reflected temperature", hint="such as 22 C"),
    FactField("atmosphere", "Temperature of the air", hint="such as 22 C"),
    FactField("humidity", "Humidity of the air", "number", hint="0 to 1"),
    FactField("distance", "From part to camera", units=LENGTHS),
)
