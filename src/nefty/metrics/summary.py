"""Many scores in two numbers, of all or of each group."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TypeVar

import numpy as np
from scipy.special import ndtri, stdtrit

from nefty.core.errors import InputError

Group = TypeVar("Group", bound=Hashable)


def mean_interval(values: Iterable[float], *, confidence: float = 0.95) -> tuple[float, float]:
    """Mean and half width of its Student-t confidence interval, t s / sqrt(n); the half width of one value is NaN.

    Args:
        values: one per specimen, finite.
        confidence: probability that the interval holds the expectation, for normal values.
    """
    array = np.asarray(list(values), dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"values have shape {array.shape}; give a list of at least one number.")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"values[{bad}]={array[bad]} is not finite; leave it out and say so.")
    if not 0 < confidence < 1:
        raise InputError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
    mean = float(array.mean())
    if array.size == 1:
        return mean, math.nan
    quantile = float(stdtrit(array.size - 1, (1 + confidence) / 2))
    return mean, quantile * float(array.std(ddof=1)) / math.sqrt(array.size)


def wilson(count: int, of: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """Interval of a probability after ``count`` successes in ``of`` trials (Wilson 1927); (0, 1) after none.

    Args:
        count: successes.
        of: trials.
        confidence: probability that such intervals hold the true one.
    """
    if not 0 <= count <= of:
        raise InputError(f"{count} successes of {of} trials cannot be; give 0 to {of}.")
    if of == 0:
        return 0.0, 1.0
    z = float(ndtri((1 + confidence) / 2))
    share, spread = count / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def breakdown(
    values: Iterable[float], groups: Iterable[Group], *, confidence: float = 0.95
) -> dict[Group, tuple[float, float]]:
    """``mean_interval`` of the values of each group, in the order in which the groups first come.

    Args:
        values: one per specimen, finite.
        groups: what each belongs to, such as its number of defects or of layers.
        confidence: of the intervals.
    """
    values, groups = list(values), list(groups)
    if len(values) != len(groups):
        raise InputError(f"there are {len(values)} values and {len(groups)} groups; give one group per value.")
    members: dict[Group, list[float]] = {}
    for value, group in zip(values, groups, strict=True):
        members.setdefault(group, []).append(value)
    return {group: mean_interval(own, confidence=confidence) for group, own in members.items()}
