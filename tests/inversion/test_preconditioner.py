"""The inverse of what is known of the curvature, against the dense matrix."""

import numpy as np
import pytest
import torch

from nefty import Grid
from nefty.inversion.penalties import SparseAnomaly, StrataVariation, TotalVariation, Trial
from nefty.inversion.preconditioner import PenaltyPreconditioner, with_springs
from nefty.inversion.recipe_sections import PreconditionerSettings

SHAPE = (3, 4, 5)
EXACT = PreconditionerSettings(kind="penalties", steps=200, tolerance=1e-7)


def dense(diagonal, faces):
    """The matrix of the springs, cell by cell."""
    number = np.arange(diagonal.size).reshape(SHAPE)
    matrix = np.diag(diagonal.ravel())
    for axis in range(3):
        for at in np.ndindex(SHAPE):
            here, strength = number[at], faces[(axis, *at)]
            matrix[here, here] += strength
            if axis == 0 and at[0] + 1 == SHAPE[0]:
                continue  # to what is fixed
            step = list(at)
            step[axis] = (step[axis] + 1) % SHAPE[axis]
            there = number[tuple(step)]
            matrix[there, there] += strength
            matrix[here, there] -= strength
            matrix[there, here] -= strength
    return matrix


@pytest.fixture
def springs(rng):
    return rng.uniform(0.3, 2, SHAPE), rng.uniform(0, 5, (3, *SHAPE))


def test_it_is_the_inverse_between_free_unknowns(rng, springs):
    diagonal, faces = springs
    scale, vector = rng.uniform(0.5, 2, SHAPE), rng.standard_normal(diagonal.size)
    free = rng.random(diagonal.size) > 0.3
    inverse = PenaltyPreconditioner(torch.from_numpy(diagonal), torch.from_numpy(faces), torch.from_numpy(scale), EXACT)
    got = inverse(torch.from_numpy(vector), torch.from_numpy(free.astype(float))).numpy()
    matrix = scale.ravel()[:, None] * dense(diagonal, faces) * scale.ravel()
    expected = np.zeros_like(vector)
    expected[free] = np.linalg.solve(matrix[np.ix_(free, free)], vector[free])
    assert got == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_free_layers_of_the_background_are_solved_for_beside_the_cells(rng, springs):
    diagonal, faces = (torch.from_numpy(s) for s in springs)
    cells, root = diagonal.numel(), rng.standard_normal((3, 3))
    curvature, between = root @ root.T, np.array([0.7, 2.0])
    layers = with_springs(curvature, between)
    chain = np.array([[0.7, -0.7, 0.0], [-0.7, 2.7, -2.0], [0.0, -2.0, 2.0]])
    np.testing.assert_allclose(layers, curvature + chain, atol=1e-5 * np.trace(layers))
    alone = PenaltyPreconditioner(diagonal, faces, torch.ones(SHAPE), EXACT)
    both = PenaltyPreconditioner(diagonal, faces, torch.ones(SHAPE), EXACT, layers)
    vector, free = torch.from_numpy(rng.standard_normal(cells + 3)), torch.ones(cells + 3)
    got = both(vector, free)
    assert torch.equal(got[:cells], alone(vector[:cells], free[:cells]))
    assert got[cells:].numpy() == pytest.approx(np.linalg.solve(layers, vector[cells:].numpy()), rel=1e-9)


def test_few_steps_point_downhill(rng, springs):
    diagonal, faces = (torch.from_numpy(s) for s in springs)
    vector, free = torch.from_numpy(rng.standard_normal(diagonal.numel())), torch.ones(diagonal.numel())
    few = PenaltyPreconditioner(diagonal, faces, torch.ones(SHAPE), PreconditionerSettings(kind="penalties", steps=2))
    assert float(few(vector, free) @ vector) > 0


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("penalty", [
    TotalVariation(smoothing=0.1, back="sound"), TotalVariation(smoothing=0.1, back="free", depth_gain=2.0),
    TotalVariation(smoothing=0.1, back="sound", depth_apart=1.0), TotalVariation(depth_apart=0.4), SparseAnomaly(),
])  # fmt: skip
def test_springs_touch_their_penalty_from_above(rng, penalty, lateral):
    """R(b) <= R(a) + R'(a) (b - a) + 1/2 (b - a)^T S (b - a): the quadratic form lies above and is tangent."""
    grid, layers = Grid(SHAPE, (0.9, 2.0, 3.0)), torch.tensor([0.1, 0.2, 0.15], dtype=torch.float64)[:, None, None]
    at = torch.from_numpy(rng.uniform(-2, 0, SHAPE)).requires_grad_()

    def cost(log_ratio):
        return penalty(Trial(layers * log_ratio.exp(), grid, lateral, layers.log()))

    (slope,) = torch.autograd.grad(cost(at), at)
    found = penalty.springs(Trial(layers * at.exp(), grid, lateral, layers.log()))
    anchors = np.zeros(SHAPE) if found.anchors is None else found.anchors.numpy()
    faces = np.zeros((3, *SHAPE)) if found.faces is None else found.faces.numpy()
    matrix, at = torch.from_numpy(dense(anchors, faces)), at.detach()
    for size in (1e-3, 0.1, 1.0):
        move = size * torch.from_numpy(rng.standard_normal(SHAPE))
        bound = cost(at) + (slope * move).sum() + 0.5 * move.reshape(-1) @ matrix @ move.reshape(-1)
        assert float(cost(at + move)) <= float(bound) + 1e-12


def test_springs_of_strata_touch_their_variation_from_above(rng):
    grid, alpha, penalty = Grid(SHAPE, (0.9, 2.0, 3.0)), torch.ones(SHAPE, dtype=torch.float64), StrataVariation()
    at = torch.from_numpy(rng.uniform(-2, 0, 3)).requires_grad_()

    def cost(layers):
        return penalty(Trial(alpha, grid, layers=layers))

    (slope,) = torch.autograd.grad(cost(at), at)
    springs, at = penalty.springs(Trial(alpha, grid, layers=at)), at.detach()
    assert springs is not None
    assert springs.layers is not None
    for size in (1e-3, 0.1, 1.0):
        move = size * torch.from_numpy(rng.standard_normal(3))
        bound = cost(at) + slope @ move + 0.5 * (springs.layers * move.diff() ** 2).sum()
        assert float(cost(at + move)) <= float(bound) + 1e-12
    assert float(penalty(Trial(alpha, grid))) == 0.0
    assert penalty.springs(Trial(alpha, grid)) is None
