"""Every variant solves a forward problem to under 3 %: an easy one here, that of a flash by the module itself."""

import pytest

from nefty.pinn.forward_check import CosineModes, Mode, forward_error

EASY = CosineModes([Mode(0.5, (1, 0, 0)), Mode(0.5, (0, 1, 0))], size=(1.0, 2.0, 2.0), alpha=0.1, span=1.0)
TINY = {
    "temperature.width": 24,
    "temperature.depth": 2,
    "temperature.rank": 8,
    "temperature.cooling": False,
    "points.collocation": 256,
    "points.initial": 256,
    "points.axes": (8, 8, 8, 8),
    "points.redraw": 1,
    "rates.temperature": 2e-2,
    "rates.final": 0.02,
    "weights.ic": 5.0,
    "causal.chunks": 8,
    "causal.steepness": (0.1, 1.0),
}


@pytest.mark.parametrize(("variant", "iterations"), [("gradnorm", 700), ("causal", 500), ("dcgd", 500)])
def test_a_scattered_network_learns(variant, iterations):
    assert forward_error(variant, solution=EASY, iterations=iterations, changes=TINY).error < 0.03


def test_a_separable_network_learns():
    small = {**TINY, "temperature.width": 16, "temperature.depth": 1}
    found = forward_error("spinn", solution=EASY, iterations=150, changes=small)
    assert found.error < 0.03
    assert found.iterations == 150


def test_a_network_that_does_not_learn_fails():
    assert forward_error("dcgd", solution=EASY, iterations=2, changes=TINY).error > 0.3
