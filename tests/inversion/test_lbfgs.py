"""Limited-memory BFGS within a box, against scipy's."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from nefty.inversion.lbfgs import ProjectedLBFGS

SIZE = 12


RANDOM = np.random.default_rng(3)
TURN = np.linalg.qr(RANDOM.standard_normal((SIZE, SIZE)))[0]
MATRIX = torch.from_numpy(TURN * np.geomspace(1, 1e3, SIZE) @ TURN.T)
TARGET = torch.from_numpy(RANDOM.standard_normal(SIZE))


def quadratic(x):
    """Condition 1e3, with a coupling that makes the box matter."""
    gap = MATRIX @ (x - TARGET)
    return 0.5 * float((x - TARGET) @ gap), gap


def rosenbrock(x):
    at = x.detach().clone().requires_grad_()
    value = (100 * (at[1:] - at[:-1] ** 2) ** 2 + (1 - at[:-1]) ** 2).sum()
    (gradient,) = torch.autograd.grad(value, at)
    return float(value.detach()), gradient


def solve(function, start, low=None, high=None, steps=500):
    optimiser = ProjectedLBFGS(start, low, high)
    for _ in range(steps):
        optimiser.step(function)
        if optimiser.stuck:
            break
    return optimiser


def by_scipy(function, start, low=None, high=None):
    def evaluate(x):
        value, gradient = function(torch.from_numpy(x))
        return value, gradient.numpy()

    bounds = None if low is None or high is None else list(zip(low.tolist(), high.tolist(), strict=True))
    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    return minimize(evaluate, start.numpy(), jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def test_a_known_hessian_needs_one_step():
    """With H^-1 given, the first direction is Newton's; its first length is 1 at most in the largest unknown."""
    inverse = torch.linalg.inv(MATRIX)
    optimiser = ProjectedLBFGS(TARGET + 0.1, inverse_at=lambda x: lambda vector, free: inverse @ vector)
    optimiser.step(quadratic)
    assert optimiser.x.numpy() == pytest.approx(TARGET.numpy(), abs=1e-9)


def test_what_is_known_is_kept_when_pairs_are_learned():
    """Where half of the Hessian is known, fewer steps are needed than where nothing is."""
    known = torch.linalg.inv(MATRIX + torch.diag(torch.linspace(0, 5, SIZE).double()))
    steps = {}
    for name, inverse_at in (("nothing", None), ("nearly all", lambda x: lambda vector, free: known @ vector)):
        optimiser = ProjectedLBFGS(torch.zeros(SIZE).double(), memory=3, inverse_at=inverse_at)
        while optimiser.value is None or optimiser.value > 1e-8:
            optimiser.step(quadratic)
            steps[name] = steps.get(name, 0) + 1
    assert 2 * steps["nearly all"] < steps["nothing"]


START = torch.full((SIZE,), -0.5, dtype=torch.float64)
BOXES = {
    "no box": (None, None),
    "a box around it all": (torch.full((SIZE,), -50.0).double(), torch.full((SIZE,), 50.0).double()),
    "a tight box": (torch.full((SIZE,), -0.6).double(), torch.linspace(0.1, 0.8, SIZE).double()),
}


@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("function", [quadratic, rosenbrock])
def test_it_finds_the_minimum_that_scipy_finds(function, box):
    low, high = BOXES[box]
    theirs = by_scipy(function, START, low, high)
    ours = solve(function, START, low, high)
    assert ours.value == pytest.approx(theirs.fun, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(ours.x.numpy(), theirs.x, atol=2e-4)
    if low is not None:
        assert bool(((ours.x >= low) & (ours.x <= high)).all())
    if box == "a tight box":
        assert 0 < int(((ours.x == low) | (ours.x == high)).sum()) < SIZE + 1


def test_it_needs_about_as_many_evaluations_as_scipy():
    calls = []

    def counted(x):
        calls.append(1)
        return rosenbrock(x)

    theirs = by_scipy(rosenbrock, START).nfev
    optimiser = ProjectedLBFGS(START)
    while optimiser.value is None or optimiser.value > 1e-10:
        optimiser.step(counted)
        assert len(calls) < 4 * theirs


def test_every_step_goes_down_and_says_how_far():
    low, high = BOXES["a tight box"]
    optimiser = ProjectedLBFGS(START, low, high)
    optimiser.step(rosenbrock)
    for _ in range(20):
        before, value = optimiser.x.clone(), optimiser.value
        length = optimiser.step(rosenbrock)
        assert length == pytest.approx(float((optimiser.x - before).norm()))
        assert optimiser.value is not None
        assert value is not None
        assert optimiser.value <= value
        if optimiser.stuck:
            break
        assert rosenbrock(optimiser.x)[0] == optimiser.value


def test_a_start_outside_the_box_is_moved_into_it():
    low, high = torch.zeros(SIZE).double(), torch.ones(SIZE).double()
    optimiser = ProjectedLBFGS(torch.full((SIZE,), 7.0).double(), low, high)
    assert torch.equal(optimiser.x, high)


def test_the_start_is_not_changed():
    start = START.clone()
    solve(quadratic, start, steps=3)
    assert torch.equal(start, START)


@pytest.mark.parametrize("box", ["no box", "a tight box"])
def test_a_state_goes_on_bit_for_bit(box):
    low, high = BOXES[box]
    first = ProjectedLBFGS(START, low, high, memory=5)
    for _ in range(8):
        first.step(rosenbrock)
    state = first.state()
    second = ProjectedLBFGS(torch.zeros(SIZE).double(), low, high, memory=5)
    second.restore(state)
    for _ in range(10):
        assert first.step(rosenbrock) == second.step(rosenbrock)
        assert first.value == second.value
        assert torch.equal(first.x, second.x)
    assert len(first.pairs) == len(second.pairs) <= 5


def test_a_state_does_not_change_while_the_optimiser_goes_on():
    optimiser = ProjectedLBFGS(START)
    optimiser.step(rosenbrock)
    state = optimiser.state()
    kept = state["x"].copy(), state["gradient"].copy()
    optimiser.step(rosenbrock)
    assert np.array_equal(state["x"], kept[0])
    assert np.array_equal(state["gradient"], kept[1])


def test_at_a_minimum_it_is_stuck_and_stays():
    def bowl(x):
        return float((x * x).sum()), 2 * x

    optimiser = ProjectedLBFGS(torch.zeros(SIZE).double())
    assert optimiser.step(bowl) == 0
    assert optimiser.stuck
    assert not optimiser.x.any()


def test_in_a_corner_of_the_box_it_is_stuck():
    def slope(x):
        return float(x.sum()), torch.ones_like(x)

    optimiser = solve(slope, START, torch.full((SIZE,), -1.0).double(), torch.ones(SIZE).double(), steps=50)
    assert optimiser.stuck
    assert bool((optimiser.x == -1).all())


def test_a_function_that_cannot_be_lowered_is_given_up():
    """A gradient that points the wrong way: no step helps, and it says so rather than go up."""

    def wrong(x):
        value, gradient = quadratic(x)
        return value, -gradient

    optimiser = ProjectedLBFGS(START)
    assert optimiser.step(wrong) == 0
    assert optimiser.stuck
    assert torch.equal(optimiser.x, START)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_shorten_the_step(bad):
    def walled(x):
        """Not defined beyond 0.3 from the start along any axis, until the first step was taken."""
        if float((x - START).abs().max()) > 0.3:
            return bad, torch.full_like(x, np.nan)
        return quadratic(x)

    optimiser = ProjectedLBFGS(START)
    for _ in range(20):
        optimiser.step(walled)
        assert bool(torch.isfinite(optimiser.x).all())
        assert float((optimiser.x - START).abs().max()) <= 0.3
    assert optimiser.value is not None
    assert optimiser.value < quadratic(START)[0]


def test_single_precision_stays_single_and_converges():
    def single(x):
        value, gradient = quadratic(x.double())
        return value, gradient.float()

    optimiser = solve(single, START.float(), steps=200)
    assert optimiser.x.dtype == torch.float32
    assert optimiser.value is not None
    assert optimiser.value < 1e-6 * quadratic(START)[0]


# Curvature that is handed on. The values v = scale * x are the same for both optimisers, their unknowns x are not.

SCALE = torch.from_numpy(np.geomspace(0.2, 5.0, SIZE))


def in_values(function, scale):
    """A function of values, by unknowns."""

    def evaluate(x):
        value, gradient = function(x * scale)
        return value, gradient * scale

    return evaluate


def handed_on(first, before, after, memory=20):
    """An optimiser at the same values, with unknowns of scale ``after``, that learned from the first."""
    second = ProjectedLBFGS(first.x * before / after, memory=memory)
    second.learn(first.learned(before), after)
    return second


@pytest.mark.parametrize("function", [quadratic, rosenbrock])
@pytest.mark.parametrize(("before", "after"), [(1.0, 4.0), (0.5, 0.125), (SCALE, 2 * SCALE), (SCALE, SCALE)])
def test_what_was_learned_leads_to_the_same_next_step(function, before, after):
    """Scales in a ratio that is a power of two, so that nothing is rounded; but for that of SCALE itself."""
    first = ProjectedLBFGS(START / before)
    for _ in range(6):
        first.step(in_values(function, before))
    second = handed_on(first, before, after)
    assert len(second.pairs) == len(first.pairs) > 1
    for _ in range(3):
        first.step(in_values(function, before))
        second.step(in_values(function, after))
        torch.testing.assert_close(second.x * after, first.x * before, rtol=1e-9, atol=1e-9)


def test_curvature_known_in_all_directions_is_known_at_any_scale():
    """Conjugate pairs, as many as unknowns: the inverse of the matrix, so that the next step is the last."""
    first = ProjectedLBFGS(START)
    for s in torch.from_numpy(TURN.T.copy()):
        first.pairs.append((s, MATRIX @ s))
    second = handed_on(first, 1.0, SCALE)
    second.step(in_values(quadratic, SCALE))
    torch.testing.assert_close(second.x * SCALE, TARGET, rtol=1e-8, atol=1e-8)


def test_the_last_step_is_understood_at_any_scale():
    """The secant equation H y = s, whatever the first guess of H is."""
    first = ProjectedLBFGS(START)
    for _ in range(6):
        first.step(rosenbrock)
    second = handed_on(first, 1.0, SCALE)
    s, y = second.pairs[-1]
    torch.testing.assert_close(second._direction(y, torch.ones_like(y)), -s)
    torch.testing.assert_close(s * SCALE, first.pairs[-1][0])
    torch.testing.assert_close(y / SCALE, first.pairs[-1][1])


def test_only_as_much_is_learned_as_the_memory_holds():
    first = ProjectedLBFGS(START)
    for _ in range(9):
        first.step(rosenbrock)
    second = handed_on(first, 1.0, 1.0, memory=3)
    assert len(second.pairs) == 3
    for (s, y), (s_first, y_first) in zip(second.pairs, first.pairs[-3:], strict=True):
        assert torch.equal(s, s_first)
        assert torch.equal(y, y_first)


def test_the_order_of_what_was_learned_is_kept_beyond_ten_pairs():
    first = ProjectedLBFGS(START)
    for _ in range(14):
        first.step(rosenbrock)
    assert len(first.pairs) > 10
    second = handed_on(first, 1.0, 1.0)
    assert all(torch.equal(s, s_first) for (s, _), (s_first, _) in zip(second.pairs, first.pairs, strict=True))


def test_what_was_learned_is_a_copy():
    first = ProjectedLBFGS(START)
    for _ in range(3):
        first.step(rosenbrock)
    learned = first.learned()
    learned["0"]["s"][:] = 7.0
    assert not bool((first.pairs[0][0] == 7).any())
