"""How noisy a recording is, from the recording itself; and how much quieter means of its frames are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import binom

ORDER = 4  # of the difference; cooling is so smooth that little of it is left
MAD_TO_SIGMA = 1.4826
PIXELS = 1024  # that are enough to tell the noise
FEWEST_BLOCKS = 16  # of frames; with fewer, the cooling itself would be left in the differences
WHITE = 1.15  # means that are noisier than this times sigma/sqrt(n) tell of noise that lasts


def estimate_noise(frames: np.ndarray, counted: np.ndarray) -> float:
    """Standard deviation of white camera noise, from fourth differences in time over the later half of the frames.

    There the temperature is smooth and its fourth difference is nearly noise alone, of variance
    sigma^2 sum_k binom(4, k)^2. Its median absolute value does not mind outliers and dead pixels.

    Args:
        frames: (..., t, y, x), at least ``ORDER + 1`` of them.
        counted: which values count, of the same shape.

    Returns:
        sigma; 0 if there are too few frames to tell.
    """
    total = frames.shape[-3]
    late = np.where(counted, frames, np.nan)[..., min(total // 2, max(total - 2 * ORDER, 0)) :, :, :]
    if late.shape[-3] <= ORDER:
        return 0.0
    return _sigma(late)


@dataclass(frozen=True, eq=False)
class NoiseOfMeans:
    """The noise that is left in the mean of n frames that follow each other.

    Args:
        sizes: numbers n of frames, the first 1.
        sigmas: standard deviation of a mean of so many.
        step: between neighbouring values of the camera, 0 if there is none; a mean of values that do not change by a
            step is no better than they are.
    """

    sizes: np.ndarray
    sigmas: np.ndarray
    step: float = 0.0

    @property
    def single(self) -> float:
        """Standard deviation of one value."""
        return float(self.of(np.ones(1))[0])

    @property
    def white(self) -> bool:
        """Whether means of n frames are quieter by sqrt(n), as far as the recording tells."""
        return bool((self.sigmas * np.sqrt(self.sizes) <= WHITE * self.sigmas[0]).all())

    def of(self, counts: np.ndarray) -> np.ndarray:
        """Standard deviation of means of so many frames, of the shape of ``counts``.

        White noise falls as 1/sqrt(n). Otherwise what was measured is interpolated, and beyond it falls as it did last.
        """
        counts = np.asarray(counts, dtype=np.float64)
        ideal = self.sigmas[0] / np.sqrt(counts)
        found = ideal
        if not self.white:
            n, sigma = np.log(self.sizes), np.log(np.maximum(self.sigmas, 1e-3 * self.sigmas[0]))
            slope = np.clip((sigma[-1] - sigma[-2]) / (n[-1] - n[-2]), -0.5, 0.0)
            beyond = np.maximum(np.log(counts) - n[-1], 0.0)
            found = np.maximum(np.exp(np.interp(np.log(counts), n, sigma) + slope * beyond), ideal)
        coarse = self.step / np.sqrt(12) if self.sigmas[0] < self.step else 0.0
        return np.hypot(found, coarse)


def noise_of_means(frames: np.ndarray, sigma: float | None = None) -> NoiseOfMeans:
    """Measure how the noise falls when frames are averaged; nothing is assumed about how long it lasts.

    The later half of the frames is averaged in blocks of 1, 2, 4, ... frames, and the noise of these means is estimated
    like that of the frames.

    Args:
        frames: (..., t, y, x) after the flash; missing values are NaN.
        sigma: of a single value, where it is known.
    """
    some = _some_pixels(frames)
    late = some[..., some.shape[-2] // 2 :, :].astype(np.float64)
    sizes, sigmas = [1], [estimate_noise(some[..., None], np.isfinite(some)[..., None])]
    while late.shape[-2] // (2 * sizes[-1]) >= FEWEST_BLOCKS:
        sizes.append(2 * sizes[-1])
        blocks = late.shape[-2] // sizes[-1]
        means = late[..., : blocks * sizes[-1], :].reshape(*late.shape[:-2], blocks, sizes[-1], late.shape[-1])
        sigmas.append(_sigma(means.mean(axis=-2)[..., None]))
    # Differences hide noise that lasts longer than a block; but means of fewer frames are never the quieter ones.
    found = np.maximum.accumulate(sigmas[::-1])[::-1]
    if sigma is not None:
        found = found * (sigma / found[0]) if found[0] > 0 else sigma / np.sqrt(sizes)
    return NoiseOfMeans(np.array(sizes), found, _step(some))


def _sigma(series: np.ndarray) -> float:
    """Of white noise in (..., t, y, x), from fourth differences; NaN does not count."""
    differences = np.diff(series, n=ORDER, axis=-3)
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return 0.0
    gain = float(np.sqrt(np.sum(binom(ORDER, np.arange(ORDER + 1)) ** 2)))
    return MAD_TO_SIGMA * float(np.median(np.abs(differences))) / gain


def _some_pixels(frames: np.ndarray) -> np.ndarray:
    """At most ``PIXELS`` pixels with a number, spread evenly, as (..., t, pixel)."""
    y, x = np.nonzero(np.isfinite(frames[..., -1, :, :]).reshape(-1, *frames.shape[-2:]).any(axis=0))
    every = max(1, -(-y.size // PIXELS))
    return frames[..., y[::every], x[::every]]


def _step(values: np.ndarray) -> float:
    """The smallest difference between two values (..., t, pixel) of the later half; 0 if nearly all values differ."""
    half = values.shape[-2] // 2
    late = values[..., half :: max(1, (values.shape[-2] - half) // 64), :]
    late = late[np.isfinite(late)]
    levels = np.unique(late)
    if levels.size < 2 or levels.size > late.size / 2:
        return 0.0
    return float(np.min(np.diff(levels)))
