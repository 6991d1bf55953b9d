"""The options that say what a recording's file does not, shared by the verbs that read one.

They are written once, as the fields of ``RecordingOptions``; ``takes_recording_options`` gives them to a command.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nefty.core.terminal_text import option_of

if TYPE_CHECKING:
    from nefty.data.intake.known import Known


def _option(metavar: str, help: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, show_default=False)


@dataclass(frozen=True, kw_only=True)
class RecordingOptions:
    """What was given on the command line; None for what was not."""

    thickness: Annotated[str | None, _option("LENGTH", 'Thickness of the part, such as "1.3 mm".')] = None
    pixel: Annotated[
        str | None, _option("LENGTH", 'Size of a camera pixel on the part: "0.2 mm", or y and x: "0.2 mm,0.3 mm".')
    ] = None
    material: Annotated[
        str | None, _option("NAME", "cfrp, gfrp, pvc, pmma, epoxy, stainless-steel, mild-steel, aluminium; or a .toml.")
    ] = None
    alpha: Annotated[
        str | None,
        _option("DIFFUSIVITY", 'Diffusivity through the thickness, such as "4.5e-7 m2/s"; in-plane ratios stay.'),
    ] = None
    pulse: Annotated[str | None, _option("TIME", 'Duration of the heating, such as "20 ms".')] = None
    heating: Annotated[
        Path | None,
        _option("FILE.csv", "Heating over time instead: lines with the time in s since it began, and a value."),
    ] = None
    no_losses: Annotated[
        bool | None,
        typer.Option("--no-losses/--losses", help="Model the faces without or with heat losses.", show_default=False),
    ] = None
    fps: Annotated[float | None, _option("RATE", "Frames per second.")] = None
    units: Annotated[str | None, _option("UNIT", "Unit of the values: K, C or counts.")] = None
    flash_frame: Annotated[int | None, _option("N", "Number, from 0, of the frame in which the flash occurs.")] = None
    onset: Annotated[
        str | None,
        _option("HOW", "Time of the flash within that frame: frame (its own time), decay (from the cooling), auto."),
    ] = None
    ambient: Annotated[
        str | None,
        _option("VALUE", "Value to subtract, in the unit of the values; or frames, pixels (before the flash), off."),
    ] = None
    variable: Annotated[str | None, _option("NAME", "Name of the array, if the file contains several.")] = None
    axes: Annotated[str | None, _option("ORDER", "Axis order of the array: tyx, yxt, txy or xyt.")] = None
    lookup: Annotated[Path | None, _option("FILE.npy", "Temperature of each count, starting at count 0.")] = None
    calibration: Annotated[str | None, _option("SLOPE,OFFSET", "Temperature = slope x value + offset.")] = None
    emissivity: Annotated[
        float | None,
        _option("SHARE", "Emissivity of the part, 0 to 1. This and the next four: files with camera constants."),
    ] = None
    reflected: Annotated[str | None, _option("TEMPERATURE", 'Temperature that the part reflects, such as "22 C".')] = (
        None
    )
    atmosphere: Annotated[str | None, _option("TEMPERATURE", "Temperature of the air between part and camera.")] = None
    humidity: Annotated[float | None, _option("SHARE", "Relative humidity of the air, 0 to 1.")] = None
    distance: Annotated[str | None, _option("LENGTH", "Distance from the part to the camera.")] = None
    mask: Annotated[Path | None, _option("FILE.npy", "Pixels (y, x) to use, true or false.")] = None
    roi: Annotated[
        str | None,
        _option("Y0:Y1,X0:X1", "Use only this rectangle; negative numbers count from the end; auto for the outline."),
    ] = None
    polygon: Annotated[
        str | None, _option('"Y,X Y,X ..."', "Use only pixels inside this polygon; corners in pixels of the file.")
    ] = None
    leave_out: Annotated[
        str | None,
        _option('"Y0:Y1,X0:X1 ..."', "Rectangles of pixels to ignore, separated by blanks."),
    ] = None
    bin: Annotated[
        str | None, _option("N", 'Average N x N pixels, or to a pixel size such as "0.5 mm"; auto, off.')
    ] = None
    frames: Annotated[str | None, _option("N", "Average in time to about N frames; off keeps all.")] = None
    start: Annotated[str | None, _option("TIME", 'Leave out frames before this time after the flash, "50 ms".')] = None
    until: Annotated[str | None, _option("TIME", 'Leave out frames after this time after the flash, "20 s".')] = None
    gain: Annotated[
        str | None, _option("HOW", "Pixel gains: joint (estimated by the inversion) or early (divided out before).")
    ] = None
    corrupt: Annotated[str | None, _option("FRAMES", "Frames to leave out, such as 100,101; auto finds them; off.")] = (
        None
    )
    dead: Annotated[str | None, _option("HOW", "Look for dead pixels: auto or off.")] = None
    saturation: Annotated[
        str | None, _option("VALUE", "Value from which the camera is saturated; auto finds it; off.")
    ] = None
    drift: Annotated[str | None, _option("Y0:Y1,X0:X1", "Unheated pixels that show the camera's drift; auto, off.")] = (
        None
    )

    facts: Annotated[
        Path | None,
        _option(
            "FILE.toml",
            "Facts file; what you type overrides it. part.toml, and a .toml named like FILE, are found automatically.",
        ),
    ] = None
    record: Annotated[
        Path | None,
        _option("FILE.toml", "Inspection record for the report; inspection.toml beside FILE is found automatically."),
    ] = None

    def given(self) -> dict[str, Any]:
        """What was given, by name."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def words(self) -> list[str]:
        """The options as they are typed."""
        return [word for name, value in self.given().items() for word in _typed(name, value)]

    def known(self) -> Known:
        """The same for the library."""
        from nefty.data.intake.known import Known

        return Known.of(self.given(), typed=True)


def _typed(name: str, value: object) -> list[str]:
    """An option and its value; of one that is on or off only that."""
    if isinstance(value, bool):
        return [option_of(name) if value else option_of(name.removeprefix("no_"))]
    return [option_of(name), exactly(value)]


def exactly(value: object) -> str:
    """A value of an option as it is typed, to the last digit: ``"131.2575"``, ``"10"``."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def takes_recording_options(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the fields of ``RecordingOptions`` as options; it gets them as ``options``."""
    own = inspect.signature(command, eval_str=True)
    hints = typing.get_type_hints(RecordingOptions, include_extras=True)
    shared = [
        inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(RecordingOptions)
    ]

    @functools.wraps(command)
    def run(**values: Any) -> None:
        options = RecordingOptions(**{p.name: values.pop(p.name) for p in shared})
        command(**values, options=options)

    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, p in own.parameters.items() if name != "options"]
    run.__signature__ = own.replace(parameters=[*kept, *shared])  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {p.name: p.annotation for p in (*kept, *shared)}
    del run.__wrapped__
    return run
