"""What the part showed before the flash, which is subtracted."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted

FEWEST = 3  # frames before the flash, for each pixel's own mean
UNEVEN = 2.0  # times the noise of such a mean: pixels that differ more do so for other reasons


def ambient_of(
    before: np.ndarray, choice: str | float, sigma: float, unit: str, subtracted: float | None
) -> tuple[np.ndarray | float, float, Step]:
    """What to subtract.

    Args:
        before: frames (t, y, x) before the flash, possibly none.
        choice: ``Preparation.ambient``.
        sigma: noise of a value.
        unit: of the values.
        subtracted: what was subtracted when the file was read; None if its frames are no rises yet.

    Returns:
        One number or one per pixel (y, x); the noise that it adds to every frame; the step.
    """
    unknown, base = subtracted is None, subtracted or 0.0
    if isinstance(choice, (int, float)):
        said = Step("ambient", f"{choice:g} {unit} were subtracted, as given.", {"ambient": float(choice)})
        return float(choice) - base, 0.0, said
    if choice == "off":
        return 0.0, 0.0, Step("ambient", "Nothing was subtracted.", {}, assumed=unknown)
    if not len(before):
        return _without_frames(choice, unknown=unknown)
    left = sigma / np.sqrt(len(before))
    mean, spread = _mean(before)
    middle = float(np.nanmedian(before))
    values = {"ambient": base + middle, "frames": len(before), "spread": spread}
    frames = f"{counted(len(before), 'frame')} before the flash"
    uneven = choice == "auto" and len(before) >= FEWEST and spread > UNEVEN * left
    if choice == "pixels" or uneven:
        text = (
            f"Each pixel's mean over {frames} was subtracted, {base + middle:.6g} {unit} in the middle. The pixels "
            f"differ by {spread:.3g} {unit}; the mean leaves noise of {left:.3g} {unit} in every frame."
        )
        return mean, left, Step("ambient", text, {**values, "noise": left})
    text = f"{base + middle:.6g} {unit}, the median of {frames}, was subtracted."
    return middle, 0.0, Step("ambient", text, values)


def _without_frames(choice: str, *, unknown: bool) -> tuple[float, float, Step]:
    if choice in ("frames", "pixels"):
        raise InputError(f'ambient="{choice}" needs frames before the flash, and there are none; give its value.')
    if not unknown:
        return 0.0, 0.0, Step("ambient", "The frames are rises above ambient, as the file says.")
    text = "No frame lies before the flash, so ambient is not known: values are taken for rises; give its value."
    return 0.0, 0.0, Step("ambient", text, {}, assumed=True)


def _mean(before: np.ndarray) -> tuple[np.ndarray, float]:
    """Of each pixel, NaN where it has no value; and by how much the pixels differ, but for the outermost ones."""
    here = np.isfinite(before)
    total = np.where(here, before, 0.0).sum(axis=0, dtype=np.float64)
    mean = np.where(here.any(axis=0), total / np.maximum(here.sum(axis=0), 1), np.nan)
    known = mean[np.isfinite(mean)]
    if not known.size:
        raise InputError("the frames before the flash hold no number; give the ambient value.")
    return mean, float(np.std(np.clip(known, *np.percentile(known, [2, 98]))))
