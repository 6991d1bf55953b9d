"""Closed forms in three dimensions: they solve the equation they claim to solve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.testing import (
    continuous_decay_rate,
    cosine_mode,
    discrete_decay_rate,
    free_gaussian,
    observed_order,
)

shapes = st.tuples(*[st.integers(1, 7)] * 3)
numbers = st.tuples(*[st.integers(0, 4)] * 3)
sides = st.sampled_from(["periodic", "adiabatic"])
ratios = st.tuples(*[st.floats(0.1, 10)] * 2)


def laplacian(t, grid, alpha, lateral, anisotropy):
    """div(alpha grad T) by finite volumes, written with rolls and edge padding."""
    out = np.zeros_like(t)
    for axis, (d, r) in enumerate(zip(grid.spacing, (1.0, *anisotropy), strict=True)):
        mode = "wrap" if axis and lateral == "periodic" else "edge"
        padded = np.pad(t, [(1, 1) if a == axis else (0, 0) for a in range(3)], mode=mode)
        out += alpha * r / d**2 * np.diff(padded, 2, axis=axis)
    return out


@given(shapes, numbers, sides, ratios)
@settings(deadline=None)
def test_cosine_modes_are_eigenvectors_of_the_discrete_operator(shape, m, lateral, anisotropy):
    grid = Grid(shape, (1.0, 2.0, 3.0))
    mode = cosine_mode(grid, m, lateral)
    rate = discrete_decay_rate(grid, m, 0.3, lateral, anisotropy)
    left = laplacian(mode, grid, 0.3, lateral, anisotropy)
    assert mode.shape == shape
    largest = 4 * 0.3 * sum(r / d**2 for r, d in zip((1.0, *anisotropy), grid.spacing, strict=True))
    assert np.allclose(left, -rate * mode, rtol=0, atol=1e-13 * largest)


def test_discrete_rates_converge_to_the_continuous_ones_at_second_order():
    m, anisotropy = (2, 1, 3), (1.5, 0.5)
    errors = []
    for n in (16, 32, 64):
        grid = Grid((n, n, n), (1.0, 2.0, 3.0))
        exact = continuous_decay_rate(grid, m, 0.1, "adiabatic", anisotropy)
        errors.append(abs(discrete_decay_rate(grid, m, 0.1, "adiabatic", anisotropy) - exact))
    assert observed_order([4, 2, 1], errors) == pytest.approx(2, abs=0.05)


def test_continuous_rate_in_numbers():
    grid = Grid((4, 4, 4), (1.0, 2.0, 4.0))
    assert continuous_decay_rate(grid, (1, 0, 0), 0.1) == pytest.approx(0.1 * np.pi**2)
    assert continuous_decay_rate(grid, (0, 1, 1), 1.0, anisotropy=(2.0, 3.0)) == pytest.approx(
        2 * np.pi**2 + 3 * (np.pi / 2) ** 2
    )
    assert continuous_decay_rate(grid, (0, 1, 0), 1.0, "adiabatic") == pytest.approx((np.pi / 2) ** 2)


@given(st.floats(0, 3), ratios)
@settings(deadline=None, max_examples=25)
def test_free_gaussian_keeps_its_heat_and_spreads_by_two_alpha_t(time, anisotropy):
    grid = Grid((60, 80, 100), (60.0, 80.0, 100.0))
    alpha, sigma, centre = 0.5, 2.0, (28.0, 41.0, 47.0)
    field = free_gaussian(grid, time, alpha, sigma, centre=centre, amplitude=3.0, anisotropy=anisotropy)
    assert field.sum() == pytest.approx(3 * (2 * np.pi * sigma**2) ** 1.5, rel=1e-6)
    for axis, (x, ratio) in enumerate(zip(grid.centres(), (1.0, *anisotropy), strict=True)):
        mean = (field * x).sum() / field.sum()
        variance = (field * (x - mean) ** 2).sum() / field.sum()
        assert mean == pytest.approx(centre[axis], rel=1e-5)
        # means over cells of width 1 are wider by 1/12 than the Gaussian itself
        assert variance - 1 / 12 == pytest.approx(sigma**2 + 2 * alpha * ratio * time, rel=1e-5)


def test_free_gaussian_solves_the_heat_equation():
    anisotropy, alpha, t, dt = (2.0, 0.5), 0.3, 0.4, 1e-3
    errors = []
    for n in (35, 55, 75):
        grid = Grid((n, n, n), (10.0, 10.0, 10.0))
        before, now, after = (free_gaussian(grid, t + s, alpha, 0.8, anisotropy=anisotropy) for s in (-dt, 0, dt))
        residual = (after - before) / (2 * dt) - laplacian(now, grid, alpha, "adiabatic", anisotropy)
        errors.append(abs(residual).max())
    assert errors[-1] < 0.01
    assert observed_order([1 / 35, 1 / 55, 1 / 75], errors) == pytest.approx(2, abs=0.15)


def test_bad_modes_are_named():
    grid = Grid((2, 2, 2), (1.0, 1.0, 1.0))
    with pytest.raises(InputError, match="mode number=-1"):
        cosine_mode(grid, (0, -1, 0))
    with pytest.raises(InputError, match="Did you mean 'periodic'"):
        discrete_decay_rate(grid, (0, 0, 0), 1.0, "period")
    with pytest.raises(InputError, match="sigma=0"):
        free_gaussian(grid, 0.0, 1.0, 0.0)
