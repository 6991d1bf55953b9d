"""Values stuck at the top of the camera's range, which say only that the part was hotter."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted
from nefty.data.sequence import Sequence

FEWEST = 5  # values at the top
BAND = 0.02  # of the range, below the top, in which a recording that is not cut off has its values
SPIKE = 0.5  # times as many at the top as in that band
BITS = range(8, 17)
MOSTLY = 0.5  # the share of saturated pixels at which a frame is left out


def find_saturation(frames: np.ndarray, sigma: float, step: float, offset: float | None = None) -> float | None:
    """The value from which on the camera is saturated; None if it is not.

    The highest value counts as the camera's top if many values are exactly equal to it and few lie just below, and if
    either pixels keep it from one frame to the next or there is noise, which no two equal values survive. A count of
    2^n - 1 is the top at once.

    Args:
        frames: (t, y, x) as in the file, or after a constant was subtracted.
        sigma: noise of a value.
        step: between neighbouring values.
        offset: what was subtracted from counts of the camera; None if the values are no counts.
    """
    peaks = np.array([np.nanmax(frame) if np.isfinite(frame).any() else -np.inf for frame in frames])
    known = np.flatnonzero(np.isfinite(peaks))  # without frames that are missing as a whole
    top, bottom = float(peaks.max()), float(np.nanmin(frames[known[-1]])) if known.size else 0.0
    if not np.isfinite(top) or not top > bottom:
        return None
    below = top - BAND * (top - bottom)
    at_top = in_band = kept = 0
    last = np.zeros(frames.shape[1:], bool)
    for frame, peak in zip(frames, peaks, strict=True):
        here = frame == top if peak == top else np.zeros(frames.shape[1:], bool)
        at_top += np.count_nonzero(here)
        in_band += np.count_nonzero((frame > below) & ~here) if peak > below else 0
        kept += np.count_nonzero(here & last)
        last = here
    if offset is not None and any(abs(top + offset - (2**n - 1)) < 0.5 for n in BITS):
        return top
    if at_top < FEWEST or at_top <= SPIKE * in_band:
        return None
    return top if kept >= FEWEST or sigma > step > 0 or (sigma > 0 and step == 0) else None


def saturation_level(sequence: Sequence, sigma: float, step: float, choice: str | float) -> float:
    """The value of the given frames from which on the camera is saturated; infinite if it never is.

    Args:
        sequence: the recording.
        sigma: noise of a value.
        step: between neighbouring values.
        choice: ``Preparation.saturation``.
    """
    subtracted = sequence.facts.origin.ambient or 0.0
    if isinstance(choice, (int, float)):
        return float(choice) - subtracted
    if choice == "off":
        return np.inf
    counts = sequence.facts.units.temperature == "counts"
    found = find_saturation(sequence.frames, sigma, step, subtracted if counts else None)
    return np.inf if found is None else found


def saturation_step(
    sequence: Sequence, usable: np.ndarray, level: float, unit: str, choice: str | float
) -> tuple[np.ndarray, np.ndarray, Step]:
    """How many frames (y, x) of each pixel are saturated, which of the usable frames (t,) are left, and what to say.

    Args:
        sequence: the recording.
        usable: its frames that could be used (t,).
        level: from which on values are saturated.
        unit: of the values.
        choice: ``Preparation.saturation``.
    """
    frames = sequence.frames
    count = np.zeros(frames.shape[1:], int)
    if not np.isfinite(level):
        text = "Not looked for." if choice == "off" else "No value is stuck at the top of the range."
        return count, usable, Step("saturation", text, {"values": 0})
    left = usable.copy()
    for k in np.flatnonzero(usable):
        here = frames[k] >= level
        count += here
        left[k] = here.mean() <= MOSTLY
    if not left.any():
        raise InputError(f"most pixels are saturated, at {level:g} or above, in all frames; check the level given.")
    values, pixels, whole = int(count.sum()), int(np.count_nonzero(count)), int((usable & ~left).sum())
    shown = level + (sequence.facts.origin.ambient or 0.0)
    stuck = f"{counted(values, 'value')} of {counted(pixels, 'pixel')}"
    text = f"{stuck} at the top of the range, {shown:.6g} {unit}, do not count."
    text += f" {counted(whole, 'frame')} with most pixels there were left out." if whole else ""
    return count, left, Step("saturation", text, {"level": shown, "values": values, "pixels": pixels, "frames": whole})
