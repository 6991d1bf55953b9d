"""What is compared: the recording, which of its values count, and how much a misfit weighs."""

from __future__ import annotations

import dataclasses
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
        noise: standard deviation of a value that is 0: one number, or an array that broadcasts to the frames.
        relative: the model's own error as a share of the value, which adds to the noise.
        raw: let the misfit be the plain sum of squares.
        gain_spread: standard deviation of the unknown gain of a pixel around 1 (uneven flash, emissivity); 0 if all
            pixels are alike.
        early_spread: the same of the deviation of a pixel in the first frame, as a share of its value, that dies out
            like (t_first/t)^p: what lies at the very surface, an uneven pulse; 0 if there is none. Needs
            ``gain_spread``.
        early_fall: p.
    """

    grid: Grid
    times: np.ndarray
    frames: np.ndarray
    counted: np.ndarray
    noise: float | np.ndarray
    relative: float = 0.0
    raw: bool = False
    gain_spread: float = 0.0
    early_spread: float = 0.0
    early_fall: float = 2.0

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
    def typical_noise(self) -> float:
        """The root of the harmonic mean of the variances of the counted values that are 0: what a fit feels."""
        variance = np.broadcast_to(np.square(self.noise, dtype=np.float64), self.frames.shape)[self.counted]
        return float(np.sqrt(1 / np.mean(1 / variance)))

    @cached_property
    def relative_noise(self) -> float:
        """Noise over temperature of the counted values: the root of the harmonic mean of its square."""
        share = np.square(self.frames, dtype=np.float64) / np.square(self.noise, dtype=np.float64)
        return float(np.sqrt(1 / np.mean(share[self.counted])))

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
        return self.unit * self._inverse

    @cached_property
    def unit(self) -> float:
        """The weight of a squared residual of one standard deviation."""
        square = np.square(self.frames, where=self.counted, out=np.zeros(self.frames.shape))
        return self.scale * float(square.sum() / (self._inverse * square).sum())

    @cached_property
    def _inverse(self) -> np.ndarray:
        """1/variance where a value counts, else 0."""
        return np.divide(self.counted, self.variance, where=self.counted, out=np.zeros(self.frames.shape))

    @property
    def variance(self) -> np.ndarray:
        """Of each value: noise^2 + (relative T)^2."""
        return np.square(self.noise, dtype=np.float64) + (self.relative * self.frames) ** 2

    def of_frames(self, chosen: np.ndarray) -> Observation:
        """Those frames of it whose indices are given."""
        each = np.shape(self.noise)[-3:-2] == self.times.shape
        return dataclasses.replace(
            self,
            times=self.times[chosen],
            frames=self.frames[..., chosen, :, :],
            counted=self.counted[..., chosen, :, :],
            noise=np.asarray(self.noise)[..., chosen, :, :] if each else self.noise,
        )

    @cached_property
    def floor(self) -> float:
        """The misfit of pure noise: the sum of weight * variance."""
        return float((self.weights * self.variance).sum())


def peak_of(frames: np.ndarray, counted: np.ndarray) -> float:
    """The greatest 99.9th percentile of a frame's counted values."""
    pixels = np.where(counted, frames, np.nan).reshape(-1, *frames.shape[-2:])
    pixels = pixels[np.isfinite(pixels).any(axis=(1, 2))]
    return float(np.nanmax(np.nanpercentile(pixels, 99.9, axis=(1, 2)))) if len(pixels) else 0.0
