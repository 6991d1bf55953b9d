"""A fitted curve of the probability of detection: sizes of a given POD, and their bounds."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from scipy import optimize, special

from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.metrics.detection.asymptote import Asymptote, Limited
from nefty.metrics.detection.false_calls import FalseCalls, told
from nefty.metrics.detection.likelihood import Likelihood, maximum
from nefty.metrics.detection.links import distribution, level_slope, quantile, size_of, transformed

#: Ways to the upper bound of a size: by the delta method, by the likelihood ratio.
BOUNDS = ("wald", "likelihood")


@dataclass(frozen=True, eq=False)
class Pod:
    """A fitted curve of the probability of detection.

    Args:
        kind: ``"hit/miss"`` or ``"signal response"``.
        link: F: ``"logit"`` or ``"probit"``.
        transform: g: ``"log"`` or ``"linear"``.
        parameters: of the likelihood: (b0, b1), (b0, b1, -log P), or (beta0, beta1, 1)/tau of the regression.
        covariance: of the parameters, the inverse of the information; infinite where that has none.
        confidence: one-sided, of the bounds.
        targets: how many.
        sizes: smallest and largest of them.
        log_likelihood: at the maximum, with the penalty if there is one.
        penalty: ``"none"`` or ``"firth"``.
        notes: what to know before the numbers are used; empty if there is nothing.
        likelihood: of the data, for ``size_bound``.
        asymptote: what the POD of large defects is; ``None`` if that was not asked, and 1.
        limited: the fit with an asymptote, where the curve has one.
        false_calls: that come with this POD; ``None`` if they were not measured.
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
    asymptote: Asymptote | None = None
    limited: Limited | None = field(default=None, repr=False)
    false_calls: FalseCalls | None = None

    @property
    def intercept(self) -> float:
        """b0."""
        return float(self.likelihood.design(0.0) @ self.parameters)

    @property
    def slope(self) -> float:
        """b1."""
        return float(self.parameters[1])

    @property
    def ceiling(self) -> float:
        """P, the POD of large defects."""
        return 1.0 if self.asymptote is None else self.asymptote.value

    def __call__(self, sizes: Any) -> np.ndarray:
        """POD at each size, of the same shape."""
        return self.ceiling * distribution(self.link, self.intercept + self.slope * transformed(sizes, self.transform))

    def reaches(self, pod: float) -> bool:
        """Whether there is a size with that POD."""
        return pod < self.ceiling

    def size(self, pod: float) -> float:
        """The size that is detected with probability ``pod``; an error where none is."""
        return size_of(self._transformed_size(pod), self.transform)

    def size_bound(self, pod: float = 0.9, by: str = "wald") -> float:
        """Upper bound of ``size(pod)`` with the fit's confidence; a90/95 for 0.9 and 0.95.

        The points (size_bound(p), p) are the lower confidence curve of the POD.

        Args:
            pod: probability of detection.
            by: ``"wald"``: the estimate plus z standard errors, by the delta method, in the transformed size.
                ``"likelihood"``: the largest size whose profile likelihood over all other parameters is within z^2/2 of
                the maximum; infinite if the data also fit a POD that does not depend on size, or, where the asymptote
                is fitted, an asymptote of ``pod`` or less.
        """
        one_of("by", by, BOUNDS)
        level, z = quantile(self.link, pod), float(special.ndtri(self.confidence))
        if not self.reaches(pod):
            return math.inf
        if by == "likelihood" and self.limited is not None:
            return size_of(self.limited.size_bound(pod, z**2), self.transform)
        g = self._transformed_size(pod)
        error = self._error(g, pod)
        if by == "likelihood":
            return size_of(self._profile_bound(g, error, level, z**2), self.transform)
        return size_of(g + z * error, self.transform)

    @property
    def a50(self) -> float:
        """Size of POD 0.5; an error if the curve does not reach that."""
        return self.size(0.5)

    @property
    def a90(self) -> float:
        """Size of POD 0.9; an error if the curve does not reach that."""
        return self.size(0.9)

    @property
    def a90_wald(self) -> float:
        """Upper bound of a90 by the delta method: a90/95 at confidence 0.95."""
        return self.size_bound(0.9, "wald")

    @property
    def a90_likelihood(self) -> float:
        """Upper bound of a90 by the likelihood ratio: a90/95 at confidence 0.95."""
        return self.size_bound(0.9, "likelihood")

    @property
    def a90_bound(self) -> float:
        """The bound of a90 to quote: the larger of both; with an asymptote that of the likelihood ratio."""
        return self.a90_likelihood if self.limited is not None else max(self.a90_wald, self.a90_likelihood)

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
            "asymptote": None if self.asymptote is None else asdict(self.asymptote),
            "a50": self.a50 if self.reaches(0.5) else None,
            "a90": self.a90 if self.reaches(0.9) else None,
            "a90_wald": self.a90_wald,
            "a90_likelihood": self.a90_likelihood,
            "false_call_rate": None if self.false_calls is None else self.false_calls.as_dict(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        size = "log a" if self.transform == "log" else "a"
        bound = f"a90/{100 * self.confidence:.3g}"
        curve = f"{self.link}(POD)" if self.ceiling == 1 else f"{self.link}(POD/{self.ceiling:.3g})"
        asked = (("a50", 0.5), ("a90", 0.9))
        sizes = [f"{name} {self.size(p):.4g}" if self.reaches(p) else f"no {name}" for name, p in asked]
        lines = [
            f"{self.kind}, {self.targets} targets: {curve} = {self.intercept:.4g} + {self.slope:.4g} {size}",
            *([] if self.asymptote is None else [str(self.asymptote)]),
            ", ".join(sizes),
        ]
        if self.reaches(0.9):
            wald = "" if self.limited is not None else f"{self.a90_wald:.4g} (Wald), "
            lines.append(f"{bound} {wald}{self.a90_likelihood:.4g} (likelihood ratio)")
        else:
            lines.append(f"no {bound}: {self.without(0.9)}")
        lines.append(told(self.false_calls))
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def without(self, pod: float) -> str:
        """Why there is no size with that POD, in words."""
        said = f"the POD of large defects is {self.ceiling:.3g}, not above {pod:g}"
        return said if self.asymptote is None else f"{said} ({self.asymptote.within})"

    def _transformed_size(self, pod: float) -> float:
        quantile(self.link, pod)  # a probability
        if not self.reaches(pod):
            raise InputError(
                f"no size has a POD of {pod:g}: {self.without(pod)}; find out why large defects are missed, or ask for "
                "a smaller POD."
            )
        return (quantile(self.link, pod / self.ceiling) - self.intercept) / self.slope

    def _error(self, g: float, pod: float) -> float:
        """Standard error of the transformed size g, by the delta method."""
        # g solves design(g) @ parameters = level, so dg = -design(g) @ dparameters / b1.
        gradient = -self.likelihood.design(g) / self.slope
        if self.limited is not None:  # level = F^-1(pod/P) rises with q = -log P: dlevel/dq = F/F'
            level = quantile(self.link, pod / self.ceiling)
            density = level_slope(self.link, level)
            gradient[2] = pod / self.ceiling / density / self.slope
        variance = float(gradient @ self.covariance @ gradient)
        return math.sqrt(variance) if variance >= 0 else math.inf

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
