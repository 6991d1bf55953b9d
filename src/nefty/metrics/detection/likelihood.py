"""Log-likelihoods behind the probability of detection, and where they are highest.

Both are concave in parameters of which the linear predictor of the POD at a given size is a linear function. So one
Newton's method finds the maximum, free or among the parameters that hold the POD at that size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from nefty.core.errors import ConvergenceError, InputError


class Likelihood(Protocol):
    """A log-likelihood whose linear predictor of the POD at g is ``design(g) @ parameters``."""

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and curvature (minus the Hessian, or something like it that is positive)."""
        ...

    def information(self, parameters: np.ndarray) -> np.ndarray:
        """Whose inverse is the covariance of the parameters."""
        ...

    def design(self, g: float) -> np.ndarray:
        """The derivative of the linear predictor at the transformed size g; its second entry is g."""
        ...


@dataclass(frozen=True, eq=False)
class HitMiss:
    """Log-likelihood of hits and misses for (b0, b1), with Firth's penalty if asked for.

    Args:
        g: transformed sizes.
        hits: booleans.
        link: of ``LINKS``.
        firth: add log det(information)/2 (Firth 1993; Jeffreys' prior).
    """

    g: np.ndarray
    hits: np.ndarray
    link: str
    firth: bool = False

    def design(self, g: float) -> np.ndarray:
        """(1, g)."""
        return np.array([1.0, g])

    def information(self, parameters: np.ndarray) -> np.ndarray:
        """Expected, without the penalty."""
        return self._terms(parameters)[2]

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and curvature: the expected information, or with the penalty differences of the gradient."""
        value, gradient, information = self._terms(parameters)
        if not self.firth or not math.isfinite(value):
            return value, gradient, information
        steps = np.diag(1e-4 / np.sqrt(np.diag(information)))
        curvature = np.array(
            [(self._terms(parameters - e)[1] - self._terms(parameters + e)[1]) / (2 * e.sum()) for e in steps]
        )
        curvature = (curvature + curvature.T) / 2
        positive = curvature[0, 0] > 0 and np.linalg.det(curvature) > 0
        return value, gradient, curvature if positive else information

    def _terms(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and expected information."""
        columns = np.stack([np.ones_like(self.g), self.g])
        eta = parameters @ columns
        sign = np.where(self.hits, 1.0, -1.0)
        if self.link == "logit":
            value = float(special.log_expit(sign * eta).sum())
            score = sign * special.expit(-sign * eta)
            weight = special.expit(eta) * special.expit(-eta)
            weight_slope = -np.tanh(eta / 2)  # d log(weight)/d eta
        else:
            value = float(special.log_ndtr(sign * eta).sum())
            up, down = _mills(eta), _mills(-eta)  # phi/Phi, phi/(1 - Phi)
            score = np.where(self.hits, up, -down)
            weight = up * down
            weight_slope = -2 * eta - up + down
        information = (columns * weight) @ columns.T
        gradient = columns @ score
        if self.firth:
            sign_of, log_determinant = np.linalg.slogdet(information)
            if sign_of <= 0:  # so far out that all weights vanish
                return -math.inf, gradient, information
            leverage = weight * (columns * np.linalg.solve(information, columns)).sum(axis=0)
            value += 0.5 * float(log_determinant)
            gradient = gradient + 0.5 * columns @ (leverage * weight_slope)
        return value, gradient, information


@dataclass(frozen=True, eq=False)
class CensoredLine:
    """Log-likelihood of a line with normal scatter and censored values, for (beta0, beta1, 1)/tau.

    In these parameters (Olsen 1978) it is concave, and the linear predictor of the POD is linear.

    Args:
        g: transformed sizes.
        y: transformed signals, censored ones at their limit.
        below: censored at the low limit.
        above: censored at the high limit.
        level: transformed threshold.
    """

    g: np.ndarray
    y: np.ndarray
    below: np.ndarray
    above: np.ndarray
    level: float

    def design(self, g: float) -> np.ndarray:
        """(1, g, -threshold)."""
        return np.array([1.0, g, -self.level])

    def information(self, parameters: np.ndarray) -> np.ndarray:
        """Observed."""
        return self(parameters)[2]

    def start(self) -> np.ndarray:
        """Least squares of the signals that are known; a line without scatter is refused."""
        known = ~(self.below | self.above)
        columns = np.stack([np.ones(known.sum()), self.g[known]], axis=1)
        beta = np.linalg.lstsq(columns, self.y[known], rcond=None)[0]
        tau = float(np.std(self.y[known] - columns @ beta))
        if tau <= 1e-9 * max(np.ptp(self.y[known]), np.abs(self.y[known]).max()):
            raise InputError("the signals lie on a line without scatter; a POD needs the scatter of real signals.")
        return np.array([*beta, 1.0]) / tau

    def __call__(self, parameters: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Value, gradient and minus the Hessian; minus infinity where 1/tau is not positive."""
        precision = parameters[2]
        if precision <= 0:
            return -math.inf, np.zeros(3), np.eye(3)
        columns = np.stack([-np.ones_like(self.g), -self.g, self.y])
        r = parameters @ columns  # the standardised residual (y - beta0 - beta1 g)/tau
        known = ~(self.below | self.above)
        count = int(known.sum())
        low, high = _mills(r), _mills(-r)
        terms = np.select([self.below, self.above], [special.log_ndtr(r), special.log_ndtr(-r)], -(r**2) / 2)
        score = np.select([self.below, self.above], [low, -high], -r)
        weight = np.select([self.below, self.above], [low * (r + low), high * (high - r)], 1.0)
        value = float(terms.sum()) + count * (math.log(precision) - 0.5 * math.log(2 * math.pi))
        information = (columns * weight) @ columns.T
        information[2, 2] += count / precision**2
        return value, columns @ score + np.array([0.0, 0.0, count / precision]), information


def maximum(likelihood: Likelihood, start: np.ndarray, basis: np.ndarray) -> tuple[np.ndarray, float]:
    """Parameters and value at the maximum over ``start + basis @ u``, by Newton with halved steps."""
    at = start.astype(np.float64)
    value, gradient, curvature = likelihood(at)
    for _ in range(200):
        step = basis @ _solved(basis.T @ curvature @ basis, basis.T @ gradient)
        expected = float(gradient @ step)  # twice the gain of a quadratic
        rounding = 1e-14 * (1 + abs(value))
        if expected < 0.1 * rounding:
            return at, value
        for _ in range(60):
            trial = likelihood(at + step)
            if trial[0] > value + 1e-4 * expected - rounding:
                break
            step, expected = step / 2, expected / 2
        else:
            break
        at = at + step
        value, gradient, curvature = trial
    raise ConvergenceError("the likelihood has no maximum within reach; give more targets, of more sizes.")


def _solved(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """matrix^-1 vector, scaled to a unit diagonal first so that units of size do not matter."""
    scale = np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    try:
        return np.linalg.solve(matrix / np.outer(scale, scale), vector / scale) / scale
    except np.linalg.LinAlgError:
        return vector / scale**2


def _mills(x: np.ndarray) -> np.ndarray:
    """phi(x)/Phi(x), also far out in the tail."""
    return np.exp(-(x**2) / 2 - 0.5 * math.log(2 * math.pi) - special.log_ndtr(x))
