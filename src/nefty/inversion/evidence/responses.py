"""What a weak sheet shows, wave by wave: shared by the discs that are looked for and by the curvature of a fit."""

from __future__ import annotations

import numpy as np

from nefty.inversion.evidence.contrast import Contrast
from nefty.physics.slab.weak_sheet import WeakSheet

WAVES = 48  # rates of spreading between which responses are interpolated


def spreading(waves: list[np.ndarray], along: tuple[float, float]) -> np.ndarray:
    """Rates 1/time at which patterns with those wave numbers, (y,) and (x,), spread by diffusivities along y, x."""
    return along[0] * waves[0][:, None] ** 2 + along[1] * waves[1][None, :] ** 2


def rates_between(rate: np.ndarray) -> np.ndarray:
    """Few rates, from none to the largest, between which responses are interpolated."""
    return np.concatenate([[0.0], np.geomspace(rate[rate > 0].min(), rate.max(), WAVES - 1)])


def responses(contrast: Contrast, slab: WeakSheet, depths: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """ln(T/T_sound) over R/(thickness/alpha) of sheets at those depths, for those rates, (depth, t, rate)."""
    history = None if contrast.heating is None else contrast.heating.history
    return np.swapaxes(slab.contrast(contrast.times, depths, rates, history), 1, 2)
