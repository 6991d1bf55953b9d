"""Where a profile passes a level, between the cell centres."""

from __future__ import annotations

import numpy as np


def first_crossing(profile: np.ndarray, inside: np.ndarray, level: np.ndarray | float) -> np.ndarray:
    """Position at which each column falls to its level on the way in, in cells: 0 is the first face.

    The search starts at the first cell that is ``inside`` and at or below the level, goes back to the last one above
    the level, and interpolates linearly between the two centres, k + 1/2. Without such a cell before it the profile
    is low from the first face on: 0.

    Args:
        profile: (cells, columns).
        inside: cells to start from, of the same shape; each column has one at or below its level.
        level: (columns,) or one for all.
    """
    level = np.broadcast_to(level, profile.shape[1:])
    below = profile <= level
    index = np.arange(len(profile))[:, None]
    start = np.argmax(inside & below, axis=0)
    before = np.where(~below & (index < start), index, -1).max(axis=0)
    columns = np.arange(profile.shape[1])
    high, low = profile[before, columns], profile[before + 1, columns]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (high - level) / (high - low)
    return np.where(before < 0, 0.0, before + 0.5 + share)


def last_crossing(profile: np.ndarray, inside: np.ndarray, level: np.ndarray | float) -> np.ndarray:
    """The same on the way out: ``len(profile)`` if the profile stays low up to the last face."""
    return len(profile) - first_crossing(profile[::-1], inside[::-1], level)


def extent(profile: np.ndarray, inside: np.ndarray, level: float) -> tuple[float, float]:
    """First and last crossing of one profile, (cells,)."""
    column, cells = profile[:, None], inside[:, None]
    return float(first_crossing(column, cells, level)[0]), float(last_crossing(column, cells, level)[0])
