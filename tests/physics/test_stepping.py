from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from nefty import (
    SDIRK2,
    Boundary,
    ForError,
    Geometric,
    Grid,
    HeatModel,
    ImplicitEuler,
    InputError,
    PerFrame,
    TopHatPulse,
)
from nefty.physics.stepping import EULER, SDIRK
from nefty.testing import observed_order
from support.dense import dense_operator

GRID = Grid((4, 3, 3), (1.0, 1.0, 1.5))
ALPHA = np.random.default_rng(1).uniform(0.05, 0.3, GRID.shape)
BOUNDARY = Boundary("adiabatic", "robin", "robin", 0.4, 0.2)
MATRIX = dense_operator(ALPHA, GRID, BOUNDARY, "harmonic", (1.0, 1.0))
START = np.random.default_rng(2).uniform(0, 1, GRID.shape)


def solve(integrator, times, initial: object = START, **kwargs) -> np.ndarray:
    model = HeatModel(
        GRID, times, initial, BOUNDARY, integrator=integrator, dtype="float64", observe="volume", **kwargs
    )
    return model(torch.from_numpy(ALPHA)).numpy().reshape(len(times), -1)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
def test_a_step_is_the_dense_step(kernel):
    identity, dt = np.eye(GRID.cells), 0.3
    euler = np.linalg.solve(identity - dt * MATRIX, START.ravel())
    np.testing.assert_allclose(solve(ImplicitEuler(), [dt], kernel=kernel)[0], euler, rtol=1e-10)
    g = 1 - 1 / np.sqrt(2)
    m = identity - g * dt * MATRIX
    sdirk = np.linalg.solve(m, np.linalg.solve(m, START.ravel() + (1 - 2 * g) * dt * MATRIX @ START.ravel()))
    np.testing.assert_allclose(solve(SDIRK2(), [dt], kernel=kernel)[0], sdirk, rtol=1e-10)


@pytest.mark.parametrize(("integrator", "order"), [(ImplicitEuler, 1.0), (SDIRK2, 2.0)])
@pytest.mark.parametrize("heated", [False, True])
def test_order_in_time_against_the_matrix_exponential(integrator, order, heated):
    """The heating of the pulse enters with the order of the scheme too."""
    end = 0.8
    if heated:
        initial = TopHatPulse(1.0, 0.5)
        rate = np.zeros(GRID.shape)
        rate[0] = GRID.shape[0] / 0.5 / (1 + 0.4 * GRID.spacing[0] / (2 * ALPHA[0]))  # the rest is lost at the surface
        inverse = np.linalg.inv(MATRIX)
        after_pulse = inverse @ (expm(0.5 * MATRIX) - np.eye(GRID.cells)) @ rate.ravel()
        exact = expm(0.3 * MATRIX) @ after_pulse
    else:
        initial, exact = START, expm(end * MATRIX) @ START.ravel()
    substeps = [8, 16, 32, 64]
    errors = [float(np.linalg.norm(solve(integrator(steps=PerFrame(n)), [end], initial)[0] - exact)) for n in substeps]
    assert observed_order(1 / np.array(substeps), errors) == pytest.approx(order, abs=0.2)


def test_the_schemes_are_l_stable():
    for scheme in (EULER, SDIRK):
        z = -np.geomspace(1e-3, 1e9, 300)
        assert abs(scheme.amplification(z)).max() <= 1
        assert abs(scheme.amplification(np.array([-1e12]))).max() < 1e-9
        np.testing.assert_allclose(scheme.source(z), (scheme.amplification(z) - 1) / z, rtol=1e-6)


@pytest.mark.parametrize("initial", ["flash", "pulse"])
@pytest.mark.parametrize("error", [1e-2, 1e-3, 1e-4])
def test_a_plan_for_an_error_keeps_it(initial, error):
    grid = Grid((16, 6, 6), (1.0, 2.0, 2.0))
    z, _, _ = grid.centres()
    source = np.broadcast_to(np.exp(-(z**2) / 0.08), grid.shape) if initial == "flash" else TopHatPulse(1.0, 0.1)
    alpha = torch.full(grid.shape, 0.15, dtype=torch.float64)
    alpha[6:8, 2:4, 2:4] = 0.01
    times = np.geomspace(0.05, 5, 20)
    exact = HeatModel(grid, times, source, dtype="float64")(alpha)
    model = HeatModel(grid, times, source, dtype="float64", integrator=SDIRK2(steps=ForError(error, 0.15)))
    reached = float((model(alpha) - exact).square().mean().sqrt())
    assert reached <= 1.1 * error  # the prediction is for the slab without its defect
    assert reached >= error / 50  # and the plan is not far finer than needed


def test_fewer_steps_than_frames_need_fewer_solves():
    times = np.geomspace(0.05, 5, 12)
    model = HeatModel(GRID, times, START, BOUNDARY, integrator=SDIRK2(steps=Geometric(0.0125)), dtype="float64")
    model(torch.from_numpy(ALPHA))
    assert model.status.solves <= 2 * 32


def test_wrong_parts_are_refused():
    with pytest.raises(InputError, match="steps=3"):
        SDIRK2(steps=3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="solver='cg'"):
        ImplicitEuler(solver="cg")  # pyright: ignore[reportArgumentType]
