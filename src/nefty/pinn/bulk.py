"""A first guess of the diffusivity, without labels: the one material whose mean surface decay is the recorded one."""

from __future__ import annotations

from math import exp, log
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash, UniformFlash
from nefty.physics.slab.slab import Slab

DECADES = 8 * log(10)  # how far beyond the bracket is looked, as a logarithm
FARTHEST = 20.0  # times outside of the bracket that losses or an uneven flash may account for; wrong units are farther
MARGIN = 1.05  # distance from the ends of the bracket, as a factor: the head's inverse is infinite at them


def mean_decay_fit(sequence: Sequence, layers: int, low: float, high: float) -> float:
    """Diffusivity along z, between ``low`` and ``high``, of the slab that cools like the mean of the surface.

    Averaged over periodic or adiabatic sides, a part of one material obeys the heat equation in z alone. Its strength
    is fitted as well, so that pixels may be missing; defects bias the fit, which is only a start.

    Args:
        sequence: front of a part after a flash with an absorption depth.
        layers: of cells along z; the surface is the first of them.
        low: least diffusivity.
        high: largest.
    """
    flash = sequence.excitation
    assert isinstance(flash, (GaussianFlash, UniformFlash))
    if sequence.size is None:
        raise InputError("the size of the part is not known; give size=(thickness, height, width).")
    counted = sequence.weights()
    whole = counted.all(axis=0)  # pixels that are there in all frames, so that the same ones are averaged
    if whole.any():
        counted = counted & whole
    seen = counted.any(axis=(1, 2))
    mean = np.mean(sequence.frames[seen], axis=(1, 2), where=counted[seen])
    times, thickness, depth = sequence.times[seen], sequence.size[0], flash.depth

    def misfit(log_alpha: float) -> float:
        decay = Slab(exp(log_alpha), thickness, layers).gaussian_flash(times, depth)[:, 0]
        return float(np.sum((mean - decay * (decay @ mean) / (decay @ decay)) ** 2))

    far = np.arange(log(low) - DECADES, log(high) + DECADES, 1.0)
    nearest = exp(far[np.argmin([misfit(x) for x in far])])
    if not low / FARTHEST < nearest < high * FARTHEST:
        raise InputError(
            f"the surface cools like a part of diffusivity {nearest:.1g}, far from diffusivity.low={low:g} to "
            f"diffusivity.high={high:g}; set them around it, in the recording's own units."
        )
    found: Any = minimize_scalar(misfit, bounds=(log(low * MARGIN), log(high / MARGIN)), method="bounded")
    return exp(float(found.x))
