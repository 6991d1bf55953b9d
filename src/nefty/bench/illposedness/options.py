"""What the experiment on ill-posedness computes, and the slab it is about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.bench.solver.case import FLASH
from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.pulses import GaussianFlash, UniformFlash

Flash = GaussianFlash | UniformFlash
SIZE = (1.0, 10.0, 10.0)  # the paper's slab, (z, y, x)
LAMP = UniformFlash(FLASH.amplitude, FLASH.depth)  # the paper's flash, but as wide as the slab
LARGEST = 4 * 2**30  # bytes of the full Jacobian


@dataclass(frozen=True)
class Options:
    """What is computed.

    Args:
        shape: cells (z, y, x) of the slab whose Jacobian is computed in full.
        frames: of that slab.
        fine: cells of the slab under a uniform flash, and of the pairs; the paper's if not given.
        fine_frames: of those.
        duration: time of the last frame; frames are equally spaced.
        alpha: the constant background.
        noise: of the camera, as a share of the peak.
        change: RMS over the part, as a share of alpha, with which a pattern must stand out of the noise to be seen.
        safety: of the explicit simulator's time step.
        evaluations: at each stage of the search for a stack of strata that looks like a uniform plate.
    """

    shape: tuple[int, int, int] = (8, 16, 16)
    frames: int = 40
    fine: tuple[int, int, int] = (16, 64, 64)
    fine_frames: int = 100
    duration: float = 5.0
    alpha: float = 0.15
    noise: float = 1e-3
    change: float = 0.3
    safety: float = 8.0
    evaluations: int = 12

    def __post_init__(self) -> None:
        for name in ("frames", "fine_frames"):
            count(name, getattr(self, name), at_least=8)
        count("evaluations", self.evaluations)
        for name in ("duration", "alpha", "noise", "change"):
            number(name, getattr(self, name), above=0)
        for name, layers, pixels in (("shape", 2, 4), ("fine", 8, 8)):
            nz, ny, nx = shape = Grid(getattr(self, name), SIZE).shape
            if nz < layers or min(ny, nx) < pixels:
                raise InputError(f"{name}={shape} must have at least {(layers, pixels, pixels)} cells (z, y, x).")
            object.__setattr__(self, name, shape)
        nz, ny, nx = self.shape
        size = 8 * self.frames * nz * (ny * nx) ** 2
        if size > LARGEST:
            raise InputError(
                f"the Jacobian of shape={self.shape} and {self.frames} frames takes {size / 2**30:.0f} GiB; "
                "use fewer cells, or fewer frames."
            )

    def times(self, frames: int) -> np.ndarray:
        """Of so many frames."""
        return self.duration / frames * np.arange(1, frames + 1)


#: Small enough for a test.
QUICK = Options(shape=(4, 6, 6), frames=10, fine=(8, 16, 16), fine_frames=20, safety=2.0, evaluations=4)
