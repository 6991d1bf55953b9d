import numpy as np
import pytest
import torch

from nefty.core.errors import InputError
from nefty.pinn.features import AxisFeatures, axis_features

ALL = [AxisFeatures(kind, harmonics) for kind in ("line", "cooling", "walls", "ring") for harmonics in (1, 3)]


@pytest.mark.parametrize("features", ALL)
def test_derivatives_are_those_of_automatic_differentiation(features):
    u = torch.linspace(-1, 1, 7, dtype=torch.float64).requires_grad_()
    value, slope, bend = features.jet(u)
    assert value.shape == (7, features.size)
    for k in range(features.size):
        (first,) = torch.autograd.grad(value[:, k].sum(), u, create_graph=True)
        torch.testing.assert_close(slope[:, k], first)
        if first.requires_grad:
            second = torch.autograd.grad(first.sum(), u, retain_graph=True, allow_unused=True, materialize_grads=True)[
                0
            ]
            torch.testing.assert_close(bend[:, k], second)
        else:
            assert (bend[:, k] == 0).all()


@pytest.mark.parametrize("harmonics", [1, 3])
def test_walls_have_no_slope_at_the_ends_and_tell_them_apart(harmonics):
    value, slope, _ = AxisFeatures("walls", harmonics).jet(torch.tensor([-1.0, 1.0], dtype=torch.float64))
    assert slope.abs().max() < 1e-14
    assert value[0, 0] == pytest.approx(1)
    assert value[1, 0] == pytest.approx(-1)


def test_a_ring_closes_with_value_and_both_derivatives():
    for part in AxisFeatures("ring", 3).jet(torch.tensor([-1.0, 1.0], dtype=torch.float64)):
        torch.testing.assert_close(part[0], part[1], atol=1e-12, rtol=0)


def test_cooling_stretches_the_time_after_the_flash():
    value = AxisFeatures("cooling")(torch.tensor([-1.0, -0.96, 1.0], dtype=torch.float64))
    np.testing.assert_allclose(value[:, 0], [-1, -0.96, 1])
    np.testing.assert_allclose(value[:, 1], [-1, 2 * np.log(2) / np.log(51) - 1, 1], atol=1e-12)


def test_features_follow_the_sides():
    def kinds(lateral, **options):
        return [f.kind for f in axis_features(lateral, harmonics=2, **options)]

    assert kinds("periodic", hard=True, cooling=True) == ["cooling", "walls", "ring", "ring"]
    assert kinds("adiabatic", hard=True, cooling=False) == ["line", "walls", "walls", "walls"]
    assert kinds("periodic", hard=False, cooling=True) == ["cooling", "line", "line", "line"]


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match="walls"):
        AxisFeatures("wall")
