"""How much the frames say about each cell, against the dense Jacobian."""

import numpy as np
import pytest
import torch
from scipy.ndimage import gaussian_filter

from nefty import Boundary, Grid, HeatModel, UniformFlash
from nefty.inversion.recipe_sections import SensitivitySettings
from nefty.inversion.sensitivity import sensitivity, step_scale

GRID = Grid((4, 6, 6), (1.0, 3.0, 3.0))
TIMES = 0.4 * np.arange(1, 9)
NUMBERS = SensitivitySettings()


def dense_diagonal(model, alpha, seen):
    """2 scale sum over counted frames of (d frame/d log alpha_i)^2, cell by cell."""
    linearization = model.linearize(alpha)
    found = np.empty(GRID.shape)
    for index in np.ndindex(GRID.shape):
        move = torch.zeros(GRID.shape, dtype=torch.float64)
        move[index] = alpha[index]
        found[index] = np.sum((linearization.jvp(move).numpy() * seen.counted) ** 2)
    return 2 * seen.scale * found


@pytest.mark.parametrize(("lateral", "observe"), [("periodic", "front"), ("adiabatic", "both")])
def test_random_probes_find_the_diagonal_of_the_dense_matrix(seen, rng, lateral, observe):
    model = HeatModel(GRID, TIMES, UniformFlash(50.0, 0.3), Boundary(lateral), observe=observe, dtype="float64")
    alpha = rng.uniform(0.05, 0.2, GRID.shape)
    frames = model(alpha).numpy()
    counted = rng.random(frames.shape) < 0.8
    made = seen(frames * counted, GRID, TIMES, counted=counted)
    mean = np.mean([sensitivity(model, alpha, made, seed, NUMBERS) for seed in range(40)], axis=0)
    exact = dense_diagonal(model, alpha, made)
    smooth = gaussian_filter(exact, NUMBERS.smoothing, mode="wrap" if lateral == "periodic" else "nearest", axes=(1, 2))
    np.testing.assert_allclose(mean, smooth, rtol=0.25)
    np.testing.assert_allclose(mean.mean(axis=(1, 2)), smooth.mean(axis=(1, 2)), rtol=0.1)


def test_the_same_seed_gives_the_same_estimate(seen):
    model = HeatModel(GRID, TIMES, UniformFlash(50.0, 0.3))
    alpha = np.full(GRID.shape, 0.1)
    made = seen(model(alpha).numpy(), GRID, TIMES)
    one, same, other = (sensitivity(model, alpha, made, seed, NUMBERS) for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert (one > 0).all()


def test_cells_of_which_the_frames_say_less_get_longer_steps():
    curvature = np.geomspace(1e3, 1e-3, 64).reshape(4, 4, 4)
    scale = step_scale(curvature, 0.3).ravel()
    assert scale.mean() == pytest.approx(1)
    assert (np.diff(scale) > 0).all()
    strong = step_scale(np.array([1e8, 1e10]), 0.3)
    assert strong[1] / strong[0] == pytest.approx(0.1, rel=1e-6)  # curvature^(-1/2)
    nothing = step_scale(np.zeros(8), 0.3)
    assert np.allclose(nothing, 1)
