"""Dual cone gradient descent: inside the cone, closed forms, cases in the plane."""

import math

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.pinn.dcgd import OPPOSED, RULES, DualCone, dual_cone_step
from nefty.pinn.losses import Losses
from nefty.pinn.settings import Weights

vectors = st.lists(st.floats(-10, 10), min_size=4, max_size=4).map(lambda v: torch.tensor(v, dtype=torch.float64))


def plane(x, y):
    return torch.tensor([x, y], dtype=torch.float64)


@pytest.mark.parametrize("rule", RULES)
@given(residual=vectors, rest=vectors)
def test_steps_lie_in_the_dual_cone(rule, residual, rest):
    assume(residual.norm() > 1e-3)
    assume(rest.norm() > 1e-3)
    step = dual_cone_step(residual, rest, rule)
    slack = 1e-9 * float(step.norm()) + 1e-12
    assert float(step @ residual) >= -slack * float(residual.norm())
    assert float(step @ rest) >= -slack * float(rest.norm())


@given(residual=vectors, rest=vectors)
def test_center_is_the_part_of_the_sum_along_the_bisector(residual, rest):
    assume(residual.norm() > 1e-3)
    assume(rest.norm() > 1e-3)
    bisector = residual / residual.norm() + rest / rest.norm()
    assume(bisector.norm() > 1e-3)
    total = residual + rest
    expected = (bisector @ total) / (bisector @ bisector) * bisector
    torch.testing.assert_close(dual_cone_step(residual, rest, "center"), expected, rtol=1e-9, atol=1e-9)


def test_cases_in_the_plane():
    residual, rest = plane(4.0, 0.0), plane(-1.0, 1.0)
    # g = (3, 1); g . rest = -2 < 0: the sum hurts the other losses, g . residual = 12 does not.
    torch.testing.assert_close(dual_cone_step(residual, rest, "projection"), plane(2.0, 2.0))
    # projections: (4, 0) + 2 (-1, 1) = (2, 2) and (-1, 1) + (1/4)(4, 0) = (0, 1); their mean
    torch.testing.assert_close(dual_cone_step(residual, rest, "average"), plane(1.0, 1.5))
    root = math.sqrt(2)
    half = (4 + root) / 2
    torch.testing.assert_close(dual_cone_step(residual, rest, "center"), half * plane(1 - 1 / root, 1 / root))


def test_projection_the_other_way_round():
    residual, rest = plane(-1.0, 1.0), plane(4.0, 0.0)
    torch.testing.assert_close(dual_cone_step(residual, rest, "projection"), plane(2.0, 2.0))


@pytest.mark.parametrize("rule", ["projection", "average"])
def test_a_sum_within_the_cone_stays(rule):
    residual, rest = plane(1.0, 0.0), plane(-0.5, 2.0)
    torch.testing.assert_close(dual_cone_step(residual, rest, rule), plane(0.5, 2.0))


@pytest.mark.parametrize("rule", RULES)
def test_a_vanishing_gradient_leaves_the_other(rule):
    torch.testing.assert_close(dual_cone_step(plane(0.0, 0.0), plane(1.0, 2.0), rule), plane(1.0, 2.0))


def toy(p, q):
    """pde = (p + q)^2, data = (p - 2)^2, nothing else."""
    zero = 0 * p.sum()
    return Losses((p - 2).square().sum(), (p + q).square(), zero, None, zero)


def test_it_replaces_the_gradient_of_all_parameters():
    p = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    balance = DualCone(Weights(tv=0.0), [p, q], "projection")
    used = balance.backward(toy(p, q), 0.0)
    # residual (3, 3), rest (-2, 0): the sum (1, 3) hurts the rest; the step is the residual's part across it, (0, 3).
    assert p.grad is not None
    assert q.grad is not None
    assert float(p.grad) == pytest.approx(0.0, abs=1e-12)
    assert float(q.grad) == pytest.approx(3.0)
    assert used["cosine"] == pytest.approx(-1 / math.sqrt(2))
    assert balance.finished is None


def test_it_stops_where_the_gradients_are_opposed():
    p = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    balance = DualCone(Weights(tv=0.0), [p], "center")
    zero = 0 * p.sum()
    balance.backward(Losses((p - 2).square().sum(), p.square(), zero, None, zero), 0.0)
    assert balance.finished is not None
    assert "opposed" in balance.finished
    assert pytest.approx(-1 + 1e-8, abs=1e-12) == OPPOSED


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match="center"):
        DualCone(Weights(), [], "centre")
