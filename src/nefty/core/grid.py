"""The box of cells everything lives on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError

AXES = ("z", "y", "x")


@dataclass(frozen=True)
class Grid:
    """A slab of equal cells, in axis order (z, y, x).

    z = 0 is the heated, observed front face. Arrays on the grid have shape ``grid.shape``, are
    C-contiguous, and hold cell means.

    Args:
        shape: number of cells along z, y, x.
        size: edge lengths along z, y, x, in the length unit of the diffusivity.
    """

    shape: tuple[int, int, int]
    size: tuple[float, float, float]

    def __post_init__(self) -> None:
        for name in ("shape", "size"):
            value = getattr(self, name)
            try:
                length = len(value)
            except TypeError:
                length = -1
            if length != 3:
                raise InputError(f"grid {name}={value!r} must have three entries, in the order (z, y, x).")
        shape = tuple(count(f"grid shape along {a}", n) for a, n in zip(AXES, self.shape, strict=True))
        size = tuple(number(f"grid size along {a}", s, above=0) for a, s in zip(AXES, self.size, strict=True))
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "size", size)

    @property
    def spacing(self) -> tuple[float, float, float]:
        """Cell edge lengths (dz, dy, dx)."""
        (nz, ny, nx), (lz, ly, lx) = self.shape, self.size
        return lz / nz, ly / ny, lx / nx

    @property
    def cells(self) -> int:
        """Number of cells."""
        nz, ny, nx = self.shape
        return nz * ny * nx

    def centres(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates of the cell centres along z, y, x, shaped to broadcast to ``shape``."""
        z, y, x = ((np.arange(n) + 0.5) * d for n, d in zip(self.shape, self.spacing, strict=True))
        return z[:, None, None], y[None, :, None], x[None, None, :]

    def refined(self, factor: int) -> Grid:
        """The same box with ``factor`` times as many cells along each axis."""
        factor = count("factor", factor)
        nz, ny, nx = self.shape
        return Grid((nz * factor, ny * factor, nx * factor), self.size)
