"""Slow drift of the camera, where something that was not heated tells it."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted
from nefty.data.preparation.sampling import frame_levels

FEWEST = 10  # frames before the flash
SHARE = 0.1  # of the time after it, which they must span for their trend to be believed
SURE = 4.0  # times its standard error
HEATED = 0.2  # of the part's rise: a reference that warms so much was heated
ORDER = 2  # of the polynomial that a reference region's level is smoothed with


def drift_before(times: np.ndarray, levels: np.ndarray, end: float, unit: str) -> tuple[float, Step]:
    """The slope of the level before the flash, to be subtracted after it; 0 if it cannot be known.

    Args:
        times: of the frames before the flash, from the flash, (t,).
        levels: of these frames, (t,).
        end: the last time after the flash.
        unit: of the values.
    """
    here = np.isfinite(levels)
    times, levels = times[here], levels[here]
    if times.size < FEWEST or np.ptp(times) < SHARE * end:
        share = f", over {100 * np.ptp(times) / end:.2g} % of the time that follows" if times.size > 1 else ""
        text = (
            f"Cannot be known from {counted(times.size, 'frame')} before the flash{share}. "
            "None is assumed; name a region that was not heated to measure it."
        )
        return 0.0, Step("drift", text, {"slope": 0.0}, assumed=True)
    t = times - times.mean()
    slope = float((t * levels).sum() / (t**2).sum())
    rest = levels - levels.mean() - slope * t
    error = float(np.sqrt((rest**2).sum() / (times.size - 2) / (t**2).sum()))
    if abs(slope) <= SURE * error:
        text = (
            f"None seen in {times.size} frames before the flash ({slope:.2g} +- {error:.2g} {unit} per unit of time)."
        )
        return 0.0, Step("drift", text, {"slope": 0.0, "measured": slope, "error": error})
    text = (
        f"{slope:.3g} {unit} per unit of time, seen in {times.size} frames before the flash, was subtracted: "
        f"{slope * end:.3g} {unit} at the end."
    )
    return slope, Step("drift", text, {"slope": slope, "error": error})


def drift_of_region(
    times: np.ndarray, levels: np.ndarray, before: float | None, part: np.ndarray, unit: str
) -> tuple[np.ndarray, Step]:
    """The drift (t,) of a region that was not heated, smoothed by a polynomial.

    Args:
        times: of the frames after the flash.
        levels: of the region in these frames.
        before: its level before the flash; None if there are no such frames.
        part: level of the whole frame above ambient.
        unit: of the values.
    """
    here = np.isfinite(levels)
    if np.count_nonzero(here) <= ORDER:
        raise InputError("drift: the region holds no values; choose another.")
    start = float(levels[here][0]) if before is None else before
    curve = np.polyval(np.polyfit(times[here], levels[here] - start, ORDER), times)
    most, rise = float(np.abs(curve).max()), float(np.nanmax(np.abs(part)))
    if most > HEATED * rise:
        raise InputError(
            f"drift: the region's level moves by {most:.3g} {unit}, and the whole frame's by {rise:.3g}; it was "
            "heated. Name a region that was not."
        )
    text = f"The level of the region that was not heated, which moves by up to {most:.3g} {unit}, was subtracted."
    return curve, Step("drift", text, {"largest": most, "from": float(curve[0]), "to": float(curve[-1])})


def drift_step(
    frames: np.ndarray,
    times: np.ndarray,
    levels: np.ndarray,
    before: int,
    kept: np.ndarray,
    region: tuple[int, int, int, int] | str,
    unit: str,
) -> tuple[np.ndarray, Step]:
    """What to subtract from each frame (t,).

    Args:
        frames: of the file (t, y, x).
        times: from the flash.
        levels: of the frames above ambient.
        before: number of frames before the flash.
        kept: numbers of the frames that are used.
        region: that was not heated (y0, y1, x0, x1); "auto" looks at the frames before the flash, "off" at nothing.
        unit: of the values.
    """
    drift = np.zeros(times.size)
    if region == "off":
        return drift, Step("drift", "Not looked for.", {})
    if isinstance(region, str):
        slope, said = drift_before(times[:before], levels[:before], float(times[kept[-1]]), unit)
        return (slope * (times - times[:before].mean()) if slope else drift), said  # ambient is the mean before
    top, bottom, left, right = region
    own = frame_levels(frames[:, top:bottom, left:right].reshape(times.size, -1))
    start = float(np.nanmedian(own[:before])) if before else None
    drift[kept], said = drift_of_region(times[kept], own[kept], start, levels[kept], unit)
    return drift, said
