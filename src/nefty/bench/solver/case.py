"""The specimen that solvers are measured on: the paper's slab with two ellipsoidal defects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nefty.core.checks import count, number
from nefty.core.grid import Grid
from nefty.physics.pulses import GaussianFlash

#: Centres and half-axes (z, y, x) of the defects, as fractions of the slab's edges.
DEFECTS = (
    ((0.40, 0.40, 0.60), (0.15, 0.12, 0.15)),
    ((0.65, 0.70, 0.30), (0.12, 0.10, 0.09)),
)
FLASH = GaussianFlash(amplitude=100.0, width=2.5, depth=0.2)


@dataclass(frozen=True)
class Case:
    """One forward problem, small enough to send to another process as text.

    The defaults are the paper's table of hyperparameters: a 10 x 10 x 1 slab, 64 x 64 x 16 cells, 100 frames 0.05
    apart, periodic sides, adiabatic faces.

    Args:
        shape: cells along (z, y, x).
        size: edge lengths along (z, y, x).
        frames: number of frames, the first one ``dt`` after the flash.
        dt: time from frame to frame.
        bulk: diffusivity of the sound material.
        contrast: bulk diffusivity over the defects'.
    """

    shape: tuple[int, int, int] = (16, 64, 64)
    size: tuple[float, float, float] = (1.0, 10.0, 10.0)
    frames: int = 100
    dt: float = 0.05
    bulk: float = 0.15
    contrast: float = 15.0

    def __post_init__(self) -> None:
        count("frames", self.frames)
        number("dt", self.dt, above=0)
        number("bulk", self.bulk, above=0)
        number("contrast", self.contrast, at_least=1)
        grid = Grid(self.shape, self.size)
        object.__setattr__(self, "shape", grid.shape)
        object.__setattr__(self, "size", grid.size)

    @property
    def grid(self) -> Grid:
        """The cells."""
        return Grid(self.shape, self.size)

    def times(self) -> np.ndarray:
        """Times of the frames, dt, 2 dt, ..."""
        return self.dt * np.arange(1, self.frames + 1)

    def initial(self) -> np.ndarray:
        """The paper's Gaussian flash, float64, (z, y, x)."""
        return FLASH.amplitude * FLASH.shape(self.grid)

    def alpha(self) -> np.ndarray:
        """Diffusivity with both defects, float64, (z, y, x)."""
        alpha = np.full(self.shape, self.bulk)
        for centre, half_axes in DEFECTS:
            alpha[self._ellipsoid(centre, half_axes)] = self.bulk / self.contrast
        return alpha

    def sound(self) -> Case:
        """The same slab without defects."""
        return replace(self, contrast=1.0)

    def tiny(self) -> Case:
        """A problem of the same kind that takes no time, to warm up compilers and thread pools."""
        return replace(self, shape=(4, 8, 8), frames=min(self.frames, 4))

    def _ellipsoid(self, centre: tuple[float, ...], half_axes: tuple[float, ...]) -> np.ndarray:
        distance = 0.0
        for x, edge, c, a in zip(self.grid.centres(), self.size, centre, half_axes, strict=True):
            distance = distance + ((x / edge - c) / a) ** 2
        return np.broadcast_to(distance < 1, self.shape)
