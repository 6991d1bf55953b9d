"""Pixels that say nothing about the part."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from nefty.core.progress import tell

LOOK, ALONE = "Look for dead pixels", 0.6  # of that time goes into those that stand alone
NOISY = 6.0  # times the typical noise
DIFFERENCE = 4  # order, of which the cooling leaves nothing
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


def noisy_pixels(frames: np.ndarray) -> np.ndarray:
    """Pixels (y, x) whose noise from frame to frame is many times that of the others, such as ones that blink.

    Args:
        frames: some that follow each other (t, y, x), late in the cooling; NaN where a value is missing.
    """
    if len(frames) <= DIFFERENCE + 4:
        return np.zeros(frames.shape[1:], bool)
    changes = np.abs(np.diff(frames, n=DIFFERENCE, axis=0))
    here = np.isfinite(changes).sum(axis=0) > len(changes) / 2
    level = np.full(frames.shape[1:], np.nan)
    level[here] = np.nanmedian(changes[:, here], axis=0)
    typical = float(np.median(level[here])) if here.any() else 0.0
    return here & (level > NOISY * typical) if typical > 0 else np.zeros(frames.shape[1:], bool)


def _dead_on_a_face(frames: np.ndarray, counted: np.ndarray) -> np.ndarray:
    if len(frames) < 3:
        return np.zeros(frames.shape[1:], bool)
    highest = np.where(counted, frames, -np.inf).max(axis=0)
    lowest = np.where(counted, frames, np.inf).min(axis=0)
    several = counted.sum(axis=0) >= 3
    spread = np.where(several, highest - np.where(several, lowest, 0.0), 0.0)
    stuck = several & (spread == 0) & bool(several.any() and np.median(spread[several]) > 0)
    alone = np.zeros(frames.shape[1:])
    for done, (frame, values) in enumerate(zip(frames, counted, strict=True)):
        tell(LOOK, ALONE * done / len(frames))
        if values.sum() < 9:
            continue
        middle = float(np.median(frame[values]))
        width = max(float(np.ptp(np.percentile(frame[values], [1, 99]))), abs(middle))
        patched = np.where(values, frame, middle)
        alone += values & (np.abs(patched - median_filter(patched, size=3, mode="nearest")) > LONE * width)
    return stuck | (alone > 0.5 * np.maximum(counted.sum(axis=0), 1))
