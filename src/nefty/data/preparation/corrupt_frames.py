"""Frames in the cooling that no part can show: cold or scrambled ones, and repetitions."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted

WINDOW = 11  # frames before and after, whose medians do not mind five that are corrupt
OFF = 6.0  # times the noise, beyond both
SHARE = 0.02  # and of the frame's mean
HALF = 0.5  # of what it was before: so far no part cools until the last frame
PIXELS = 0.05  # the share of a frame's pixels that are off in a corrupt one
PEAK = 8  # frames after the flash within which the part is hottest


def find_corrupt(rise: np.ndarray, sigma: float, step: float) -> np.ndarray:
    """Which frames (t,) of the cooling cannot be.

    What cools lies between what it was and what it will be. A frame is corrupt if many pixels lie clearly outside the
    medians of the frames before and after it; or if it repeats the one before to the last digit, in spite of noise.

    Args:
        rise: of some pixels above ambient, from the hottest frame on, (t, pixel); NaN where it is missing or saturated.
        sigma: noise of a value.
        step: between neighbouring values of the camera.
    """
    corrupt = np.zeros(len(rise), bool)
    if len(rise) < 5:
        return corrupt
    for k, frame in enumerate(rise):
        early = slice(max(0, k - WINDOW), k)
        before, after = _median(rise[early][~corrupt[early]]), _median(rise[k + 1 : k + 1 + WINDOW])
        margin = max(OFF * sigma, SHARE * float(np.nanmedian(np.abs(after))) if np.isfinite(after).any() else 0.0)
        cold = frame < np.where(np.isfinite(after), np.fmin(before, after), HALF * before) - margin
        hot = (frame > np.fmax(before, after) + margin) & np.isfinite(before)
        here = np.isfinite(frame)
        corrupt[k] = (cold | hot).sum() > PIXELS * max(here.sum(), 1)
        if k and sigma > step and frame.size >= 16:
            both = here & np.isfinite(rise[k - 1])
            corrupt[k] |= bool(both.any() and (frame[both] == rise[k - 1][both]).all())
    return corrupt


def cooling_begins(levels: np.ndarray, times: np.ndarray, first: int, over: float) -> int:
    """Number of the frame from which on the part cools.

    Args:
        levels: of all frames.
        times: from the flash.
        first: number of the first frame after the flash.
        over: when the heating ends.
    """
    heated = max(first, int(np.searchsorted(times, over, side="right")))
    near = levels[heated : heated + PEAK]
    return heated + (int(np.nanargmax(near)) if np.isfinite(near).any() else 0)


def _median(frames: np.ndarray) -> np.ndarray:
    """Of each pixel over frames (t, pixel); NaN where there is none."""
    if not len(frames):
        return np.full(frames.shape[1], np.nan)
    values = np.sort(frames, axis=0)  # NaN comes last
    count = np.isfinite(values).sum(axis=0)
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    each = np.arange(values.shape[1])
    middle = (values[low, each] + values[np.minimum(high, len(values) - 1), each]) / 2
    return np.where(count > 0, middle, np.nan)


def corrupt_step(
    rise: np.ndarray,
    begin: int,
    sigma: float,
    step: float,
    choice: str | tuple[int, ...],
    empty: np.ndarray | None = None,
) -> tuple[np.ndarray, Step]:
    """Numbers of the frames to leave out.

    Args:
        rise: of all frames, at some pixels (t, pixel).
        begin: number of the frame from which on the part cools.
        sigma: noise of a value.
        step: between neighbouring values.
        choice: ``Preparation.corrupt``.
        empty: numbers of the frames that hold no number, which are left out in any case.
    """
    frames, empty = len(rise), np.empty(0, int) if empty is None else empty
    numbers, how, text = np.empty(0, int), "as given", "None found."
    if choice == "off":
        text = "Not looked for."
    elif choice == "auto":
        numbers = begin + np.flatnonzero(find_corrupt(rise[begin:], sigma, step))
        how = "which no cooling can make"
    else:
        wrong = [k for k in choice if not isinstance(k, int) or k >= frames]
        if wrong:
            raise InputError(f"corrupt={wrong[0]} is not one of the {frames} frames, 0 to {frames - 1}.")
        numbers = np.array(sorted({int(k) for k in choice}), dtype=int)
    told = {how: np.setdiff1d(numbers, empty), "which hold no number": empty}
    said = [_left_out(these, frames, why) for why, these in told.items() if these.size]
    numbers = np.union1d(numbers, empty)
    return numbers, Step("corrupt frames", " ".join(said) or text, {"frames": [int(k) for k in numbers]})


def _left_out(numbers: np.ndarray, frames: int, how: str) -> str:
    listed = ", ".join(str(k) for k in numbers[:20]) + (", ..." if numbers.size > 20 else "")
    return f"{numbers.size} of {counted(frames, 'frame')}, {how}, were left out: {listed}."
