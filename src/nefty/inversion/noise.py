"""How noisy a recording is, from the recording itself."""

from __future__ import annotations

import numpy as np
from scipy.special import binom

ORDER = 4  # of the difference; cooling is so smooth that little of it is left
MAD_TO_SIGMA = 1.4826


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
    differences = np.diff(late, n=ORDER, axis=-3)
    differences = differences[np.isfinite(differences)]
    if not differences.size:
        return 0.0
    gain = float(np.sqrt(np.sum(binom(ORDER, np.arange(ORDER + 1)) ** 2)))
    return MAD_TO_SIGMA * float(np.median(np.abs(differences))) / gain
