"""Times of frames from what a camera's clock wrote beside each."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np

ROUNDED = 1e-3  # seconds: clocks of cameras write milliseconds


def from_stamps(stamps: np.ndarray) -> np.ndarray | None:
    """Seconds after the first frame; ``None`` if the clock does not run on from each frame to the next.

    Where the stamps are those of an even rate, rounded to milliseconds, the times are even.

    Args:
        stamps: in seconds, one per frame.
    """
    if not np.isfinite(stamps).all() or (np.diff(stamps) <= 0).any():
        return None
    times = np.round(stamps - stamps[0], 6)
    even = np.linspace(0.0, times[-1], times.size)
    return even if np.abs(times - even).max() <= ROUNDED else times


def from_rate(stamps: np.ndarray, rate: float) -> tuple[np.ndarray | None, str]:
    """Times and a sentence about them, where a file has both stamps and frames per second.

    The rate is that of the camera; a recording may keep only some of its frames, which the stamps show.
    """
    frames = stamps.size
    told = rate if np.isfinite(rate) and rate > 0 else 0.0
    by_clock = from_stamps(stamps)
    if told and (by_clock is None or np.abs(by_clock - np.arange(frames) / told).max() <= 2 * ROUNDED):
        return np.arange(frames) / told, f"The file says {told:g} frames per second."
    if by_clock is None or frames == 1:
        return (np.zeros(1), "One picture, without a time.") if frames == 1 else (None, "")
    also = f"; of the {told:g} frames per second that the file says, not all were kept" if told else ""
    return by_clock, f"Times are those of the camera's clock beside each frame{also}."


def clock(base: datetime, seconds: float) -> str:
    """Date and time so long after ``base``, to the second; empty if that is no date."""
    try:
        return (base + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError):
        return ""
