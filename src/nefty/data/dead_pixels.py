"""Pixels that say nothing about the part."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

LONE = 0.3  # of the frame's range: a pixel so far from its neighbours, in most frames, is not heat


def dead_pixels(frames: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Pixels (y, x) that never change, or that stand alone far from their neighbours in most frames.

    Heat diffuses: what one pixel shows, its neighbours show too. The thresholds are wide, so that no defect is taken
    for a dead pixel.

    Args:
        frames: (..., t, y, x).
        counted: which values count, of the same shape.
    """
    frames = frames.reshape(-1, *frames.shape[-2:])
    counted = counted.reshape(frames.shape)
    shown = np.where(counted, frames, np.nan)
    if len(frames) < 3:
        return np.zeros(frames.shape[1:], bool)
    seen = counted.any(axis=0)
    filled = np.where(counted, frames, 0.0)
    spread = np.where(counted, filled, -np.inf).max(axis=0) - np.where(counted, filled, np.inf).min(axis=0)
    several = counted.sum(axis=0) >= 3
    stuck = several & (spread == 0) & (np.median(spread[several]) > 0 if several.any() else False)
    odd = np.zeros(frames.shape[1:])
    for frame, values in zip(shown, counted, strict=True):
        if values.sum() < 9:
            continue
        middle = np.nanmedian(frame)
        patched = np.where(values, frame, middle)
        width = np.nanpercentile(frame, 99) - np.nanpercentile(frame, 1)
        if width > 0:
            odd += values & (np.abs(patched - median_filter(patched, size=3, mode="nearest")) > LONE * width)
    return seen & (stuck | (odd > 0.5 * np.maximum(counted.sum(axis=0), 1)))
