"""Fits of the probability of detection (POD): to hits and misses, or to the strength of signals.

POD(a) = P F(b0 + b1 g(a)), F the logistic or the normal distribution, g(a) = log a or a: the models of MIL-HDBK-1823A,
with P = 1 there. See ``asymptote`` for P.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from nefty.core.checks import number, one_of
from nefty.core.errors import InputError
from nefty.metrics.detection.asymptote import SIGNIFICANT, Asymptote, Limited, limited
from nefty.metrics.detection.false_calls import FalseCalls
from nefty.metrics.detection.likelihood import CensoredLine, HitMiss, Likelihood, maximum
from nefty.metrics.detection.links import LINKS, size_of, transformed
from nefty.metrics.detection.pod import Pod

PENALTIES = ("none", "firth")
#: Whether P is fitted: if P = 1 is unlikely, never, always.
ASYMPTOTES = ("test", "one", "free")
#: Targets that MIL-HDBK-1823A asks for at least.
ENOUGH = {"hit/miss": 60, "signal response": 40}


def hit_miss(
    sizes: Any,
    hits: Any,
    *,
    link: str = "logit",
    transform: str = "log",
    confidence: float = 0.95,
    penalty: str = "none",
    asymptote: str = "test",
    false_calls: FalseCalls | None = None,
) -> Pod:
    """POD from targets that were found or missed, by maximum likelihood: POD(a) = P F(b0 + b1 g(a)).

    Args:
        sizes: of the targets, in any unit of length.
        hits: whether each was found; booleans, or 0 and 1.
        link: ``"logit"`` or ``"probit"``.
        transform: ``"log"``: the POD is a function of log(size), or ``"linear"``.
        confidence: one-sided, of ``Pod.size_bound``.
        penalty: ``"firth"`` adds half the log determinant of the information (Firth 1993; Jeffreys' prior), which has a
            maximum also where hits and misses are separated by size, and takes away most of the small-sample bias;
            P = 1 then.
        asymptote: of P, the POD of large defects: ``"test"``: 1, or fitted where the likelihood ratio gives P = 1 a
            p-value below 0.05; ``"one"``: 1; ``"free"``: fitted.
        false_calls: that were made beside the targets, to be told with the sizes.
    """
    one_of("link", link, LINKS)
    one_of("penalty", penalty, PENALTIES)
    one_of("asymptote", asymptote, ASYMPTOTES)
    if penalty == "firth" and asymptote == "free":
        raise InputError('penalty="firth" goes with P = 1; leave out one of penalty="firth" and asymptote="free".')
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
    pod = _pod("hit/miss", link, transform, penalty, confidence, sizes, likelihood, fitted)
    if penalty == "none" and asymptote != "one":
        pod = _with_asymptote(pod, limited(g, found, link, *fitted), always=asymptote == "free")
    return _with_notes(replace(pod, false_calls=false_calls))


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
    false_calls: FalseCalls | None = None,
) -> Pod:
    """POD from the strength of signals (a-hat versus a), by a straight line with normal scatter:

    s(signal) = beta0 + beta1 g(size) + tau N(0, 1),  POD(a) = Phi((beta0 + beta1 g(a) - s(threshold))/tau).

    Signals beyond ``low`` and ``high`` count as censored (Tobit): only the side on which they lie enters. The line goes
    on for ever, so that this POD has no asymptote below 1; a note says if the same targets as hits and misses have one.

    Args:
        sizes: of the targets, in any unit of length.
        signals: one per target, such as its contrast.
        threshold: a signal above it is a detection.
        low: signals at or below it are lost in noise.
        high: signals at or above it are saturated.
        transform: of the sizes, g: ``"log"`` or ``"linear"``.
        signal_transform: of the signals, s.
        confidence: one-sided, of ``Pod.size_bound``.
        false_calls: that were made beside the targets, to be told with the sizes.
    """
    g = _checked_sizes(sizes, transform)
    level = _limit("threshold", number("threshold", threshold), signal_transform, math.nan)
    bottom, top = (_limit("low", low, signal_transform, -math.inf), _limit("high", high, signal_transform, math.inf))
    y = transformed(_numbers("signals", signals), signal_transform, "signals")
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
    pod = _pod("signal response", "probit", transform, "none", confidence, sizes, likelihood, fitted)
    return _with_notes(replace(pod, false_calls=false_calls), _of_silent_targets(g, y > level))


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
    """The fit with its covariance."""
    if not 0.5 < number("confidence", confidence) < 1:
        raise InputError(f"confidence={confidence!r} must lie between 0.5 and 1, such as 0.95.")
    parameters, value = fitted
    covariance = _inverse(likelihood.information(parameters))
    ends = (float(np.min(sizes)), float(np.max(sizes)))
    targets = int(np.size(sizes))
    return Pod(kind, link, transform, parameters, covariance, confidence, targets, ends, value, penalty, (), likelihood)


def _with_asymptote(pod: Pod, fit: Limited, *, always: bool) -> Pod:
    """The curve with P, if that is asked for or P = 1 is unlikely; else with what the data say of P."""
    takes = always or fit.p_value < SIGNIFICANT
    low, high = fit.interval(float(special.ndtri(pod.confidence)) ** 2)
    told = Asymptote(fit.estimate if takes else 1.0, fit.estimate, low, high, fit.p_value, takes)
    if not takes:
        return replace(pod, asymptote=told)
    return replace(
        pod,
        parameters=fit.parameters,
        covariance=_inverse(fit.likelihood.information(fit.parameters)),
        log_likelihood=fit.value,
        likelihood=fit.likelihood,
        asymptote=told,
        limited=fit,
    )


def _with_notes(pod: Pod, *more: str) -> Pod:
    """The fit with what one should know of it."""
    notes, ends = [], pod.sizes
    if pod.targets < ENOUGH[pod.kind]:
        notes.append(f"{pod.targets} targets; MIL-HDBK-1823A asks for at least {ENOUGH[pod.kind]}")
    if not pod.reaches(0.9):
        notes.append("there is no a90: find out why large defects are missed")
    elif not ends[0] <= pod.a90 <= ends[1]:
        notes.append(f"a90={pod.a90:.4g} lies outside of the sizes tried, {ends[0]:.4g} to {ends[1]:.4g}: extrapolated")
    if pod.reaches(0.9) and math.isinf(pod.a90_likelihood):
        notes.append(_why_no_bound(pod))
    if pod.limited is not None and pod.limited.rise is not None:
        between = " to ".join(f"{size_of(g, pod.transform):.4g}" for g in pod.limited.rise)
        notes.append(f"the POD jumps within the sizes {between}; how steeply, the targets do not tell")
    if pod.asymptote is not None and not pod.asymptote.fitted and pod.asymptote.low <= 0.9:
        notes.append(
            f"that large defects are always found is assumed: the data alone say {pod.asymptote.within}, and set no "
            "bound to a90 without it"
        )
    if pod.penalty == "firth":
        notes.append("fitted with Firth's penalty")
    return replace(pod, notes=(*notes, *filter(None, more)))


def _why_no_bound(pod: Pod) -> str:
    if pod.asymptote is not None and pod.asymptote.fitted and pod.asymptote.low <= 0.9:
        return f"a POD of large defects of 0.9 or less is not excluded ({pod.asymptote.within}): a90 has no upper bound"
    return "a POD that does not depend on size fits as well: the likelihood ratio sets no bound, do not use Wald's"


def _of_silent_targets(g: np.ndarray, hits: np.ndarray) -> str:
    """A note if the signals above the threshold, taken as hits, have an asymptote that a line cannot have."""
    missed = g[~hits].max(initial=-math.inf)
    if hits.all() or not hits.any() or missed <= g[hits].min() or g[hits].max() <= g[~hits].min():
        return ""
    line = maximum(HitMiss(g, hits, "probit"), np.zeros(2), np.eye(2))
    if line[0][1] <= 0 or (fit := limited(g, hits, "probit", *line)).p_value >= SIGNIFICANT:
        return ""
    return (
        f"as hits and misses these targets have a POD of large ones of {fit.estimate:.3g} (P = 1 has p = "
        f"{fit.p_value:.2g}), which a line with normal scatter cannot have: use hits and misses"
    )


def _inverse(information: np.ndarray) -> np.ndarray:
    """Scaled to a unit diagonal first, so that units of size do not matter; infinite where there is none."""
    scale = np.sqrt(np.diag(information))
    scaled = information / np.outer(scale, scale)
    if not np.isfinite(scaled).all() or np.linalg.cond(scaled) > 1e14:
        return np.diag(np.full(len(scale), math.inf))
    return np.linalg.inv(scaled) / np.outer(scale, scale)


def _checked_sizes(sizes: Any, transform: str) -> np.ndarray:
    """Transformed sizes, not all equal."""
    g = transformed(_numbers("sizes", sizes), transform)
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


def _limit(what: str, given: float | None, transform: str, absent: float) -> float:
    """A transformed limit of the signals; ``absent`` if there is none."""
    if given is None:
        return absent
    return float(transformed(number(what, given), transform, what))
