"""Which pixel of the camera's frames a place of the grid is.

A recording may have been cut and its pixels averaged before it was reconstructed; ``meta["preparation"]`` says how, as
a list of steps ``{"name", "text", "values", "assumed"}`` in their order. Two of them move pixels: ``"region"``, whose
values have ``rows`` and ``columns``, each first and one past the last, and ``"pixels"``, whose value ``bin`` is how
many pixels along each side became one. The short form ``{"region": [top, bottom, left, right], "bin": n}`` is read as
well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nefty.core.grid import Grid

#: Of a place on the border between two pixels, which belongs to the second.
ROUNDING = 1e-9


@dataclass(frozen=True)
class FramePixels:
    """From lengths on the grid to pixels of the frames as they were read, and back.

    Args:
        top: row of the frames in which the grid begins.
        left: column in which it begins.
        spacing: edge lengths (y, x) of a pixel of the frames, in the grid's unit.
        rows: of the frames that the grid covers.
        columns: of the frames that the grid covers.
    """

    top: int
    left: int
    spacing: tuple[float, float]
    rows: int
    columns: int

    def pixel(self, y: float, x: float) -> tuple[int, int]:
        """Row and column, counted from 0 at the top left, of the place (y, x) of the grid."""
        row = min(max(math.floor(y / self.spacing[0] + ROUNDING), 0), self.rows - 1)
        column = min(max(math.floor(x / self.spacing[1] + ROUNDING), 0), self.columns - 1)
        return self.top + row, self.left + column

    def place(self, y: float, x: float) -> tuple[float, float]:
        """A place in lengths from the corner of the frames, in lengths from the corner of the grid."""
        return y - self.top * self.spacing[0], x - self.left * self.spacing[1]


def frame_pixels(grid: Grid, meta: Mapping[str, Any]) -> FramePixels:
    """The pixels behind the cells of a reconstruction.

    Args:
        grid: of the reconstruction, one cell per pixel that was compared.
        meta: of the reconstruction.
    """
    top, left, factor = 0, 0, 1
    for step in preparation_steps(meta):
        values = step["values"]
        if step["name"] == "region" and "rows" in values and "columns" in values:
            top, left = top + factor * int(values["rows"][0]), left + factor * int(values["columns"][0])
        elif step["name"] == "pixels":
            factor *= int(values.get("bin") or 1)
    (_, dy, dx), (_, ny, nx) = grid.spacing, grid.shape
    return FramePixels(top, left, (dy / factor, dx / factor), ny * factor, nx * factor)


def preparation_steps(meta: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of ``meta["preparation"]``, each with ``name``, ``text``, ``values`` and ``assumed``."""
    given = meta.get("preparation")
    if isinstance(given, Mapping):
        return _written_out(given)
    if not isinstance(given, Sequence) or isinstance(given, str):
        return []
    empty = {"name": "", "text": "", "values": {}, "assumed": False}
    return [{**empty, **step} for step in given if isinstance(step, Mapping)]


def _written_out(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The steps of the short form."""
    steps = []
    if given.get("region") is not None:
        top, bottom, left, right = (int(end) for end in given["region"])
        text = f"Rows {top} to {bottom} and columns {left} to {right} (one past the last) of the frames were taken."
        steps.append(("region", text, {"rows": [top, bottom], "columns": [left, right]}))
    if int(given.get("bin") or 1) > 1:
        n = int(given["bin"])
        steps.append(("pixels", f"{n} x {n} pixels were averaged to one.", {"bin": n}))
    return [{"name": name, "text": text, "values": values, "assumed": False} for name, text, values in steps]
