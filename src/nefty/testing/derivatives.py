"""Is the gradient the gradient, and is the transpose the transpose?

Arguments may be numpy arrays or torch tensors; torch is not imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.errors import InputError

DEFAULT_STEPS = tuple(0.1 * 4.0**-k for k in range(12))
FITTED = 3  # remainders the order is fitted to: the smallest that rounding leaves alone
HEADROOM = 1e3  # how far above rounding a remainder must be to be believed


@dataclass(frozen=True)
class TaylorCheck:
    """Remainders of a first-order Taylor expansion; prints as a table.

    Args:
        steps: the steps e, decreasing.
        remainders: |f(x + e v) - f(x) - e g.v| at each step.
        fitted: which of them the order is fitted to.
        order: the exponent of e; 2 for a correct gradient, 1 for a wrong one, infinity if no remainder is
            above rounding (the function is linear along v).
        required: the least order that passes.
    """

    steps: tuple[float, ...]
    remainders: tuple[float, ...]
    fitted: tuple[bool, ...]
    order: float
    required: float = 1.9

    @property
    def passed(self) -> bool:
        """Whether the order is at least the required one."""
        return self.order >= self.required

    def __str__(self) -> str:
        rows = [
            f"{e:12.3e} {r:12.3e}{'  fitted' if f else ''}"
            for e, r, f in zip(self.steps, self.remainders, self.fitted, strict=True)
        ]
        verdict = "passed" if self.passed else "FAILED, this is not the gradient of this function at this point"
        if np.isinf(self.order):
            verdict += ", but no remainder is above rounding: a linear function, or steps too small"
        summary = f"order {self.order:.2f} (at least {self.required:g} expected): {verdict}"
        return "\n".join([f"{'step':>12} {'remainder':>12}", *rows, summary])


def taylor_order(
    function: Callable[[Any], Any],
    gradient: Any,
    point: Any,
    direction: Any,
    steps: Sequence[float] | None = None,
    *,
    precision: float | None = None,
) -> TaylorCheck:
    """Measure how |f(x + e v) - f(x) - e g.v| vanishes with e; order 2 proves g at x along v.

    The order is fitted to the smallest remainders that are above rounding: there a gradient that is only
    nearly right shows order 1.

    Args:
        function: f, from an array to a number.
        gradient: g as an array, or a function that returns it at a point.
        point: x, floating point; its dtype sets what counts as rounding.
        direction: v, shaped like x; where x must stay positive, take v proportional to it.
        steps: the steps e; if not given, 0.1 and 11 more, each a quarter of the last, times |x|/|v|.
        precision: relative accuracy of f where it is worse than rounding, such as a solver's tolerance.
    """
    x, v = _flat(point), _flat(direction)
    g = _flat(gradient(point) if callable(gradient) else gradient)
    if not x.size == v.size == g.size:
        raise InputError(f"point, direction and gradient have {x.size}, {v.size}, {g.size} entries; need the same.")
    if not np.any(v):
        raise InputError("direction is zero everywhere; draw a random one.")
    if steps is None:
        scale = float(np.linalg.norm(x) or 1.0) / float(np.linalg.norm(v))
        steps = [e * scale for e in DEFAULT_STEPS]
    e = np.sort(np.asarray(steps, dtype=float))[::-1]
    if e.size < 2 or e[-1] <= 0 or np.unique(e).size < e.size:
        raise InputError(f"steps={list(steps)} must be at least two different positive numbers.")

    slope = float(g @ v)
    f0 = _number(function(point))
    values = np.array([_number(function(point + float(step) * direction)) for step in e])
    remainders = np.abs(values - f0 - e * slope)
    if precision is None:
        precision = float(np.finfo(_dtype(point)).eps)
    floor = HEADROOM * precision * np.maximum(np.maximum(np.abs(values), abs(f0)), np.abs(e * slope))
    order, fitted = _fit(e, remainders, floor)
    return TaylorCheck(tuple(e.tolist()), tuple(remainders.tolist()), tuple(fitted.tolist()), order)


def dot_product(jvp: Callable[[Any], Any], vjp: Callable[[Any], Any], x: Any, y: Any) -> float:
    """Return |<J x, y> - <x, J^T y>| / (|J x| |y|): rounding, if vjp is the transpose of jvp.

    Args:
        jvp: x -> J x.
        vjp: y -> J^T y.
        x: an array, or a tuple of arrays where J takes several.
        y: the same on the other side.
    """
    forward, backward, x, y = _flat(jvp(x)), _flat(vjp(y)), _flat(x), _flat(y)
    if forward.size != y.size or backward.size != x.size:
        raise InputError(
            f"J x has {forward.size} entries and y {y.size}, J^T y has {backward.size} and x {x.size}; "
            "they must pair up."
        )
    scale = float(np.linalg.norm(forward) * np.linalg.norm(y))
    if not (np.isfinite(scale) and np.isfinite(backward).all()):
        raise InputError("J x, J^T y, x or y holds NaN or infinity; nothing can be compared.")
    if scale == 0:
        raise InputError("J x or y is zero everywhere, which proves nothing; draw x and y at random.")
    return abs(float(forward @ y) - float(x @ backward)) / scale


def _fit(steps: np.ndarray, remainders: np.ndarray, floor: np.ndarray) -> tuple[float, np.ndarray]:
    """Order over the last ``FITTED`` remainders above the floor, and which those are.

    A single one is compared with the floor at the next step, which bounds the order from below.
    """
    fitted = np.zeros(steps.size, dtype=bool)
    visible = np.flatnonzero(remainders > floor)
    if visible.size == 0:
        return np.inf, fitted
    last = visible[-FITTED:]
    fitted[last] = True
    e, r = steps[last], remainders[last]
    if last.size == 1:
        other = last[0] + 1 if last[0] + 1 < steps.size else last[0] - 1
        e, r = np.append(e, steps[other]), np.append(r, floor[other])
    x, y = np.log(e), np.log(r)
    return float(np.polynomial.polynomial.polyfit(x - x.mean(), y, 1)[1]), fitted


def _flat(value: Any) -> np.ndarray:
    """All entries of an array, a tensor or a tuple of them, in float64."""
    if isinstance(value, (tuple, list)):
        return np.concatenate([_flat(v) for v in value])
    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return np.asarray(value, dtype=np.float64).ravel()


def _number(value: Any) -> float:
    """The one number a function returned."""
    flat = _flat(value)
    if flat.size != 1 or not np.isfinite(flat[0]):
        raise InputError(f"function must return one finite number, got {value!r}.")
    return float(flat[0])


def _dtype(point: Any) -> np.dtype:
    """Floating-point type of an array or a tensor; float64 for a plain number."""
    if hasattr(point, "detach"):
        point = point.detach().cpu().numpy()
    dtype = np.asarray(point).dtype
    if dtype.kind != "f":
        raise InputError(f"point has dtype {dtype}; steps are fractions, so give floating-point numbers.")
    return dtype
