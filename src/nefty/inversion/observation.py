"""What is compared: the recording, which of its values count, and how much a misfit weighs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nefty.core.errors import InputError
from nefty.core.grid import Grid

PEAK, FRAMES, CELL = 100.0, 100, 10 / 64  # of the paper's recordings, whose sum of squares is the unit of the misfit


@dataclass(frozen=True, eq=False)
class Observation:
    """The recording as the inversion sees it.

    Args:
        grid: the cells of the model; its face has the pixels of the frames.
        times: of the frames, after the flash.
        frames: (t, y, x) or (2, t, y, x); values that do not count are 0.
        counted: which values count, of the same shape.
        noise: standard deviation of a value that is 0.
        relative: the model's own error as a share of the value, which adds to the noise.
        raw: let the misfit be the plain sum of squares.
    """

    grid: Grid
    times: np.ndarray
    frames: np.ndarray
    counted: np.ndarray
    noise: float
    relative: float = 0.0
    raw: bool = False

    def __post_init__(self) -> None:
        if not self.counted.any():
            raise InputError("no value of the recording counts; check the mask and the missing values.")
        if not self.peak > 0:
            raise InputError(
                f"the greatest temperature rise is {self.peak:g}; frames must be the rise above ambient after a flash."
            )

    @cached_property
    def peak(self) -> float:
        """The greatest rise, of the values that count; the 99.9th percentile of each frame, so that a hot pixel
        does not make it.
        """
        return peak_of(self.frames, self.counted)

    @cached_property
    def scale(self) -> float:
        """Factor on the sum of squares that makes it independent of units, frame rate and pixel size.

        A recording of the paper (flash of 100, 100 frames, pixels of 10/64 of the thickness) has 1, so that weights
        are the same for all recordings: each value counts (100/peak)^2 (100/frames) (pixel area/H^2)/(10/64)^2.
        """
        if self.raw:
            return 1.0
        thickness, dy, dx = self.grid.size[0], *self.grid.spacing[1:]
        area = dy * dx / thickness**2 / CELL**2
        frames = self.counted.any(axis=(-2, -1)).sum()
        return (PEAK / self.peak) ** 2 * (FRAMES / frames) * area

    @cached_property
    def weights(self) -> np.ndarray:
        """How much each squared residual counts, of the shape of the frames; 0 where nothing is compared.

        Inverse variances 1/(noise^2 + (relative T)^2), times the factor that leaves sum(w T^2) as it would be if all
        counted ``scale``. So a pixel in the dim outskirts of a flash says as much as one in its centre, down to where
        both drown in noise.
        """
        variance = self.variance
        inverse = np.divide(self.counted, variance, where=self.counted, out=np.zeros(self.frames.shape))
        square = np.square(self.frames, where=self.counted, out=np.zeros(self.frames.shape))
        return self.scale * inverse * (square.sum() / (inverse * square).sum())

    @property
    def variance(self) -> np.ndarray:
        """Of each value: noise^2 + (relative T)^2."""
        return np.float64(self.noise) ** 2 + (self.relative * self.frames) ** 2

    @cached_property
    def floor(self) -> float:
        """The misfit of pure noise: the sum of weight * variance."""
        return float((self.weights * self.variance).sum())


def peak_of(frames: np.ndarray, counted: np.ndarray) -> float:
    """The greatest 99.9th percentile of a frame's counted values."""
    pixels = np.where(counted, frames, np.nan).reshape(-1, *frames.shape[-2:])
    pixels = pixels[np.isfinite(pixels).any(axis=(1, 2))]
    return float(np.nanmax(np.nanpercentile(pixels, 99.9, axis=(1, 2)))) if len(pixels) else 0.0
