"""Minimise a misfit that is costly to run and whose curvature is cheap to apply, with penalties and bounds.

A proximal Newton method: around the present unknowns the misfit is replaced by

    misfit + gradient . d + k/2 d . curvature d,

the penalties and bounds stay as they are, and that cheap problem is solved by a quasi-Newton method within a box
around them. k follows what the misfit really did along the last step; where a step did not pay, the box shrinks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

INNER = 60  # steps of the cheap problem
PAIRS = 20  # that its quasi-Newton method remembers
LEAST = 0.3  # of k
SHRINK, GROW = 0.3, 2.0  # of the box, where a step did not pay and where it did
SMALLEST = 1e-3  # of the box
NOTHING = 1.0  # fall of half a squared misfit over its variance that noise makes
QUICKLY = 3.0  # by which k changes at most


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
    here, k, size = misfit(x), 1.0, 1.0
    cost = here.value + penalty(x)[0]
    costs = [cost]
    while len(costs) < runs and size > SMALLEST:
        product, gradient = curvature(x), here.gradient
        around = list(
            zip(np.maximum(bounds[0], x - size * reach), np.minimum(bounds[1], x + size * reach), strict=True)
        )

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
        really = (there.value - here.value - float(gradient @ d)) / max(bend, 1e-30)
        if bend <= 0:
            break
        if not costs[-1] < cost:
            size, k = SHRINK * size, float(np.clip(really, k, QUICKLY * k))
            continue
        fall, x, here, cost = cost - costs[-1], found.x, there, costs[-1]
        size, k = min(GROW * size, 1.0), float(np.clip(really, max(k / QUICKLY, LEAST), QUICKLY * k))
        if fall < max(settled * (costs[0] - cost), NOTHING):
            break
    return x, costs
