"""Pixels that say nothing about the part."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

LONE = 0.3  # of the frame's range or typical rise: a pixel so far from its neighbours, in most frames, is not heat


def dead_pixels(frames: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Pixels (y, x) that never change, or that stand alone far from their neighbours in most frames.

    Heat diffuses: what one pixel shows, its neighbours show too. The thresholds are wide, so that no defect is taken
    for a dead pixel.

    Args:
        frames: (..., t, y, x).
        counted: which values count, of the same shape.
    """
    faces = (1, *frames.shape) if frames.ndim == 3 else frames.shape
    dead = np.zeros(frames.shape[-2:], bool)
    for face, here in zip(frames.reshape(faces), counted.reshape(faces), strict=True):
        dead |= _dead_on_a_face(face, here)
    return dead


def _dead_on_a_face(frames: np.ndarray, counted: np.ndarray) -> np.ndarray:
    if len(frames) < 3:
        return np.zeros(frames.shape[1:], bool)
    highest = np.where(counted, frames, -np.inf).max(axis=0)
    lowest = np.where(counted, frames, np.inf).min(axis=0)
    several = counted.sum(axis=0) >= 3
    spread = np.where(several, highest - np.where(several, lowest, 0.0), 0.0)
    stuck = several & (spread == 0) & bool(several.any() and np.median(spread[several]) > 0)
    alone = np.zeros(frames.shape[1:])
    for frame, values in zip(frames, counted, strict=True):
        if values.sum() < 9:
            continue
        middle = float(np.median(frame[values]))
        width = max(float(np.ptp(np.percentile(frame[values], [1, 99]))), abs(middle))
        patched = np.where(values, frame, middle)
        alone += values & (np.abs(patched - median_filter(patched, size=3, mode="nearest")) > LONE * width)
    return stuck | (alone > 0.5 * np.maximum(counted.sum(axis=0), 1))
