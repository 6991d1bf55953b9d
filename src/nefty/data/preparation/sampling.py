"""A small part of a recording that tells about the whole."""

from __future__ import annotations

import numpy as np

PIXELS = 2048
TRIM = 0.02  # the share of a frame's lowest and highest values that do not count for its level


def sampled(frames: np.ndarray, most: int = PIXELS) -> np.ndarray:
    """Frames (t, y, x) at about ``most`` pixels spread evenly, as (t, pixel)."""
    step = max(1, round(float(np.sqrt(frames.shape[1] * frames.shape[2] / most))))
    top, left = (min(step // 2, length - 1) for length in frames.shape[1:])  # a line of pixels has no second row
    return np.array(frames[:, top::step, left::step]).reshape(len(frames), -1)


def frame_levels(sample: np.ndarray) -> np.ndarray:
    """Mean of each frame (t,) of a sample (t, pixel), without its lowest and highest values; NaN where there are none.

    A part that fills only some of the picture moves it too, and a few hot or dead pixels do not.
    """
    levels = np.full(len(sample), np.nan)
    for i, frame in enumerate(sample):
        values = np.sort(frame[np.isfinite(frame)])
        cut = int(TRIM * values.size)
        if values.size:
            levels[i] = values[cut : values.size - cut].mean(dtype=np.float64)
    return levels


def evenly_in_log(times: np.ndarray, most: int) -> np.ndarray:
    """Indices of about ``most`` times spread evenly on a logarithmic axis, first and last included."""
    positive = np.flatnonzero(times > 0)
    if len(positive) <= 2:
        return positive
    t = times[positive]
    wanted = np.geomspace(t[0], t[-1], most)
    return positive[np.unique(np.abs(np.log(t)[None] - np.log(wanted)[:, None]).argmin(axis=1))]


def frames_without_numbers(frames: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Numbers of the frames (t, y, x) that are missing as a whole; the sample (t, pixel) tells where to look."""
    suspect = np.flatnonzero(~np.isfinite(sample).any(axis=1))
    return np.array([k for k in suspect if not np.isfinite(frames[k]).any()], dtype=int)
