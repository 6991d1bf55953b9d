from __future__ import annotations

import numpy as np
import pytest
import torch

from nefty import (
    ConjugateGradients,
    ConvergenceError,
    GaussianFlash,
    Grid,
    HeatModel,
    ImplicitEuler,
    InputError,
    Jacobi,
)
from nefty.physics.status import Status

GRID = Grid((6, 8, 8), (1.0, 2.0, 2.0))
ALPHA = torch.full(GRID.shape, 0.2, dtype=torch.float64)


def model(solver, times=(0.5, 1.0), **kwargs) -> HeatModel:
    flash = GaussianFlash(1.0, 0.5, 0.3)
    return HeatModel(GRID, times, flash, integrator=ImplicitEuler(solver=solver), dtype="float64", **kwargs)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
def test_a_solve_that_does_not_converge_is_an_error_that_says_what_to_do(kernel):
    with pytest.raises(ConvergenceError, match=r"after 2 iterations.*Raise `most`"):
        model(ConjugateGradients(1e-12, most=2), kernel=kernel)(ALPHA)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
def test_a_tolerance_beyond_the_precision_is_an_error_and_not_an_endless_loop(kernel):
    grid_model = HeatModel(
        GRID, [0.5], GaussianFlash(1.0, 0.5, 0.3), kernel=kernel,
        integrator=ImplicitEuler(solver=ConjugateGradients(1e-14, most=60)),
    )  # fmt: skip
    with pytest.raises(ConvergenceError, match="float64"):
        grid_model(ALPHA)


def test_too_few_sweeps_are_said_and_enough_are_too():
    few = model(Jacobi(2))
    few(ALPHA)
    assert not few.status.converged
    assert "not converged" in few.status.message()
    many = model(Jacobi(400))
    many(ALPHA)
    assert many.status.converged
    assert many.status.worst_residual < 1e-6
    assert many.status.iterations == 800


def test_many_sweeps_of_jacobi_give_the_result_of_conjugate_gradients():
    a, b = model(Jacobi(2000))(ALPHA), model(ConjugateGradients(1e-13))(ALPHA)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9)


def test_iterations_do_not_depend_on_the_contrast():
    counts = []
    for contrast in (20, 10_000):
        alpha = ALPHA.clone()
        alpha[2:4, 2:6, 2:6] = 0.2 / contrast
        run = model(ConjugateGradients(1e-8), times=0.1 * np.arange(1, 11))
        run(alpha)
        assert run.status.worst_residual <= 1e-8
        counts.append(run.status.iterations)
    assert counts[1] <= 2 * counts[0]


def test_the_status_speaks():
    assert "7 linear solves" in Status(solves=7, iterations=9).message()
    assert "3 applications" in Status(applications=3, time_error_bound=1e-6).message()


def test_bad_settings_are_refused():
    with pytest.raises(InputError, match="sweeps=0"):
        Jacobi(0)
    with pytest.raises(InputError, match=r"tolerance=0"):
        ConjugateGradients(0)
    with pytest.raises(InputError, match=r"most=-1"):
        ConjugateGradients(most=-1)
