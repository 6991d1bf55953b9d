"""Heating of any course: a measured curve, a flash with its afterglow, a long pulse, a step, lock-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.heating_history import HeatingHistory

TAILS = 12.0  # of its time constants after which an afterglow is cut off: exp(-12) of it is left
TAIL_KNOTS = 96
PERIOD_KNOTS = 64  # of a modulated heating, linear in between: within 0.08 % of the cosine


@dataclass(frozen=True, eq=False)
class HeatingCurve:
    """A heat flux into the front face that follows a curve, linear between its points and 0 outside of them.

    The flux over rho c is amplitude H g(t) with the thickness H, and g = values/(their integral over time).

    Args:
        times: of the points, not falling, at least 0; a time that comes twice is a jump.
        values: of the heating in any unit, at least 0; only their ratios count.
        amplitude: the rise that all of the heat leaves in the slab once it has spread through the thickness and
            nothing is lost (the adiabatic rise), where ``profile`` is 1; the same as that of a ``TopHatPulse``.
        profile: lateral distribution (y, x), 1 everywhere if not given.
    """

    times: Sequence[float] | np.ndarray
    values: Sequence[float] | np.ndarray
    amplitude: float = 1.0
    profile: np.ndarray | None = None

    def __post_init__(self) -> None:
        number("heating amplitude", self.amplitude)
        times, values = _curve(self.times, self.values)
        object.__setattr__(self, "times", tuple(times.tolist()))
        object.__setattr__(self, "values", tuple(values.tolist()))

    @classmethod
    def flash_with_tail(
        cls, duration: float, tail: float, share: float, *, amplitude: float = 1.0, start: float = 0.0
    ) -> HeatingCurve:
        """A flash lamp: constant for ``duration``, then an afterglow that falls like exp(-t/tail).

        Args:
            duration: of the constant part.
            tail: time constant of the afterglow.
            share: of all heat that the afterglow brings, 0 to 1.
            amplitude: adiabatic rise.
            start: when it begins.
        """
        duration, tail = number("duration", duration, above=0), number("tail", tail, above=0)
        share = number("share", share, at_least=0)
        if share >= 1:
            raise InputError(f"share={share:g} of the heat in the afterglow must be below 1.")
        since = TAILS * tail * np.linspace(0, 1, TAIL_KNOTS) ** 2
        glow = np.exp(-since / tail)
        glow *= share / trapezoid(glow, since)
        times = np.concatenate([[0.0, duration], duration + since])
        return cls(start + times, np.concatenate([np.full(2, (1 - share) / duration), glow]), amplitude)

    @classmethod
    def long_pulse(cls, duration: float, *, amplitude: float = 1.0, start: float = 0.0) -> HeatingCurve:
        """Constant from ``start`` for ``duration``; the frames within it count like those after it."""
        start = number("start", start, at_least=0)
        return cls([start, start + number("duration", duration, above=0)], [1.0, 1.0], amplitude)

    @classmethod
    def step(cls, until: float, *, amplitude: float = 1.0, start: float = 0.0) -> HeatingCurve:
        """Switched on at ``start`` and left on until the last frame, at ``until``.

        Args:
            until: time of the last frame or later.
            amplitude: adiabatic rise by the heat that has come at ``until``.
            start: when it is switched on.
        """
        if number("until", until, above=0) <= start:
            raise InputError(f"until={until:g} must come after start={start:g}.")
        return cls.long_pulse(until - start, amplitude=amplitude, start=start)

    @classmethod
    def lock_in(
        cls, frequency: float, periods: float, offset: float = 0.0, *, amplitude: float = 1.0, start: float = 0.0
    ) -> HeatingCurve:
        """Modulated: offset + 1 - cos(2 pi frequency t), for a number of periods.

        Args:
            frequency: of the modulation, in 1/time.
            periods: how many.
            offset: of the heating that is always on, over the modulation's amplitude; at least 0.
            amplitude: adiabatic rise by all of the heat.
            start: when it begins.
        """
        frequency, periods = number("frequency", frequency, above=0), number("periods", periods, above=0)
        offset = number("offset", offset, at_least=0)
        knots = count("knots", int(np.ceil(PERIOD_KNOTS * periods)))
        phase = np.linspace(0, periods, knots + 1)
        return cls(start + phase / frequency, offset + 1 - np.cos(2 * np.pi * phase), amplitude)

    @cached_property
    def history(self) -> HeatingHistory:
        """g(t), whose integral is 1."""
        times, values = np.asarray(self.times), np.asarray(self.values)
        return HeatingHistory(tuple(times.tolist()), tuple((values / trapezoid(values, times)).tolist()))

    @property
    def start(self) -> float:
        """When the curve begins."""
        return float(self.times[0])

    @property
    def duration(self) -> float:
        """From its first to its last point."""
        return float(self.times[-1] - self.times[0])

    def shape(self, grid: Grid) -> np.ndarray:
        """Heating rate of the front cells over g(t), for amplitude 1, float64, (y, x): H/dz times the profile."""
        return face_profile(self.profile, grid) * grid.shape[0]


def face_profile(profile: Any, grid: Grid) -> np.ndarray:
    """The lateral distribution of a pulse on the grid's face, 1 everywhere if there is none."""
    if profile is None:
        return np.ones(grid.shape[1:])
    values = np.asarray(profile, dtype=np.float64)
    if values.shape != grid.shape[1:]:
        raise InputError(
            f"pulse profile has shape {values.shape}, the grid's face has {grid.shape[1:]} (y, x); "
            "resample it to the grid."
        )
    if not np.isfinite(values).all():
        raise InputError("pulse profile holds NaN or infinity; repair those pixels first.")
    return values


def _curve(times: Any, values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times and values as arrays, or an error that names the point."""
    try:
        t, v = np.array(times, dtype=np.float64), np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("times and values of the heating must be lists of numbers.") from None
    if t.ndim != 1 or t.shape != v.shape or t.size < 2:
        raise InputError(
            f"times and values of the heating have shapes {t.shape} and {v.shape}; give two lists of the same length, "
            "with at least two points."
        )
    for bad, text in (
        (~np.isfinite(t) | ~np.isfinite(v), "holds NaN or infinity; leave that point out"),
        (t < 0, "lies before 0; count times from the start of the first frame's heating, or shift the curve"),
        (np.diff(t, prepend=t[0]) < 0, "comes before the one ahead of it; sort the points by time"),
        (v < 0, "is a negative heating; subtract the lamp's dark level, and set what is left below 0 to 0"),
    ):
        if bad.any():
            at = int(np.argmax(bad))
            raise InputError(f"point {at} of the heating, ({t[at]:g}, {v[at]:g}), {text}.")
    if not trapezoid(v, t) > 0:
        raise InputError("the heating is 0 everywhere, or lasts no time; give a curve that heats.")
    return t, v
