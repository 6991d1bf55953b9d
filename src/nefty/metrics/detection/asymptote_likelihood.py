"""The log-likelihood of hits and misses with a POD that need not reach 1, and where it is highest.

POD(a) = P F(b0 + b1 g(a)) with P = exp(-q), q >= 0. With p = POD, h = F'/F, m = P F'/(1 - p), k = p/(1 - p) and
c = F''/F', the terms of one target are

    hit:   -q + log F       d/deta = h       d/dq = -1      d2/deta2 = c h - h^2
    miss:  log(1 - p)       d/deta = -m      d/dq = k       d2/deta2 = -c m - m^2,  d2/deta dq = m (1 + k),
                                                            d2/dq2 = -k (1 + k)

It is not concave in all three, so that Newton steps by the absolute values of the curvature's eigenvalues, from several
starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special

from nefty.core.errors import ConvergenceError

Terms = tuple[float, np.ndarray, np.ndarray]

FAR = 300.0  # logarithms beyond which squares would overflow
#: Rises to start from: where they begin, as quantiles of the sizes of hits, and how wide they are over all sizes.
BEGINS, WIDTHS = (0.0, 0.1, 0.3, 0.6), (0.01, 0.03, 0.1, 0.3)
STARTS = 2  # the best of them that are followed


@dataclass(frozen=True, eq=False)
class LimitedHitMiss:
    """Log-likelihood of hits and misses for (b0, b1, q).

    Args:
        g: transformed sizes.
        hits: booleans.
        link: of ``LINKS``.
    """

    g: np.ndarray
    hits: np.ndarray
    link: str

    def __call__(self, parameters: np.ndarray) -> Terms:
        """Value, gradient and minus the Hessian."""
        return self._chained(parameters, parameters[0] + parameters[1] * self.g, float(parameters[2]), self.g)

    def design(self, g: float) -> np.ndarray:
        """(1, g, 0): the derivative of the linear predictor."""
        return np.array([1.0, g, 0.0])

    def information(self, parameters: np.ndarray) -> np.ndarray:
        """Expected: the sum of (dp/du)(dp/du)^T / (p (1 - p))."""
        eta, q = parameters[0] + parameters[1] * self.g, float(parameters[2])
        log_f, log_slope, log_miss = self._logarithms(eta, q)
        up = np.exp(log_slope - log_f)  # d log p/d eta
        columns = np.stack([up, up * self.g, -np.ones_like(up)])
        return (columns * np.exp(log_f - q - log_miss)) @ columns.T

    def flat(self) -> float:
        """Its value for a POD that does not depend on size."""
        found, total = int(self.hits.sum()), len(self.hits)
        return float(special.xlogy(found, found / total) + special.xlogy(total - found, 1 - found / total))

    def held(self, g: float, pod: float) -> Callable[[np.ndarray], Terms]:
        """The same for (b1, theta) where the POD is ``pod`` at the transformed size ``g``.

        theta = b0 + b1 g = F^-1(pod/P) is the linear predictor there, so that P = pod/F(theta); P <= 1 is
        theta >= F^-1(pod).
        """

        def terms(u: np.ndarray) -> Terms:
            theta = np.array([u[1]])
            log_f, log_slope, _ = self._logarithms(theta, 0.0)
            q, h = max(float(log_f[0]) - math.log(pod), 0.0), float(np.exp(log_slope - log_f)[0])
            bend = float(_bend(self.link, theta)[0]) * h - h * h  # d2q/dtheta2
            value, gradient, curvature = self._chained(u, u[1] + u[0] * (self.g - g), q, self.g - g)
            # (intercept, b1, q) = (theta, b1, q(theta)): the chain rule.
            chain = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, h]])
            reduced = chain.T @ curvature @ chain
            reduced[1, 1] -= gradient[2] * bend
            return value, chain.T @ gradient, reduced

        return terms

    def _chained(self, parameters: np.ndarray, eta: np.ndarray, q: float, g: np.ndarray) -> Terms:
        """Value, gradient and minus the Hessian for (intercept, slope over ``g``, q)."""
        if not (np.isfinite(parameters).all() and q >= 0):
            return -math.inf, np.zeros(3), np.eye(3)
        log_f, log_slope, log_miss = self._logarithms(eta, q)
        bend = _bend(self.link, eta)
        value = float(np.where(self.hits, log_f - q, log_miss).sum())
        if not math.isfinite(value):
            return -math.inf, np.zeros(3), np.eye(3)
        h = np.exp(log_slope - log_f)
        m, k = (np.exp(np.minimum(up - q - log_miss, FAR)) for up in (log_slope, log_f))
        first = np.where(self.hits, h, -m)
        second = np.where(self.hits, bend * h - h * h, -bend * m - m * m)
        misses = ~self.hits
        mixed, last = m[misses] * (1 + k[misses]), k[misses] * (1 + k[misses])
        gradient = np.array([first.sum(), first @ g, k[misses].sum() - self.hits.sum()])
        minus = np.empty((3, 3))
        minus[0, 0], minus[1, 1] = -second.sum(), -(second @ (g * g))
        minus[0, 1] = minus[1, 0] = -(second @ g)
        minus[0, 2] = minus[2, 0] = -mixed.sum()
        minus[1, 2] = minus[2, 1] = -(mixed @ g[misses])
        minus[2, 2] = last.sum()
        return value, gradient, minus

    def _logarithms(self, eta: np.ndarray, q: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """log F, log F' and log(1 - exp(-q) F), exact far out."""
        if self.link == "logit":
            log_f, log_g = special.log_expit(eta), special.log_expit(-eta)
            log_slope = log_f + log_g
        else:
            log_f, log_g = special.log_ndtr(eta), special.log_ndtr(-eta)
            log_slope = -(eta**2) / 2 - 0.5 * math.log(2 * math.pi)
        if q == 0:
            return log_f, log_slope, log_g
        return log_f, log_slope, np.logaddexp(math.log(-math.expm1(-q)), log_g - q)


def climb(terms: Callable[[np.ndarray], Terms], start: np.ndarray, free: np.ndarray, low: float) -> tuple:
    """Where ``terms`` is highest, and the value; Newton with halved steps from ``start``.

    Args:
        terms: value, gradient and minus the Hessian.
        start: parameters.
        free: which of them may change.
        low: the least value of the last one.
    """
    at = start.astype(np.float64)
    value, gradient, curvature = terms(at)
    for _ in range(300):
        moving = free.copy()
        if at[-1] <= low and gradient[-1] <= 0:
            moving[-1] = False
        step = np.zeros_like(at)
        step[moving] = _uphill(curvature[np.ix_(moving, moving)], gradient[moving])
        if at[-1] <= low and step[-1] < 0:  # up by itself, down with the others: each on its own leaves the edge
            others = free & (np.arange(len(at)) < len(at) - 1)
            step[others] = _uphill(curvature[np.ix_(others, others)], gradient[others])
            step[-1] = gradient[-1] / max(abs(curvature[-1, -1]), 1e-300)
        if at[-1] + step[-1] < low:
            step *= (low - at[-1]) / step[-1]
        expected, rounding = float(gradient @ step), 1e-13 * (1 + abs(value))
        if expected < 0.1 * rounding and not (moving[-1] and at[-1] + step[-1] <= low < at[-1]):
            return at, value
        for _ in range(60):
            trial = terms(at + step)
            if trial[0] > value + 1e-4 * expected - rounding:
                break
            step, expected = step / 2, expected / 2
        else:
            return at, value
        at = at + step
        at[-1] = max(at[-1], low)
        value, gradient, curvature = trial
    raise ConvergenceError("the likelihood has no maximum within reach; give more targets, of more sizes.")


def highest(likelihood: LimitedHitMiss, line: np.ndarray, q: float | None = None) -> tuple[np.ndarray, float]:
    """(b0, b1, q) of the maximum, and its value; at a given ``q`` where there is one.

    Args:
        likelihood: of the data.
        line: (b0, b1) of the fit with P = 1.
        q: -log P.
    """
    free = np.array([True, True, q is None])
    rises = [
        np.array([-b1 * centre, b1, q if q is not None else -math.log(share)])
        for centre, b1, share in rises_of(likelihood)
    ]
    rises.sort(key=lambda start: -likelihood(start)[0])
    begin = 0.0 if q is None else q
    found = [climb(likelihood, start, free, 0.0) for start in (np.array([*line, begin]), *rises[:STARTS])]
    return max(found, key=lambda one: one[1])


def rises_of(likelihood: LimitedHitMiss) -> list[tuple[float, float, float]]:
    """Where a rise may be: its middle, its slope, and the share of hits above; by ``BEGINS`` and ``WIDTHS``."""
    g, hits, found = likelihood.g, likelihood.hits, []
    for begin in np.quantile(g[hits], BEGINS):
        share = (float(hits[g >= begin].sum()) + 0.5) / (int((g >= begin).sum()) + 1)
        found += [(float(begin), 4 / (width * float(np.ptp(g))), share) for width in WIDTHS]
    return found


def _uphill(curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """|curvature|^-1 gradient, scaled to a unit diagonal first so that units of size do not matter."""
    if not len(gradient):
        return gradient
    scale = np.sqrt(np.maximum(np.abs(np.diag(curvature)), 1e-300))
    values, vectors = np.linalg.eigh(curvature / np.outer(scale, scale))
    size = np.maximum(np.abs(values), 1e-9 * np.abs(values).max())
    return vectors @ ((vectors.T @ (gradient / scale)) / size) / scale


def _bend(link: str, eta: np.ndarray) -> np.ndarray:
    """F''/F'."""
    return -np.tanh(eta / 2) if link == "logit" else -eta
