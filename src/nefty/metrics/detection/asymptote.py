"""The POD that large defects reach, P: its estimate, whether it is below 1, and what that does to bounds of sizes.

POD(a) = P F(b0 + b1 g(a)), P in (0, 1], all three by maximum likelihood. P = 1 lies on the edge of what P can be, so
that twice the gain of the log-likelihood is 0 in half of all samples with P = 1, and chi-square with one degree of
freedom in the other half (Chernoff 1954; Self and Liang 1987): p = Pr(chi2_1 >= T)/2 for T > 0, else 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from nefty.metrics.detection.asymptote_likelihood import LimitedHitMiss, climb, highest, rises_of
from nefty.metrics.detection.links import quantile

#: Linear predictors beyond which a target is on neither side of the rise.
BESIDE = 12.0
SIGNIFICANT = 0.05
#: Starts of a profile: P between its least value and 1, and slopes over that of the fit with P = 1.
SHARES, STEEP = (1e-3, 0.1, 0.5), (0.6, 1.5, 4.0)
#: Gains of the log-likelihood that are rounding.
NOTHING = 1e-9


@dataclass(frozen=True)
class Asymptote:
    """The POD that large defects reach.

    Args:
        value: P of the curve; 1 if the data do not speak against that.
        estimate: P by maximum likelihood.
        low: lower bound of P by the likelihood ratio, with the fit's one-sided confidence.
        high: upper bound, the same way.
        p_value: of P = 1; probability of a gain as large as this one if large defects are always found.
        fitted: whether the curve has P as a third parameter.
    """

    value: float
    estimate: float
    low: float
    high: float
    p_value: float
    fitted: bool

    @property
    def within(self) -> str:
        """Both bounds, such as ``"0.71 to 0.88"``."""
        return f"{self.low:.3g} to {self.high:.3g}"

    def __str__(self) -> str:
        if self.fitted:
            return f"POD of large defects P = {self.value:.3g} ({self.within}); P = 1 has p = {self.p_value:.2g}"
        return f"POD of large defects P = 1 (p = {self.p_value:.2g}; the data alone say {self.within})"


@dataclass(frozen=True, eq=False)
class Limited:
    """The fit with an asymptote, and its profiles.

    Args:
        likelihood: of the data.
        line: (b0, b1) of the fit with P = 1.
        parameters: (b0, b1, q) at the maximum, P = exp(-q).
        value: of the log-likelihood there.
        gain: of the log-likelihood over P = 1.
    """

    likelihood: LimitedHitMiss
    line: np.ndarray
    parameters: np.ndarray
    value: float
    gain: float

    @property
    def estimate(self) -> float:
        """P."""
        return math.exp(-float(self.parameters[2]))

    @property
    def p_value(self) -> float:
        """Of P = 1."""
        if self.parameters[2] == 0 or self.gain <= NOTHING:
            return 1.0
        return 0.5 * float(special.chdtrc(1, 2 * self.gain))

    @property
    def rise(self) -> tuple[float, float] | None:
        """Transformed sizes between which the POD jumps, if any curve that is steep enough there fits as well."""
        g = np.unique(self.likelihood.g)
        eta = self.parameters[0] + self.parameters[1] * g
        inside = np.abs(eta) < BESIDE
        if self.parameters[1] <= 0 or inside.sum() > 1 or (eta > 0).all() or (eta < 0).all():
            return None
        return float(g[eta <= -BESIDE].max(initial=g[0])), float(g[eta >= BESIDE].min(initial=g[-1]))

    def deviance(self, asymptote: float) -> float:
        """2 (l_max - l) of the best curve with that asymptote."""
        if asymptote == 1:
            return 2 * self.gain
        return 2 * (self.value - highest(self.likelihood, self.line, -math.log(asymptote))[1])

    def interval(self, limit: float) -> tuple[float, float]:
        """Least and largest P whose deviance is within ``limit``."""
        q = float(self.parameters[2])
        excess: Callable[[float], float] = lambda at: self.deviance(math.exp(-at)) - limit  # noqa: E731
        low = q + 0.05
        while excess(low) < 0:  # P so small that the hits cannot be explained
            low *= 1.6
        most = _root(excess, q, low)
        least = 0.0 if q == 0 or 2 * self.gain <= limit else _root(excess, 0.0, q)
        return math.exp(-most), math.exp(-least)

    def size_bound(self, pod: float, limit: float) -> float:
        """The largest transformed size whose profile deviance is within ``limit``: 2 (l_max - l(g)) <= limit,

            l(g) = max over P and b1 of l with P F(b0 + b1 g) = pod.

        Infinite if a POD that does not depend on size, or an asymptote of ``pod`` or less, is within it too.
        """
        never = self.estimate <= pod or self.deviance(pod) <= limit
        if never or 2 * (self.value - self.likelihood.flat()) <= limit:
            return math.inf
        b0, b1, _ = self.parameters
        here = float((quantile(self.likelihood.link, min(pod / self.estimate, 1.0)) - b0) / b1)
        step = 0.05 * float(np.ptp(self.likelihood.g))
        low, high = here, here + step
        excess: Callable[[float], float] = lambda g: 2 * (self.value - self._held(g, pod)) - limit  # noqa: E731
        while excess(high) < 0:
            low, high = high, high + 2 * (high - low)
            if high - here > 1e6 * step:  # next to the infinite case
                return math.inf
        return _root(excess, low, high, step)

    def _held(self, g: float, pod: float) -> float:
        """The best log-likelihood with that POD at the transformed size ``g``."""
        link, free = self.likelihood.link, np.array([True, True])
        terms, least = self.likelihood.held(g, pod), quantile(link, pod)
        tried = [np.array([b1, b1 * (g - centre)]) for centre, b1, _ in rises_of(self.likelihood)]
        for share in SHARES:
            theta = quantile(link, pod / (pod + share * (1 - pod)))
            tried += [np.array([steep * self.line[1], theta]) for steep in STEEP]
        tried = sorted((u for u in tried if u[1] > least), key=lambda u: -terms(u)[0])
        level = quantile(link, pod / self.estimate) if pod < self.estimate else least
        b0, b1, _ = self.parameters
        own = [np.array([b1, max(theta, least)]) for theta in (level, b0 + b1 * g)]  # with P as it is; the same rise
        starts = [np.array([self.line[1], least]), *own, *tried[:2]]
        return max(climb(terms, start, free, least)[1] for start in starts)


def limited(g: np.ndarray, hits: np.ndarray, link: str, line: np.ndarray, value: float) -> Limited:
    """Fit P, b0 and b1.

    Args:
        g: transformed sizes.
        hits: booleans.
        link: of ``LINKS``.
        line: (b0, b1) of the fit with P = 1.
        value: of its log-likelihood.
    """
    likelihood = LimitedHitMiss(g, hits, link)
    parameters, best = highest(likelihood, line)
    if best - value <= NOTHING:
        parameters, best = np.array([*line, 0.0]), value
    return Limited(likelihood, line, parameters, best, best - value)


def _root(excess: Callable[[float], float], low: float, high: float, unit: float = 1.0) -> float:
    return float(optimize.brentq(excess, low, high, xtol=1e-8 * unit, rtol=1e-12))  # pyright: ignore
