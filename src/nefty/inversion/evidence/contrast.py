"""What the sound part leaves unexplained: the contrast of each pixel, and how much of it is scatter."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nefty.physics.heating_curve import HeatingCurve

ROUNDS = 2  # of rows and columns, each less the other
TYPICAL = 0.35  # quantile of a row that a defect does not move
FEWEST = 8  # pixels of a row that tell what it has in common
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

    def evened(self, sound: np.ndarray, explained: np.ndarray | None = None) -> Contrast:
        """Without what whole rows and columns of a frame have in common, as those pixels (y, x) tell.

        Heat that flows sideways out of the frame, or is lost at a side of the part, leaves a share m_y(t, y) m_x(t, x)
        of it: in logarithms a function of the row plus one of the column. What a pixel does by itself is no part of
        that: the gain of a pixel over a defect was taken from its warmer frames, and would bend its row and column. It
        can be taken out first once the defect is explained.

        Args:
            sound: pixels that tell.
            explained: what is known to be in the frames besides, ln(T/T_sound), (t, y, x).
        """
        if explained is None:
            values, explained = self.values.copy(), np.zeros(1)
        else:
            values = self.whitened(self.values - explained) * self.spread[:, None, None]
        for _ in range(ROUNDS):
            for axis in (2, 1):
                values -= np.expand_dims(_middles(values, sound & self.counted, axis), axis)
        return dataclasses.replace(self, values=(values + explained) * self.counted)

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


def _middles(values: np.ndarray, sound: np.ndarray, axis: int) -> np.ndarray:
    """Typical value of the sound pixels of each row (axis 2) or column (axis 1); interpolated where they are few.

    It is a lower quantile, since defects are warm: up to two thirds of a row may lie over one.
    """
    lines = np.arange(sound.shape[2 - axis])
    enough = lines[sound.sum(axis=axis - 1) >= min(FEWEST, sound.shape[axis - 1])]
    if not enough.size:
        return np.zeros((len(values), len(lines)))
    middles = np.empty((len(values), len(enough)))
    for column, line in enumerate(enough):  # the same pixels count in all frames
        kept = sound.take(line, axis=2 - axis)
        middles[:, column] = np.quantile(values.take(line, axis=3 - axis)[:, kept], TYPICAL, axis=1)
    return np.stack([np.interp(lines, enough, row) for row in middles])
