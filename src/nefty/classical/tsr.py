"""TSR, thermographic signal reconstruction (Shepard 2002): ln T as a polynomial in ln t, and its derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence as Listing
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from nefty.classical.decays import Decays, parabola_peak
from nefty.classical.estimate import DepthEstimate, known, needed
from nefty.core.checks import count, number, one_of
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence

#: depth = factor sqrt(alpha t*): exact for an adiabatic slab, and the paper's.
RELATIONS = {"slab": math.sqrt(math.pi), "paper": 1.8}
PEAKS = ("local", "polynomial")
WEIGHTS = ("uniform", "log-time", "signal")
WIDTHS = (1.5, 1.25, 1.0, 0.8, 0.6)
SIGMAS = 4.0
LOCAL_ORDER = 4
NODES = 64
GRID = 512


@dataclass(frozen=True, eq=False)
class TsrResult:
    """The fit of every pixel.

    Args:
        times: that were fitted, (t,).
        coefficients: of the Chebyshev polynomials in ln t, scaled to -1..1 over ``times``, (order + 1, y, x).
        log_rms: root mean square of the residual of ln T, (y, x).
        left_out: number of values at or below 0, which have no logarithm and are not in the fit, (y, x).
        peak_time: t*, when d2 ln T/d(ln t)2 peaks, (y, x); NaN without an interior peak.
        peak_height: of that derivative, (y, x); 0.4737 over an adiabatic back face.
        peak: ``"local"`` or ``"polynomial"``.
        relation: ``"slab"``, sqrt(pi alpha t*), or ``"paper"``, 1.8 sqrt(alpha t*).
        depth: (y, x), ``None`` without alpha.
    """

    times: np.ndarray
    coefficients: np.ndarray
    log_rms: np.ndarray
    left_out: np.ndarray
    peak_time: np.ndarray
    peak_height: np.ndarray
    peak: str
    relation: str
    depth: np.ndarray | None = None

    def log_rise(self, times: Listing[float] | np.ndarray) -> np.ndarray:
        """The fitted ln T at any times within the recording, (t, y, x)."""
        return self._derivative(times, 0)

    def d1(self, times: Listing[float] | np.ndarray) -> np.ndarray:
        """d ln T/d ln t of the polynomial, (t, y, x); -1/2 for a half space."""
        return self._derivative(times, 1)

    def d2(self, times: Listing[float] | np.ndarray) -> np.ndarray:
        """d2 ln T/d(ln t)2 of the polynomial, (t, y, x); 0 for a half space."""
        return self._derivative(times, 2)

    def estimate(self) -> DepthEstimate:
        """The depth; of the back face under sound pixels, so without a mask."""
        depth = known(self.depth, "a depth by TSR")
        formula = "sqrt(pi alpha t*)" if self.relation == "slab" else "1.8 sqrt(alpha t*)"
        return DepthEstimate(depth, None, "TSR", f"{formula}, {self.peak} second derivative")

    def maps(self) -> dict[str, np.ndarray]:
        """What is worth a look, by name."""
        found = {} if self.depth is None else {"depth": self.depth}
        return {**found, "peak time": self.peak_time, "peak height": self.peak_height, "rms of ln T": self.log_rms}

    def _derivative(self, times: Listing[float] | np.ndarray, order: int) -> np.ndarray:
        t = np.atleast_1d(np.asarray(times, dtype=np.float64))
        if not ((t >= self.times[0] * (1 - 1e-9)) & (t <= self.times[-1] * (1 + 1e-9))).all():
            raise InputError(f"the polynomial holds from {self.times[0]:g} to {self.times[-1]:g}, not outside.")
        u, slope = _scaled(self.times, t)
        part = chebyshev.chebder(self.coefficients, order, scl=slope) if order else self.coefficients
        return np.moveaxis(chebyshev.chebval(u, part), -1, 0)


def tsr(
    sequence: Sequence,
    alpha: float | None = None,
    *,
    order: int = 5,
    weights: str | np.ndarray = "uniform",
    peak: str = "local",
    widths: Listing[float] = WIDTHS,
    least: float = 0.05,
    relation: str = "slab",
    window: tuple[float, float] | None = None,
) -> TsrResult:
    """Fit ln T against ln t and find the depth from the peak of the second derivative.

    The time t* of the peak is found in one of two ways. ``"polynomial"`` is the textbook's: the highest interior peak
    of the fitted polynomial, which on the exact slab is off by up to a fifth, by where the recording begins and ends.
    ``"local"``, the default, fits a quartic around every point of the ln t axis, over the same ``widths`` to both
    sides; the exact second derivative is symmetric about its peak, so this one stays in its place.

    Args:
        sequence: the recording.
        alpha: diffusivity through the thickness, for a depth.
        order: of the polynomial.
        weights: of the values in its fit: ``"uniform"``; ``"log-time"``, by the stretch of ln t that a frame stands
            for; ``"signal"``, T^2, the inverse variance of ln T under white noise; or one weight per frame.
        peak: ``"local"`` or ``"polynomial"``.
        widths: of the local fit, to each side in ln t; a narrower one is tried where a wider one sees no peak.
        least: peaks of the second derivative below this height are none; nor are those of the local one below four
            times its noise, which follows from sigma/T, the noise of ln T.
        relation: ``"slab"``, L = sqrt(pi alpha t*), exact over an adiabatic back face; or ``"paper"``,
            L = 1.8 sqrt(alpha t*).
        window: first and last time that count.
    """
    order = count("order", order, at_least=3)
    one_of("peak", peak, PEAKS)
    factor = RELATIONS[one_of("relation", relation, RELATIONS)]
    least = number("least", least, at_least=0)
    decays = Decays.of(sequence, window, at_least=order + 2)
    u, slope = _scaled(decays.times, decays.times)
    basis = chebyshev.chebvander(u, order)
    weight = _weights(weights, decays.times)
    operators = [_local_operator(decays.times, number("width", w, above=0)) for w in widths] if peak == "local" else []
    n, sigma = decays.pixels.size, decays.noise_per_frame()[:, None]
    coefficients, others = np.empty((order + 1, n)), np.empty((4, n))
    for part, block in decays.blocks():
        here = block > 0
        logs = np.log(np.where(here, block, 1.0))
        fit = _fit(basis, logs, here, block**2 if weight is None else weight)
        model = basis @ fit
        rest = np.where(here, logs - model, 0.0)
        used = np.maximum(here.sum(axis=0), 1)
        coefficients[:, part] = fit
        others[0, part] = np.where(np.isfinite(fit[0]), np.sqrt((rest**2).sum(axis=0) / used), np.nan)
        others[1, part] = (~here).sum(axis=0)
        if peak == "local":
            others[2:, part] = _local_peak(
                operators, np.where(here, logs, model), sigma * np.exp(-np.clip(model, -300, 300)), least
            )
        else:
            others[2:, part] = _polynomial_peak(fit, slope, decays.times, least)
    peak_time = decays.image(others[2])
    depth = None if alpha is None else factor * np.sqrt(needed(alpha, "a depth by TSR") * peak_time)
    log_rms, left_out = decays.image(others[0]), decays.image(others[1])
    height = decays.image(others[3])
    return TsrResult(
        decays.times, decays.image(coefficients), log_rms, left_out, peak_time, height, peak, relation, depth
    )


def _scaled(times: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, float]:
    """ln t scaled so that ``times`` span -1..1, and d(scaled)/d(ln t)."""
    first, last = math.log(times[0]), math.log(times[-1])
    slope = 2 / (last - first)
    return np.clip((np.log(at) - first) * slope - 1, -1, 1), slope


def _weights(given: str | np.ndarray, times: np.ndarray) -> np.ndarray | None:
    """One per frame, (t,); ``None`` where they come from the signal."""
    if isinstance(given, str):
        one_of("weights", given, WEIGHTS)
        if given == "signal":
            return None
        return np.ones(times.size) if given == "uniform" else np.gradient(np.log(times))
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != times.shape or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise InputError(f"weights of shape {weights.shape} must be {times.size} numbers of at least 0, one per frame.")
    return weights


def _fit(basis: np.ndarray, logs: np.ndarray, here: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted least squares of every pixel, (order + 1, n); NaN where too few values are left."""
    terms = basis.shape[1]
    out = np.full((terms, logs.shape[1]), np.nan)
    rest = np.ones(logs.shape[1], dtype=bool)
    if weight.ndim == 1:
        root = np.sqrt(weight)[:, None]
        whole = here.all(axis=0)
        out[:, whole] = np.linalg.lstsq(root * basis, root * logs[:, whole], rcond=None)[0]
        rest, weight = ~whole, weight[:, None]
    rest &= here.sum(axis=0) > terms
    if not rest.any():
        return out
    w = (here * weight)[:, rest]
    w = w / w.max(axis=0)
    products = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
    gram = (w.T @ products).reshape(-1, terms, terms)
    gram += 1e-13 * np.trace(gram, axis1=1, axis2=2)[:, None, None] * np.eye(terms)
    right = (w * logs[:, rest]).T @ basis
    out[:, rest] = np.linalg.solve(gram, right[..., None])[..., 0].T
    return out


def _polynomial_peak(fit: np.ndarray, slope: float, times: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Time and height of the highest interior peak of the polynomial's second derivative."""
    u = np.linspace(-1, 1, GRID)
    d2 = chebyshev.chebval(u, chebyshev.chebder(fit, 2, scl=slope)).T
    inner = d2[1:-1]
    tops = np.where((inner > d2[:-2]) & (inner >= d2[2:]) & (inner >= least), inner, -np.inf)
    place, height = parabola_peak(d2, tops.argmax(axis=0) + 1)
    found = np.isfinite(tops.max(axis=0))
    log_t = math.log(times[0]) + place * (u[1] - u[0]) / slope
    return np.where(found, np.exp(log_t), np.nan), np.where(found, height, np.nan)


def _local_operator(times: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """ln t of equidistant nodes, and the matrix (nodes, t) that takes ln T to its second derivative there.

    A quartic by least squares over ``width`` to both sides, with Epanechnikov's weights per stretch of ln t. Nodes
    nearer than that to the ends, or with too few frames, are left out; they are always the first ones.
    """
    u, stretch = np.log(times), np.gradient(np.log(times))
    nodes, rows = [], []
    for node in np.linspace(u[0] + width, u[-1] - width, NODES) if u[-1] - u[0] > 2 * width else ():
        s = (u - node) / width
        near = np.flatnonzero(np.abs(s) < 1)
        if near.size < LOCAL_ORDER + 3:
            nodes, rows = [], []
            continue
        root = np.sqrt(stretch[near] * (1 - s[near] ** 2))
        inverse = np.linalg.pinv(root[:, None] * np.vander(s[near], LOCAL_ORDER + 1, increasing=True))
        row = np.zeros(times.size)
        row[near] = 2 / width**2 * inverse[2] * root
        nodes.append(node)
        rows.append(row)
    return np.array(nodes), np.array(rows).reshape(len(rows), times.size)


def _local_peak(
    operators: Listing[tuple[np.ndarray, np.ndarray]], logs: np.ndarray, noise: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Time and height of the highest local second derivative, where that is not the first or last node.

    ``noise`` is the standard deviation of ``logs``.
    """
    when, high = (np.full(logs.shape[1], np.nan) for _ in range(2))
    for nodes, operator in operators:
        if nodes.size < 3:
            continue
        d2 = operator @ logs
        at = np.where(np.isfinite(d2), d2, -np.inf).argmax(axis=0)
        inside = (at > 0) & (at < nodes.size - 1)
        place, height = parabola_peak(d2, np.clip(at, 1, nodes.size - 2))
        spread = np.sqrt(np.einsum("nt,nt->n", operator[at] ** 2, (noise**2).T))
        new = np.isnan(when) & inside & (height >= np.maximum(least, SIGMAS * spread))
        when[new] = np.exp(nodes[0] + place[new] * (nodes[1] - nodes[0]))
        high[new] = height[new]
    return when, high
