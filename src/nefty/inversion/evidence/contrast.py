"""What the sound part leaves unexplained: the contrast of each pixel, and how much of it is scatter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

EARLY_FALL = 2.0  # p of (t_first/t)^p: what lies above the first clear depth dies out like that


@dataclass(frozen=True, eq=False)
class Contrast:
    """The recording over the sound part, less 1.

    Args:
        times: of the frames after a flash, (t,).
        values: T/T_sound - 1, (t, y, x); 0 where it does not count.
        counted: pixels that count, (y, x).
        spread: standard deviation of the values of each frame, (t,).
        pixel: its height and width.
    """

    times: np.ndarray
    values: np.ndarray
    counted: np.ndarray
    spread: np.ndarray
    pixel: tuple[float, float]

    @cached_property
    def nuisances(self) -> np.ndarray:
        """What a pixel may do by itself, orthonormal: its gain, and an early deviation; (2, t) over the spread."""
        columns = np.stack([np.ones(len(self.times)), (self.times[0] / self.times) ** EARLY_FALL]) / self.spread
        return np.linalg.qr(columns.T)[0].T

    def whitened(self, values: np.ndarray) -> np.ndarray:
        """Values (t, ...) over their spread, without what a pixel may do by itself."""
        white = values / self.spread.reshape(-1, *[1] * (values.ndim - 1))
        free = self.nuisances
        return white - np.tensordot(free.T, np.tensordot(free, white, axes=1), axes=1)

    def part(self, frames: np.ndarray, window: tuple[slice, slice]) -> Contrast:
        """Those frames, (t,), and that rectangle of it."""
        return Contrast(
            self.times[frames],
            self.values[frames][(slice(None), *window)],
            self.counted[window],
            self.spread[frames],
            self.pixel,
        )
