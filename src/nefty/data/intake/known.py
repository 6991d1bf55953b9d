"""What the user knows of a recording, in the words in which he says it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Sequence as Listing
from dataclasses import dataclass, field, fields
from typing import Annotated, Any

import numpy as np

from nefty.core.errors import unknown_name
from nefty.core.terminal_text import option_of
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.materials import Material

Quantity = Annotated[str | float, "quantity"]
"""Text with a unit, such as ``"1.3 mm"``, or a number in SI units; in a file always with its unit."""
Region = str | Listing[int | None]
"""``"10:50,-20:"``, or first and one past the last row and column."""
File = str | os.PathLike[str]
NO_FACTS = ("facts", "record", "typed", "sources")  # fields that say nothing of the part or the frames


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What was said; ``None`` for what was not.

    Args:
        thickness: of the part.
        pixel: edge length of the patch that a pixel shows; two of them, (y, x), as a pair or with a comma between.
        material: a name of the table, a .toml file, or a ``Material``.
        alpha: diffusivity through the thickness, in place of the material's; the ratios of the axes stay.
        pulse: how long the heating lasted.
        heating: its course instead: a .csv file of time in s and value, the same as a table (n, 2), or a
            ``HeatingCurve``; time 0 is that of ``flash_frame``, the frame in which the heating begins.
        no_losses: the faces lose no heat.
        fps: frames per second.
        times: of the frames, in s, one per frame; instead of ``fps``.
        units: of the values, ``"K"``, ``"C"`` or ``"counts"``.
        flash_frame: number, from 0, of the frame in which the flash falls.
        onset: when within that frame: ``"frame"``, ``"decay"`` or ``"auto"``.
        ambient: to subtract, in the unit of the values; or ``"frames"``, ``"pixels"``, ``"off"``, ``"auto"``.
        variable: array in the file, where it holds several.
        axes: of the array: ``"tyx"``, ``"yxt"``, ``"txy"`` or ``"xyt"``.
        lookup: temperature of each count, the first of count 0; a list, or a .npy file.
        calibration: (slope, offset): temperature = slope x value + offset.
        emissivity: of the part, above 0 and at most 1; of files with the camera's constants, as are the next four.
        reflected: temperature that the part reflects, such as ``"22 C"``.
        atmosphere: temperature of the air between part and camera.
        humidity: relative humidity of the air, 0 to 1.
        distance: from the part to the camera.
        mask: pixels (y, x) that count; an array, or a .npy file.
        roi: only this rectangle of pixels; ``"auto"`` for the outline of the part, ``"off"``.
        polygon: only pixels whose centre lies inside of it: corners (y, x) in pixels of the file, from 0 at the outer
            corner of the first one; as text ``"10,20 10,80 60,50"``.
        leave_out: rectangles like ``roi`` whose pixels do not count; as text ``"10:20,30:40 50:60,1:5"``.
        bin: average so many pixels along each side; or to a pixel size such as ``"0.5 mm"``; ``"auto"``, ``"off"``.
        frames: average in time to about so many frames; ``"off"`` keeps all.
        start: leave out frames earlier than this after the flash.
        until: leave out frames later than this.
        gain: ``"joint"``: estimated by the inversion; ``"early"``: divided out before.
        corrupt: numbers of frames to leave out; ``"auto"`` finds them, ``"off"``.
        dead: look for dead pixels: ``"auto"`` or ``"off"``.
        saturation: value from which on the camera is saturated; ``"auto"``, ``"off"``.
        drift: pixels that were not heated, which show the camera's drift; ``"auto"``, ``"off"``.
        facts: a .toml file of facts; what is said here wins over it. See ``nefty.data.intake.part_file``.
        record: a .toml file of who inspected what; it changes no number. See ``nefty.data.record``.
        typed: whether it was typed at the command line, so that errors name options.
        sources: names of the files that facts come from, by fact.
    """

    thickness: Quantity | None = None
    pixel: Quantity | Listing[Quantity] | None = None
    material: str | Material | None = None
    alpha: Quantity | None = None
    pulse: Quantity | None = None
    heating: HeatingCurve | np.ndarray | Listing[Listing[float]] | File | None = None
    no_losses: bool | None = None
    fps: float | None = None
    times: np.ndarray | Listing[float] | None = None
    units: str | None = None
    flash_frame: int | None = None
    onset: str | None = None
    ambient: str | float | None = None
    variable: str | None = None
    axes: str | None = None
    lookup: np.ndarray | Listing[float] | File | None = None
    calibration: str | Listing[float] | None = None
    emissivity: float | None = None
    reflected: Quantity | None = None
    atmosphere: Quantity | None = None
    humidity: float | None = None
    distance: Quantity | None = None
    mask: np.ndarray | File | None = None
    roi: Region | None = None
    polygon: str | Listing[Listing[float]] | None = None
    leave_out: str | Listing[Region] | None = None
    bin: str | int | None = None
    frames: str | int | None = None
    start: Quantity | None = None
    until: Quantity | None = None
    gain: str | None = None
    corrupt: str | Listing[int] | None = None
    dead: str | None = None
    saturation: str | float | None = None
    drift: Region | None = None
    facts: File | None = None
    record: File | None = None
    typed: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(said: dict[str, Any], *, typed: bool = False) -> Known:
        """By name; an unknown name is an error with the nearest known one."""
        names = [f.name for f in fields(Known) if f.name not in ("typed", "sources")]
        for name in said:
            if name not in names:
                raise unknown_name("the fact", name, names)
        return Known(**said, typed=typed)

    def said(self) -> dict[str, Any]:
        """What was said, by name, a no included."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in NO_FACTS}
        return {name: value for name, value in values.items() if value is not None}

    def given(self) -> dict[str, Any]:
        """What was said, by name; a no is as if nothing were said."""
        return {name: value for name, value in self.said().items() if value is not False}

    def named(self, name: str) -> str:
        """A fact as the user spells it: ``"--flash-frame"``, ``"flash_frame"`` in Python and in the file named."""
        if name in self.sources:
            return f"{name} (in {self.sources[name]})"
        return option_of(name) if self.typed else name
