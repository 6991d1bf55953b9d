"""Checks of user input, used at the border and nowhere inside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from nefty.core.errors import InputError, unknown_name


def one_of(what: str, given: object, known: Iterable[str]) -> str:
    """Return ``given`` if it is one of ``known``, else raise with the nearest name."""
    known = tuple(known)
    if not isinstance(given, str) or given not in known:
        raise unknown_name(what, given, known)
    return given


def number(what: str, given: Any, *, above: float | None = None, at_least: float | None = None) -> float:
    """Return ``given`` as a finite float within its bounds.

    Args:
        what: the name of the value, for the message.
        given: the value.
        above: exclusive lower bound.
        at_least: inclusive lower bound.
    """
    try:
        value = None if isinstance(given, str) else float(given)
    except (TypeError, ValueError):
        value = None
    if value is None:
        raise InputError(f"{what} must be a number, got {given!r}.")
    if not np.isfinite(value):
        raise InputError(f"{what}={value} is not finite; give a real number.")
    if above is not None and value <= above:
        raise InputError(f"{what}={value:g} must be above {above:g}.")
    if at_least is not None and value < at_least:
        raise InputError(f"{what}={value:g} must be at least {at_least:g}.")
    return value


def count(what: str, given: Any, *, at_least: int = 1) -> int:
    """Return ``given`` as a whole number of at least ``at_least``."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < at_least:
        raise InputError(f"{what}={given!r} must be a whole number of at least {at_least}.")
    return int(given)


def anisotropy_ratios(given: Any) -> tuple[float, float]:
    """Return (alpha_y/alpha_z, alpha_x/alpha_z), both positive."""
    try:
        y, x = given
    except (TypeError, ValueError):
        raise InputError(f"anisotropy={given!r} must be two ratios, (alpha_y/alpha_z, alpha_x/alpha_z).") from None
    return number("anisotropy along y", y, above=0), number("anisotropy along x", x, above=0)


def frame_times(given: Any) -> np.ndarray:
    """Return the times of the frames as float64, strictly increasing and not before the flash."""
    try:
        times = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"times must be numbers, got {given!r}.") from None
    if times.ndim != 1 or times.size == 0:
        raise InputError(f"times must be a list of at least one time, got an array of shape {times.shape}.")
    if not np.isfinite(times).all():
        bad = int(np.flatnonzero(~np.isfinite(times))[0])
        raise InputError(f"times[{bad}]={times[bad]} is not finite; drop that frame or repair its time.")
    if times[0] < 0:
        raise InputError(
            f"times[0]={times[0]:g} lies before the flash at t = 0; drop the frames before the flash "
            "and count time from it."
        )
    steps = np.diff(times)
    if (steps <= 0).any():
        bad = int(np.flatnonzero(steps <= 0)[0])
        raise InputError(
            f"times must increase: times[{bad}]={times[bad]:g} is followed by "
            f"times[{bad + 1}]={times[bad + 1]:g}; sort the frames by time and drop repeated ones."
        )
    times.setflags(write=False)
    return times
