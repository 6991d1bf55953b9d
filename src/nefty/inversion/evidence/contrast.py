"""What the sound part leaves unexplained: the contrast of each pixel, and how much of it is scatter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nefty.physics.heating_curve import HeatingCurve

EARLY_FALL = 2.0  # p of (t_first/t)^p: what lies above the first clear depth dies out like that


@dataclass(frozen=True, eq=False)
class Contrast:
    """The logarithm of the recording over the sound part.

    Args:
        times: of the frames after a flash, or on the clock of the heating, (t,).
        values: ln(T/T_sound), (t, y, x); 0 where it does not count.
        weight: of each pixel, 0 to 1, (y, x): the inverse of its variance over that of the pixel that knows most.
        spread: standard deviation of the values of each frame, of a pixel of weight 1, (t,).
        pixel: its height and width.
        heating: its course, where it lasts; ``None`` after a flash.
    """

    times: np.ndarray
    values: np.ndarray
    weight: np.ndarray
    spread: np.ndarray
    pixel: tuple[float, float]
    heating: HeatingCurve | None = None

    @property
    def counted(self) -> np.ndarray:
        """Pixels that count, (y, x)."""
        return self.weight > 0

    @cached_property
    def nuisances(self) -> np.ndarray:
        """What a pixel may do by itself, orthonormal: its gain, and an early deviation; (2, t) over the spread."""
        columns = np.stack([np.ones(len(self.times)), (self.times[0] / self.times) ** EARLY_FALL]) / self.spread
        return np.linalg.qr(columns.T)[0].T

    def whitened(self, values: np.ndarray) -> np.ndarray:
        """Values (t, ...) over their spread, without what a pixel may do by itself."""
        white = values / self.spread.reshape(-1, *[1] * (values.ndim - 1))
        return white - np.tensordot(self.nuisances.T, np.tensordot(self.nuisances, white, axes=1), axes=1)

    def part(self, frames: np.ndarray, window: tuple[slice, slice]) -> Contrast:
        """Those frames, (t,), and that rectangle of it."""
        return Contrast(
            self.times[frames],
            self.values[frames][(slice(None), *window)],
            self.weight[window],
            self.spread[frames],
            self.pixel,
            self.heating,
        )
