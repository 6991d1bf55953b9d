"""How the heat came in over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nefty.core.checks import number

AFTERGLOW_ENDS = 8.0  # time constants, after which the rest of an afterglow is left out


class History(Protocol):
    """A heating history; t = 0 is when it begins."""

    @property
    def switches(self) -> tuple[float, ...]:
        """Times in s at which the rate jumps or bends; the last is when the heating has ended."""
        ...

    def delivered(self, t: float) -> float:
        """Share of all heat that came until ``t`` in s: the integral of g."""
        ...


@dataclass(frozen=True)
class LampPulse:
    """A top hat with an exponential afterglow, g = 1 for t < duration and exp(-(t - duration)/tail) after it.

    Args:
        duration: in s.
        tail: time constant of the afterglow in s; 0 for none.
    """

    duration: float
    tail: float = 0.0

    def __post_init__(self) -> None:
        number("duration", self.duration, above=0)
        number("tail", self.tail, at_least=0)

    @property
    def switches(self) -> tuple[float, ...]:
        """See ``History``."""
        return (self.duration, self.duration + AFTERGLOW_ENDS * self.tail) if self.tail else (self.duration,)

    def delivered(self, t: float) -> float:
        """See ``History``."""
        end = self.switches[-1]
        return self._heat(min(max(t, 0.0), end)) / self._heat(end)

    def _heat(self, t: float) -> float:
        late = max(t - self.duration, 0.0)
        glow = self.tail * -np.expm1(-late / self.tail) if self.tail else 0.0
        return min(t, self.duration) + float(glow)


@dataclass(frozen=True, eq=False)
class AnyHistory:
    """Any rate g(t) >= 0 from 0 to an end, by the trapezoidal rule: a long pulse, a step, lock-in heating.

    Args:
        rate: g at times in s, of any unit.
        end: when the heating has ended, in s.
        points: at which it is taken.
        pieces: equal ones, in each of which the rate changes little; the engine takes small steps in each.
    """

    rate: Callable[[np.ndarray], np.ndarray]
    end: float
    points: int = 4001
    pieces: int = 1

    @property
    def switches(self) -> tuple[float, ...]:
        """See ``History``."""
        return tuple((self.end * np.arange(1, self.pieces + 1) / self.pieces).tolist())

    def delivered(self, t: float) -> float:
        """See ``History``."""
        times = np.linspace(0, self.end, self.points)
        rate = np.asarray(self.rate(times), dtype=np.float64) * np.ones(self.points)
        total = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2)])
        return float(np.interp(t, times, total) / total[-1])
