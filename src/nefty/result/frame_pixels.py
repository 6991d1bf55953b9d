"""Which pixel of the camera's frames a place of the grid is.

A recording may have been cut and its pixels averaged before it was reconstructed; ``facts.window`` says how.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from nefty.core.grid import Grid
from nefty.data.facts import Window

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


def frame_pixels(grid: Grid, window: Window) -> FramePixels:
    """The pixels behind the cells of a reconstruction.

    Args:
        grid: of the reconstruction, one cell per pixel that was compared.
        window: which pixels of the file's frames these are.
    """
    (_, dy, dx), (_, ny, nx), n = grid.spacing, grid.shape, window.bin
    return FramePixels(window.top, window.left, (dy / n, dx / n), ny * n, nx * n)
