"""What a POD is a function of, and by which function: transforms of sizes, and links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError

LINKS = ("logit", "probit")
TRANSFORMS = ("log", "linear")


def transformed(values: Any, transform: str, what: str = "sizes") -> np.ndarray:
    """g(values): their logarithms, or themselves."""
    values = np.asarray(values, dtype=np.float64)
    if one_of("transform", transform, TRANSFORMS) == "linear":
        return values
    if not (values > 0).all():
        raise InputError(f'{what} hold {values.min():g}, which has no logarithm; use the transform "linear" for them.')
    return np.log(values)


def size_of(g: float, transform: str) -> float:
    """The size of a transformed one; infinite if it is too large for a number."""
    if transform == "linear":
        return g
    return math.exp(g) if g < 700 else math.inf


def distribution(link: str, eta: np.ndarray) -> np.ndarray:
    """F."""
    return special.expit(eta) if link == "logit" else special.ndtr(eta)


def quantile(link: str, pod: float) -> float:
    """F^-1."""
    if not 0 < number("pod", pod) < 1:
        raise InputError(f"pod={pod!r} must lie between 0 and 1, such as 0.9.")
    return float(special.logit(pod) if link == "logit" else special.ndtri(pod))


def level_slope(link: str, eta: float) -> float:
    """F'."""
    if link == "logit":
        return float(special.expit(eta) * special.expit(-eta))
    return math.exp(-(eta**2) / 2) / math.sqrt(2 * math.pi)
