"""Probability of detection (POD) as a function of size: from hits and misses, or from the strength of signals.

POD(a) = F(b0 + b1 g(a)), F the logistic or the normal distribution, g(a) = log a or a: the models of MIL-HDBK-1823A.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import optimize, special

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError
from nefty.metrics.detection_likelihood import CensoredLine, HitMiss, Likelihood, maximum

LINKS = ("logit", "probit")
TRANSFORMS = ("log", "linear")
#: Ways to the upper bound of a size: by the delta method, by the likelihood ratio.
BOUNDS = ("wald", "likelihood")
PENALTIES = ("none", "firth")
#: Targets that MIL-HDBK-1823A asks for at least.
ENOUGH = {"hit/miss": 60, "signal response": 40}


@dataclass(frozen=True, eq=False)
class Pod:
    """A fitted curve of the probability of detection.

    Args:
        kind: ``"hit/miss"`` or ``"signal response"``.
        link: F: ``"logit"`` or ``"probit"``.
        transform: g: ``"log"`` or ``"linear"``.
        parameters: of the likelihood: (b0, b1), or (beta0, beta1, 1)/tau of the regression.
        covariance: of the parameters, the inverse of the information.
        confidence: one-sided, of the bounds.
        targets: how many.
        sizes: smallest and largest of them.
        log_likelihood: at the maximum, with the penalty if there is one.
        penalty: ``"none"`` or ``"firth"``.
        notes: what to know before the numbers are used; empty if there is nothing.
        likelihood: of the data, for ``size_bound``.
    """

    kind: str
    link: str
    transform: str
    parameters: np.ndarray
    covariance: np.ndarray
    confidence: float
    targets: int
    sizes: tuple[float, float]
    log_likelihood: float
    penalty: str
    notes: tuple[str, ...]
    likelihood: Likelihood = field(repr=False)

    @property
    def intercept(self) -> float:
        """b0."""
        return float(self.likelihood.design(0.0) @ self.parameters)

    @property
    def slope(self) -> float:
        """b1."""
        return float(self.parameters[1])

    def __call__(self, sizes: Any) -> np.ndarray:
        """POD at each size, of the same shape."""
        return _distribution(self.link, self.intercept + self.slope * _transformed(sizes, self.transform))

    def size(self, pod: float) -> float:
        """The size that is detected with probability ``pod``."""
        return _size((_quantile(self.link, pod) - self.intercept) / self.slope, self.transform)

    def size_bound(self, pod: float = 0.9, by: str = "wald") -> float:
        """Upper bound of ``size(pod)`` with the fit's confidence; a90/95 for 0.9 and 0.95.

        The points (size_bound(p), p) are the lower confidence curve of the POD.

        Args:
            pod: probability of detection.
            by: ``"wald"``: the estimate plus z standard errors, by the delta method, in the transformed size.
                ``"likelihood"``: the largest size whose profile likelihood is within z^2/2 of the maximum; infinite if
                the data also fit a POD that does not depend on size.
        """
        one_of("by", by, BOUNDS)
        level, z = _quantile(self.link, pod), float(special.ndtri(self.confidence))
        g = (level - self.intercept) / self.slope
        # g solves design(g) @ parameters = level, so dg = -design(g) @ dparameters / b1.
        gradient = -self.likelihood.design(g) / self.slope
        error = math.sqrt(gradient @ self.covariance @ gradient)
        if by == "likelihood":
            return _size(self._profile_bound(g, error, level, z**2), self.transform)
        return _size(g + z * error, self.transform)

    @property
    def a50(self) -> float:
        """Size of POD 0.5."""
        return self.size(0.5)

    @property
    def a90(self) -> float:
        """Size of POD 0.9."""
        return self.size(0.9)

    @property
    def a90_wald(self) -> float:
        """Upper bound of a90 by the delta method: a90/95 at confidence 0.95."""
        return self.size_bound(0.9, "wald")

    @property
    def a90_likelihood(self) -> float:
        """Upper bound of a90 by the likelihood ratio: a90/95 at confidence 0.95."""
        return self.size_bound(0.9, "likelihood")

    def as_dict(self) -> dict[str, Any]:
        """The numbers of a report, by name; sizes in the unit of those given."""
        return {
            "kind": self.kind,
            "link": self.link,
            "transform": self.transform,
            "penalty": self.penalty,
            "intercept": self.intercept,
            "slope": self.slope,
            "targets": self.targets,
            "confidence": self.confidence,
            "a50": self.a50,
            "a90": self.a90,
            "a90_wald": self.a90_wald,
            "a90_likelihood": self.a90_likelihood,
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        size = "log a" if self.transform == "log" else "a"
        bound = f"a90/{100 * self.confidence:.3g}"
        lines = [
            f"{self.kind}, {self.targets} targets: {self.link}(POD) = {self.intercept:.4g} + {self.slope:.4g} {size}",
            f"a50 {self.a50:.4g}, a90 {self.a90:.4g}",
            f"{bound} {self.a90_wald:.4g} (Wald), {self.a90_likelihood:.4g} (likelihood ratio)",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def _profile_bound(self, g: float, error: float, level: float, limit: float) -> float:
        def excess(at: float) -> float:
            """By how much the deviance of the best fit with POD = F(level) at ``at`` exceeds the limit."""
            return self._deviance(self.likelihood.design(at), level, 0) - limit

        flat = np.eye(len(self.parameters))[1]  # b1 = 0; if that is within the limit, so are all larger sizes
        if self._deviance(flat, 0.0, 1) <= limit:
            return math.inf
        low, high = g, g + 2 * error
        while excess(high) < 0:
            low, high = high, high + 2 * (high - low)
            if high - g > 1e6 * error:  # next to the flat case
                return math.inf
        return float(optimize.brentq(excess, low, high, xtol=1e-7 * error, rtol=1e-12))  # pyright: ignore

    def _deviance(self, row: np.ndarray, value: float, pivot: int) -> float:
        """2 (l_max - l) of the best fit with ``row @ parameters = value``; ``row[pivot]`` is 1."""
        spread = self.covariance @ row
        start = self.parameters + spread * (value - row @ self.parameters) / (row @ spread)
        if len(start) == 3:  # 1/tau stays positive
            start[2] = max(start[2], 0.1 * self.parameters[2])
        start[pivot] += value - row @ start
        basis = np.delete(np.eye(len(start)), pivot, axis=1)
        basis[pivot] = -np.delete(row, pivot)
        return 2 * (self.log_likelihood - maximum(self.likelihood, start, basis)[1])


def hit_miss(
    sizes: Any,
    hits: Any,
    *,
    link: str = "logit",
    transform: str = "log",
    confidence: float = 0.95,
    penalty: str = "none",
) -> Pod:
    """POD from targets that were found or missed, by maximum likelihood.

    Args:
        sizes: of the targets, in any unit of length.
        hits: whether each was found; booleans, or 0 and 1.
        link: ``"logit"`` or ``"probit"``.
        transform: ``"log"``: the POD is a function of log(size), or ``"linear"``.
        confidence: one-sided, of ``Pod.size_bound``.
        penalty: ``"firth"`` adds half the log determinant of the information (Firth 1993; Jeffreys' prior), which has a
            maximum also where hits and misses are separated by size, and takes away most of the small-sample bias.
    """
    one_of("link", link, LINKS)
    one_of("penalty", penalty, PENALTIES)
    g, found = _checked_sizes(sizes, transform), _checked_hits(hits)
    if len(g) != len(found):
        raise InputError(f"there are {len(g)} sizes and {len(found)} hits; give one of each per target.")
    if penalty == "none":
        _refuse_separation(np.asarray(sizes, dtype=np.float64), found)
    likelihood = HitMiss(g, found, link, penalty == "firth")
    fitted = maximum(likelihood, np.zeros(2), np.eye(2))
    if fitted[0][1] <= 0:
        raise InputError(
            f"the POD falls with size (slope {fitted[0][1]:.3g}), so that no size is the smallest one detected with "
            "90 %; check that hits are 1 and misses 0, and that larger means easier to find."
        )
    return _pod("hit/miss", link, transform, penalty, confidence, sizes, likelihood, fitted)


def signal_response(
    sizes: Any,
    signals: Any,
    threshold: float,
    *,
    low: float | None = None,
    high: float | None = None,
    transform: str = "log",
    signal_transform: str = "log",
    confidence: float = 0.95,
) -> Pod:
    """POD from the strength of signals (a-hat versus a), by a straight line with normal scatter:

    s(signal) = beta0 + beta1 g(size) + tau N(0, 1),  POD(a) = Phi((beta0 + beta1 g(a) - s(threshold))/tau).

    Signals beyond ``low`` and ``high`` count as censored (Tobit): only the side on which they lie enters.

    Args:
        sizes: of the targets, in any unit of length.
        signals: one per target, such as its contrast.
        threshold: a signal above it is a detection.
        low: signals at or below it are lost in noise.
        high: signals at or above it are saturated.
        transform: of the sizes, g: ``"log"`` or ``"linear"``.
        signal_transform: of the signals, s.
        confidence: one-sided, of ``Pod.size_bound``.
    """
    g = _checked_sizes(sizes, transform)
    level = _limit("threshold", number("threshold", threshold), signal_transform, math.nan)
    bottom, top = (_limit("low", low, signal_transform, -math.inf), _limit("high", high, signal_transform, math.inf))
    y = _transformed(_numbers("signals", signals), signal_transform, "signals")
    if len(g) != len(y):
        raise InputError(f"there are {len(g)} sizes and {len(y)} signals; give one of each per target.")
    if not bottom <= level <= top or bottom == top:
        raise InputError(
            f"threshold={threshold:g} must lie between low={low} and high={high}: "
            "what is censored cannot be decided on."
        )
    below, above = y <= bottom, y >= top
    known = ~below & ~above
    different = len(np.unique(g[known]))
    if different < 2 or known.sum() < 3:
        raise InputError(
            f"{known.sum()} signals of {different} different sizes lie between low={low} and high={high}; a line with "
            "scatter needs three signals and two sizes or more."
        )
    likelihood = CensoredLine(g, np.clip(y, bottom, top), below, above, level)
    fitted = maximum(likelihood, likelihood.start(), np.eye(3))
    if fitted[0][1] <= 0:
        raise InputError(
            f"signals fall with size (slope {fitted[0][1] / fitted[0][2]:.3g}), so that no size is the smallest one "
            "detected with 90 %; check the sign of the signals."
        )
    return _pod("signal response", "probit", transform, "none", confidence, sizes, likelihood, fitted)


def _pod(
    kind: str,
    link: str,
    transform: str,
    penalty: str,
    confidence: float,
    sizes: Any,
    likelihood: Likelihood,
    fitted: tuple[np.ndarray, float],
) -> Pod:
    """The fit with what one should know of it."""
    if not 0.5 < number("confidence", confidence) < 1:
        raise InputError(f"confidence={confidence!r} must lie between 0.5 and 1, such as 0.95.")
    parameters, value = fitted
    information = likelihood.information(parameters)
    scale = np.sqrt(np.diag(information))
    covariance = np.linalg.inv(information / np.outer(scale, scale)) / np.outer(scale, scale)
    ends = (float(np.min(sizes)), float(np.max(sizes)))
    targets = int(np.size(sizes))
    pod = Pod(kind, link, transform, parameters, covariance, confidence, targets, ends, value, penalty, (), likelihood)
    notes = []
    if targets < ENOUGH[kind]:
        notes.append(f"{targets} targets; MIL-HDBK-1823A asks for at least {ENOUGH[kind]}")
    if not ends[0] <= pod.a90 <= ends[1]:
        notes.append(f"a90={pod.a90:.4g} lies outside of the sizes tried, {ends[0]:.4g} to {ends[1]:.4g}: extrapolated")
    if math.isinf(pod.a90_likelihood):
        notes.append(
            "a POD that does not depend on size fits as well: the likelihood ratio sets no bound, do not use Wald's"
        )
    if penalty == "firth":
        notes.append("fitted with Firth's penalty")
    return replace(pod, notes=tuple(notes))


def _checked_sizes(sizes: Any, transform: str) -> np.ndarray:
    """Transformed sizes, not all equal."""
    g = _transformed(_numbers("sizes", sizes), transform)
    if g.size < 2 or np.ptp(g) == 0:
        raise InputError(f"sizes hold {np.unique(g).size} different value; a POD needs targets of several sizes.")
    return g


def _checked_hits(hits: Any) -> np.ndarray:
    values = _numbers("hits", hits)
    wrong = ~np.isin(values, (0.0, 1.0))
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise InputError(f"hits[{bad}]={values[bad]:g} must be 0 (missed) or 1 (found).")
    return values == 1


def _numbers(what: str, given: Any) -> np.ndarray:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, got {given!r}.") from None
    if values.ndim != 1 or values.size == 0:
        raise InputError(f"{what} have shape {values.shape}; give a list with one value per target.")
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"{what}[{bad}]={values[bad]} is not finite; leave that target out, or give it its limit.")
    return values


def _refuse_separation(sizes: np.ndarray, hits: np.ndarray) -> None:
    """The likelihood has a maximum if and only if the sizes of hits and misses overlap (Albert & Anderson 1984)."""
    if hits.all() or not hits.any():
        raise InputError(
            f"all {len(hits)} targets were {'found' if hits.all() else 'missed'}; the POD needs both hits and misses: "
            f"add {'smaller' if hits.all() else 'larger'} targets."
        )
    found, missed = sizes[hits], sizes[~hits]
    if missed.max() <= found.min() or found.max() <= missed.min():
        low, high = sorted((float(min(missed.max(), found.max())), float(max(missed.min(), found.min()))))
        raise InputError(
            f"hits and misses are separated by size: every target on one side of {low:.4g} to {high:.4g} was found, "
            "every one on the other missed, and any curve that is steep enough fits. Add targets of sizes around "
            'there, or use penalty="firth".'
        )


def _transformed(values: Any, transform: str, what: str = "sizes") -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if one_of("transform", transform, TRANSFORMS) == "linear":
        return values
    if not (values > 0).all():
        raise InputError(f'{what} hold {values.min():g}, which has no logarithm; use the transform "linear" for them.')
    return np.log(values)


def _limit(what: str, given: float | None, transform: str, absent: float) -> float:
    """A transformed limit of the signals; ``absent`` if there is none."""
    if given is None:
        return absent
    return float(_transformed(number(what, given), transform, what))


def _size(g: float, transform: str) -> float:
    """The size of a transformed one; infinite if it is too large for a number."""
    if transform == "linear":
        return g
    return math.exp(g) if g < 700 else math.inf


def _distribution(link: str, eta: np.ndarray) -> np.ndarray:
    return special.expit(eta) if link == "logit" else special.ndtr(eta)


def _quantile(link: str, pod: float) -> float:
    if not 0 < number("pod", pod) < 1:
        raise InputError(f"pod={pod!r} must lie between 0 and 1, such as 0.9.")
    return float(special.logit(pod) if link == "logit" else special.ndtri(pod))
