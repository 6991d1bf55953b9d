"""The descent with a cheap curvature: exact where the curvature is, and downhill where it is not."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from nefty.inversion.evidence.descent import NOTHING, Costly, descend

SIZE, FAR = 12, 1e3


def free(_):
    """No penalty."""
    return 0.0, np.zeros(SIZE)


def problem(rng):
    """A least squares problem of 30 equations whose best lies outside of some bounds."""
    matrix = rng.standard_normal((30, SIZE)) * np.geomspace(1, 20, SIZE)
    return matrix, matrix @ rng.standard_normal(SIZE) + rng.standard_normal(30)


def squares(matrix, seen):
    """Half the squared misfit, and a count of its runs."""
    runs = []

    def misfit(x):
        left = matrix @ x - seen
        runs.append(x.copy())
        return Costly(float(left @ left) / 2, matrix.T @ left)

    return misfit, runs


def curved_by(matrix, factor=1.0):
    return lambda _: lambda d: factor * matrix.T @ (matrix @ d)


def within(low, high):
    return np.full(SIZE, low), np.full(SIZE, high)


def test_a_quadratic_within_bounds_takes_two_runs_and_is_least_squares(rng):
    matrix, seen = problem(rng)
    misfit, _ = squares(matrix, seen)
    x, costs = descend(misfit, curved_by(matrix), free, np.zeros(SIZE), within(-0.3, 0.5), np.full(SIZE, FAR), 20, 1e-3)
    exact = lsq_linear(matrix, seen, (-0.3, 0.5), method="bvls", tol=1e-12)
    assert ((exact.x < -0.299) | (exact.x > 0.499)).any()
    assert costs[1] == pytest.approx(exact.cost, rel=1e-4)
    assert min(costs) == pytest.approx(exact.cost, rel=1e-4)
    np.testing.assert_allclose(matrix @ x, matrix @ exact.x, atol=0.02 * np.abs(matrix @ exact.x).max())


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_a_curvature_wrong_by_a_factor_of_10_still_leads_downhill_to_the_best(rng, factor):
    """It tries more steps; each that it takes pays, and it ends near the best."""
    matrix, seen = problem(rng)
    misfit, runs = squares(matrix, seen)
    start, bounds = np.zeros(SIZE), within(-0.3, 0.5)
    x, costs = descend(misfit, curved_by(matrix, factor), free, start, bounds, np.full(SIZE, FAR), 40, 1e-4)
    exact = lsq_linear(matrix, seen, (-0.3, 0.5), method="bvls", tol=1e-12)
    assert misfit(x).value == pytest.approx(min(costs))
    assert min(costs) - exact.cost < 0.01 * (costs[0] - exact.cost)
    assert all((bounds[0] - 1e-12 <= tried).all() and (tried <= bounds[1] + 1e-12).all() for tried in runs)
    assert len(costs) == len(runs) - 1


def test_every_step_that_it_keeps_is_lower_than_all_before(rng):
    """A misfit that bends far from its quadratic: steps that do not pay are undone, from where a shorter one starts."""
    matrix, seen = problem(rng)
    where = []

    def misfit(x):
        left = matrix @ np.sinh(2 * x) - seen
        return Costly(float(left @ left) / 2, 2 * np.cosh(2 * x) * (matrix.T @ left))

    def curvature(x):
        where.append(misfit(x).value)
        return lambda d: 0.1 * matrix.T @ (matrix @ d)

    x, costs = descend(misfit, curvature, free, np.full(SIZE, 0.5), within(-2, 2), np.full(SIZE, 1.0), 60, 1e-4)
    assert (np.diff(where) <= 0).all()
    assert max(costs) > costs[0]  # some did not pay
    assert misfit(x).value == min(costs) < 0.05 * costs[0]


def test_no_step_is_longer_than_its_reach(rng):
    matrix, seen = problem(rng)
    misfit, runs = squares(matrix, 100 * seen)
    reach = np.linspace(0.01, 0.2, SIZE)
    descend(misfit, curved_by(matrix), free, np.zeros(SIZE), within(-FAR, FAR), reach, 8, 1e-3)
    assert len(runs) == 8
    assert (np.abs(np.diff(runs, axis=0)) <= reach * (1 + 1e-9)).all()


def kinked(weight):
    """Nearly |x| of each unknown, whose slope jumps at 0 as seen from steps of the misfit."""
    return lambda x: (weight * float((np.sqrt(x**2 + 1e-6) - 1e-3).sum()), weight * x / np.sqrt(x**2 + 1e-6))


def test_kinks_do_not_stop_it(rng):
    """Each unknown by itself: the best is its own, less by the weight, or 0, and takes a few runs."""
    scale, own = np.geomspace(3, 30, SIZE), rng.standard_normal(SIZE)
    matrix, weight = np.diag(scale), 25.0
    misfit, _ = squares(matrix, scale * own)
    start = -3 * own  # on the other side of every kink
    x, costs = descend(misfit, curved_by(matrix), kinked(weight), start, within(-9, 9), np.full(SIZE, FAR), 10, 1e-4)
    best = np.sign(own) * np.maximum(np.abs(own) - weight / scale**2, 0)
    assert (best == 0).sum() >= 3
    least = misfit(best).value + kinked(weight)(best)[0]
    assert min(costs) - least < 1e-3 * (costs[0] - least)
    np.testing.assert_allclose(scale * x, scale * best, atol=0.5)


@pytest.mark.parametrize("runs", [1, 2, 3])
def test_the_misfit_is_run_no_more_often_than_allowed(rng, runs):
    matrix, seen = problem(rng)
    misfit, tried = squares(matrix, 50 * seen)
    _, costs = descend(
        misfit, curved_by(matrix, 3.0), free, np.zeros(SIZE), within(-9, 9), np.full(SIZE, 0.1), runs, 0.0
    )
    assert len(tried) == len(costs) == runs


def test_it_stops_where_a_step_gains_less_than_the_settled_share(rng):
    """By steps a tenth of the way, each gains 0.81 of the one before: a larger share needs fewer of them."""
    matrix, seen = problem(rng)
    needed = []
    for settled in (0.3, 0.1, 1e-3):
        misfit, _ = squares(matrix, 50 * seen)
        reach = 0.1 * np.abs(np.linalg.lstsq(matrix, 50 * seen)[0])
        _, costs = descend(misfit, curved_by(matrix), free, np.zeros(SIZE), within(-FAR, FAR), reach, 40, settled)
        falls = -np.diff(costs)
        assert (falls[:-1] >= settled * (costs[0] - np.array(costs[1:-1]))).all()
        assert falls[-1] < max(settled * (costs[0] - costs[-1]), NOTHING)
        needed.append(len(costs))
    assert needed[0] < needed[1] < needed[2] < 40


def test_what_noise_could_make_is_not_worth_another_step(rng):
    matrix, seen = problem(rng)
    misfit, _ = squares(1e-3 * matrix, 1e-3 * seen)
    _, costs = descend(
        misfit, curved_by(1e-3 * matrix), free, np.zeros(SIZE), within(-9, 9), np.full(SIZE, 0.01), 40, 0.0
    )
    assert len(costs) == 2
    assert 0 < costs[0] - costs[1] < NOTHING


def test_a_start_outside_of_its_bounds_is_moved_into_them(rng):
    matrix, seen = problem(rng)
    misfit, runs = squares(matrix, seen)
    descend(misfit, curved_by(matrix), free, np.full(SIZE, 5.0), within(-0.3, 0.5), np.full(SIZE, FAR), 1, 1e-3)
    np.testing.assert_array_equal(runs[0], np.full(SIZE, 0.5))
