"""What the modes of a part make of a heating rate g(t) that is linear between its knots, exactly.

A mode that decays at the rate lam answers q(lam, t) = int g(t') exp(-lam (t - t')) dt'. Over a piece of length d on
which g goes linearly from a to b,

    q(t + d) = exp(-x) q(t) + d [b M_0(x) + (a - b) M_1(x)],   x = lam d,   M_k(x) = int_0^1 u^k exp(-x u) du,

without cancellation for any x, small or large: M_1 is at most half of M_0, and a and b are not negative.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import factorial

import numpy as np

AT_ONCE = 2**18  # moments that are held in memory together
SERIES = 18  # terms of a moment up to x = 1: the next is below rounding


@dataclass(frozen=True)
class HeatingHistory:
    """A heating rate whose integral is 1, 0 outside of its knots; hashable.

    Args:
        times: of the knots, not falling; a time that comes twice is a jump.
        rates: g at the knots, in 1/time.
    """

    times: tuple[float, ...]
    rates: tuple[float, ...]

    @property
    def start(self) -> float:
        """Time of the first knot."""
        return self.times[0]

    @property
    def end(self) -> float:
        """Time of the last knot."""
        return self.times[-1]

    @cached_property
    def jumps(self) -> tuple[float, ...]:
        """Times at which g is not continuous."""
        steps = zip(pairwise(self.times), pairwise(self.rates), strict=True)
        inner = [a for (a, b), (low, high) in steps if a == b and low != high]
        return tuple(sorted({self.start, *inner, self.end}))

    @cached_property
    def middle(self) -> float:
        """The mean time of the heat: int t g dt."""
        t, g = np.array(self.times), np.array(self.rates)
        d = np.diff(t)
        return float(np.sum(d * (t[:-1] * (g[:-1] + g[1:]) / 2 + d * (g[:-1] / 6 + g[1:] / 3))))

    def shifted(self, delay: float) -> HeatingHistory:
        """The same course, later by ``delay``."""
        return HeatingHistory(tuple(t + delay for t in self.times), self.rates)

    def rate(self, times: np.ndarray) -> np.ndarray:
        """g at ``times``; at a jump the value before it."""
        t, g = np.array(self.times), np.array(self.rates)
        at = np.searchsorted(t, times, side="left")
        after, before = np.clip(at, 0, t.size - 1), np.clip(at - 1, 0, t.size - 1)
        length = t[after] - t[before]
        share = np.divide(times - t[before], length, out=np.ones(np.shape(times)), where=length > 0)
        found = g[before] + share * (g[after] - g[before])
        return np.where((times > t[0]) & (times <= t[-1]), found, 0.0)

    def heat(self, times: np.ndarray) -> np.ndarray:
        """The share of the heat that has come until ``times``: int_0^t g dt'."""
        t, g = np.array(self.times), np.array(self.rates)
        total = np.concatenate([[0.0], np.cumsum(np.diff(t) * (g[1:] + g[:-1]) / 2)])
        at = np.clip(np.searchsorted(t, times, side="left") - 1, 0, t.size - 2)
        since, length = np.clip(times, t[0], t[-1]) - t[at], t[at + 1] - t[at]
        bend = np.divide(g[at + 1] - g[at], length, out=np.zeros(np.shape(times)), where=length > 0)
        return total[at] + since * (g[at] + bend * since / 2)

    def half_space(self, times: np.ndarray) -> np.ndarray:
        """int g(t') (t - t')^(-1/2) dt' after the heating: sqrt(pi) times the surface of a half space."""
        a, b = np.array(self.times[:-1]), np.array(self.times[1:])
        low, high = np.array(self.rates[:-1]), np.array(self.rates[1:])
        slope = np.divide(high - low, b - a, out=np.zeros(a.shape), where=b > a)
        far, near = (np.sqrt(times[:, None] - edge) for edge in (a, b))
        whole = low + slope * (times[:, None] - a)
        return (2 * whole * (far - near) - 2 / 3 * slope * (far**3 - near**3)).sum(axis=1)

    def response(self, lam: np.ndarray, times: np.ndarray) -> np.ndarray:
        """q(lam, t) in the shape to which rates of decay and times broadcast; those share no axis."""
        return self._march(lam, times, slopes=False)[0]

    def response_and_slope(self, lam: np.ndarray, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q(lam, t), and its derivative by lam."""
        return self._march(lam, times, slopes=True)

    def _march(self, lam: np.ndarray, times: np.ndarray, slopes: bool) -> tuple[np.ndarray, np.ndarray]:
        lam, times = np.asarray(lam, dtype=np.float64), np.asarray(times, dtype=np.float64)
        rates, wanted = lam.ravel(), np.unique(times)
        values = np.zeros((wanted.size, rates.size))
        bends = np.zeros_like(values) if slopes else values[:0]
        q, bend = np.zeros(rates.size), np.zeros(rates.size)
        row = int(np.searchsorted(wanted, self.start, side="right"))
        for end, length, a, b, (fade, m0, m1, m2) in self._with_moments(wanted, rates, slopes):
            if slopes:
                bend = fade * (bend - length * q) - length**2 * (a * m2 + b * (m1 - m2))
            q = fade * q + length * (b * m0 + (a - b) * m1)
            if row < wanted.size and end == wanted[row]:
                values[row] = q
                if slopes:
                    bends[row] = bend
                row += 1
        pick = np.searchsorted(wanted, times), np.arange(rates.size).reshape(lam.shape)
        return values[pick], bends[pick] if slopes else values[:0]

    def _with_moments(
        self, wanted: np.ndarray, rates: np.ndarray, slopes: bool
    ) -> Iterator[tuple[float, float, float, float, np.ndarray]]:
        """The pieces with their exp(-x), M_0, M_1 and M_2, computed for as many pieces at once as memory likes."""
        pieces = list(self._pieces(wanted))
        size = max(1, AT_ONCE // max(rates.size, 1))
        for begin in range(0, len(pieces), size):
            block = pieces[begin : begin + size]
            lengths, which = np.unique([length for _, length, _, _ in block], return_inverse=True)
            moments = np.stack(_moments(lengths[:, None] * rates, slopes), axis=1)
            for (end, length, a, b), k in zip(block, which.tolist(), strict=True):
                yield end, length, a, b, moments[k]

    def _pieces(self, wanted: np.ndarray) -> Iterator[tuple[float, float, float, float]]:
        """End, length, g after the beginning and g before the end of the pieces between knots and times."""
        t, g = np.array(self.times), np.array(self.rates)
        marks = np.unique(np.concatenate([t, wanted[wanted > self.start]]))
        begin, end = marks[:-1], marks[1:]
        at = np.clip(np.searchsorted(t, (begin + end) / 2) - 1, 0, t.size - 2)
        length = t[at + 1] - t[at]
        slope = np.divide(g[at + 1] - g[at], length, out=np.zeros(at.shape), where=length > 0)
        on = end <= self.end
        first = np.where(on, g[at] + slope * (begin - t[at]), 0.0)
        last = np.where(on, g[at] + slope * (end - t[at]), 0.0)
        # Lengths that differ by rounding only would each get moments of their own.
        lengths = [float(f"{d:.12g}") for d in end - begin]
        return zip(end.tolist(), lengths, first.tolist(), last.tolist(), strict=True)


def _moments(x: np.ndarray, all_three: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """exp(-x) and M_0, M_1, M_2 of x >= 0: by M_k = (k M_{k-1} - exp(-x))/x from 1 on, below by series."""
    fade, safe, small = np.exp(-x), np.maximum(x, 1.0), x < 1
    m0 = -np.expm1(-safe) / safe
    m1 = (m0 - fade) / safe
    m2 = (2 * m1 - fade) / safe if all_three else m1
    low = x[small]
    for k, moment in enumerate((m0, m1, m2) if all_three else (m0, m1)):
        moment[small] = _series(low, k)
    return fade, m0, m1, m2


def _series(x: np.ndarray, k: int) -> np.ndarray:
    """M_k(x) = sum_j (-x)^j/(j! (j + k + 1))."""
    terms = [(-1.0) ** j / (factorial(j) * (j + k + 1)) for j in range(SERIES)]
    return np.polynomial.polynomial.polyval(x, terms)
