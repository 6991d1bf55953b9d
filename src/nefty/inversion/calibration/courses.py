"""Frames without most of their noise: the time courses of a part are few.

Heat that spreads forgets: the courses of all pixels, a matrix (t, pixel), have some ten singular values above the
noise, whatever lies in the part. The largest singular value of noise alone is sigma (sqrt(frames) + sqrt(pixels))
(Marchenko and Pastur). What is left after projection on the r courses above it has the noise of r/frames of the
variance. A background, which is judged by many pixels at once, is seen much clearer so. The volume is fitted to the
frames as they are.
"""

from __future__ import annotations

import dataclasses
from math import sqrt

import numpy as np

from nefty.inversion.observation import Observation

CLEARLY = 1.02  # times the largest singular value that noise would have


def few_courses(seen: Observation) -> Observation:
    """The recording, its pixels projected on the courses that stand out of the noise.

    Pixels that miss some of their frames stay as they are.
    """
    whole = seen.counted.all(axis=-3)
    noise = np.broadcast_to(np.asarray(seen.noise, dtype=np.float64), seen.frames.shape)
    frames, left = seen.frames.astype(np.float64), noise.copy()
    for face in np.ndindex(frames.shape[:-3]):
        pixels, scale = whole[face], noise[face]
        values = frames[face][:, pixels] / scale[:, pixels]
        if (courses := _courses(values)) is not None:
            frames[face][:, pixels] = courses @ (courses.T @ values) * scale[:, pixels]
            left[face][:, pixels] *= sqrt(courses.shape[1] / len(values))
    return dataclasses.replace(seen, frames=frames, noise=float(left.flat[0]) if np.ptp(left) == 0 else left)


def _courses(values: np.ndarray) -> np.ndarray | None:
    """Orthonormal courses (t, r) of values (t, pixel) of unit noise; ``None`` where nothing would be left out or in."""
    count, pixels = values.shape
    square, vectors = np.linalg.eigh(values @ values.T)
    kept = square > (CLEARLY * (sqrt(count) + sqrt(pixels))) ** 2
    return vectors[:, kept] if kept.any() and not kept.all() else None
