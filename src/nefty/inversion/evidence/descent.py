"""Minimise a misfit that is costly to run and whose curvature is cheap to apply, with penalties and bounds.

A proximal Newton method: around the present unknowns the misfit is replaced by

    misfit + gradient . d + k/2 d . curvature d,

the penalties and bounds stay as they are, and that cheap problem is solved by a quasi-Newton method. k follows what
the misfit really did along the last step; it grows where a step did not pay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

INNER = 60  # steps of the cheap problem
PAIRS = 20  # that its quasi-Newton method remembers
LEAST, MOST = 0.3, 1e3  # of k
NOTHING = 1.0  # fall of half a squared misfit over its variance that noise makes
HARDER = 3.0  # k grows by so much at least where a step did not pay


@dataclass(frozen=True, eq=False)
class Costly:
    """A misfit at some unknowns.

    Args:
        value: of the misfit.
        gradient: of it.
    """

    value: float
    gradient: np.ndarray


Slope = Callable[[np.ndarray], tuple[float, np.ndarray]]


def descend(
    misfit: Callable[[np.ndarray], Costly],
    curvature: Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]],
    penalty: Slope,
    start: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    reach: np.ndarray,
    runs: int,
    settled: float,
) -> tuple[np.ndarray, list[float]]:
    """Unknowns of the least cost found, and the cost of every run.

    Args:
        misfit: at some unknowns; costly.
        curvature: at some unknowns, a function that multiplies by it; cheap.
        penalty: value and gradient at some unknowns; cheap.
        start: unknowns to begin with.
        bounds: lowest and highest.
        reach: how far each may move in one step.
        runs: of the misfit, at most.
        settled: fall of the cost, as a share of all that was gained so far, that is not worth another step.
    """
    x = np.clip(start, *bounds)
    here, k = misfit(x), 1.0
    cost = here.value + penalty(x)[0]
    costs = [cost]
    while len(costs) < runs and k < MOST:
        product, gradient = curvature(x), here.gradient
        around = list(zip(np.maximum(bounds[0], x - reach), np.minimum(bounds[1], x + reach), strict=True))

        def cheap(y: np.ndarray) -> tuple[float, np.ndarray]:
            d = y - x  # noqa: B023 - used before x changes
            bent = k * product(d)  # noqa: B023
            more, slope = penalty(y)
            return float(gradient @ d + bent @ d / 2) + more, gradient + bent + slope  # noqa: B023

        options = {"maxiter": INNER, "maxcor": PAIRS, "ftol": 1e-9}
        found = minimize(cheap, x, jac=True, method="L-BFGS-B", bounds=around, options=options)
        there = misfit(found.x)
        costs.append(there.value + penalty(found.x)[0])
        d = found.x - x
        bend = float(product(d) @ d) / 2
        really = (there.value - here.value - float(gradient @ d)) / bend if bend > 0 else 1.0
        if not costs[-1] < cost:
            if bend <= 0:
                break
            k = max(HARDER * k, min(really, 10 * k))
            continue
        fall, x, here, cost = cost - costs[-1], found.x, there, costs[-1]
        k = float(np.clip(really, max(k / HARDER, LEAST), HARDER * k))
        if fall < max(settled * (costs[0] - cost), NOTHING):
            break
    return x, costs
