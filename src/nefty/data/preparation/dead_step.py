"""Pixels that say nothing about the part, found in some of the frames."""

from __future__ import annotations

import numpy as np

from nefty.core.errors import InputError
from nefty.data.dead_pixels import dead_pixels, noisy_pixels
from nefty.data.facts import Step
from nefty.data.preparation.prepared import counted

SOME = 32  # frames that are enough
LISTED = 100  # places that are kept


def dead_step(
    frames: np.ndarray, kept: np.ndarray, ambient: np.ndarray | float, level: float, choice: str
) -> tuple[np.ndarray, Step]:
    """Pixels (y, x) that never change, stand alone, are very noisy, or are missing.

    Args:
        frames: of the file (t, y, x).
        kept: numbers of those that are used.
        ambient: to subtract.
        level: from which on values are saturated.
        choice: ``Preparation.dead``.
    """
    if choice == "off":
        return np.zeros(frames.shape[1:], bool), Step("dead pixels", "Not looked for.", {"pixels": 0})
    some = kept[np.unique(np.linspace(0, kept.size - 1, min(SOME, kept.size)).round().astype(int))]
    values = frames[some]
    here = np.isfinite(values) & (values < level)
    values = values - np.asarray(ambient, dtype=frames.dtype)
    dead = dead_pixels(values, here) | noisy_pixels(frames[kept[-SOME:]]) | ~np.isfinite(values).any(axis=0)
    if dead.all():
        raise InputError('all pixels look dead: none of them changes; check the file, or set dead="off".')
    places = [[int(y), int(x)] for y, x in np.argwhere(dead)]
    text = "None found."
    if places:
        shown = ", ".join(f"({y}, {x})" for y, x in places[:8]) + (", ..." if len(places) > 8 else "")
        what = "that never change, stand alone or are very noisy do not count"
        text = f"{counted(len(places), 'pixel')} {what}: (row, column) {shown}."
    return dead, Step("dead pixels", text, {"pixels": len(places), "places": places[:LISTED]})
