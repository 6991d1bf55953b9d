"""How the surface of a sound slab cools after a flash, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nefty.core.checks import number
from nefty.core.errors import InputError

TERMS = np.arange(1, 7)[:, None]  # exp(-36 pi) is the first that is left out


def reference_decay(
    times: Sequence[float] | np.ndarray, alpha: float, thickness: float | None = None, heat: float = 1.0
) -> np.ndarray:
    """Front face of an adiabatic slab after an instantaneous flash, (t,):

    T = Q/(rho c sqrt(pi alpha t)) [1 + 2 sum_n exp(-n^2 L^2/(alpha t))]
      = Q/(rho c L) [1 + 2 sum_n exp(-n^2 pi^2 alpha t/L^2)],

    the first series up to alpha t/L^2 = 1/pi and the second, its Poisson transform, beyond: six terms are exact.

    Args:
        times: after the flash, above 0.
        alpha: diffusivity through the thickness.
        thickness: L; a half space if not given.
        heat: Q/(rho c), in temperature times length.
    """
    t = np.asarray(times, dtype=np.float64)
    if t.ndim != 1 or not (np.isfinite(t) & (t > 0)).all():
        raise InputError("times must be a list of finite times above 0, counted from the flash.")
    alpha, heat = number("alpha", alpha, above=0), number("heat", heat)
    half_space = heat / np.sqrt(np.pi * alpha * t)
    if thickness is None:
        return half_space
    length = number("thickness", thickness, above=0)
    fo = alpha * t / length**2
    early = half_space * (1 + 2 * np.exp(-(TERMS**2) / np.minimum(fo, 1)).sum(axis=0))
    late = heat / length * (1 + 2 * np.exp(-(TERMS**2) * math.pi**2 * fo).sum(axis=0))
    return np.where(fo < 1 / math.pi, early, late)
