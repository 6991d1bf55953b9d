from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nefty import Boundary, Grid
from nefty.physics.conductance import FACE_MEANS, face_conductances, face_sinks, spectral_bound
from support.dense import dense_operator


def random_alpha(seed: int, shape: tuple[int, int, int]) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).uniform(0.01, 0.3, shape))


def test_means_of_two_cells_by_hand():
    a, b = torch.tensor(0.1), torch.tensor(0.3)
    assert FACE_MEANS["harmonic"](a, b).item() == pytest.approx(0.15)
    assert FACE_MEANS["arithmetic"](a, b).item() == pytest.approx(0.2)
    assert FACE_MEANS["min"](a, b).item() == pytest.approx(0.1)


def test_derivative_of_the_harmonic_mean_is_the_papers():
    a = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    b = torch.tensor(0.3, dtype=torch.float64)
    FACE_MEANS["harmonic"](a, b).backward()
    assert a.grad is not None
    assert a.grad.item() == pytest.approx(2 * 0.3**2 / (0.1 + 0.3) ** 2, rel=1e-14)


@pytest.mark.parametrize("contrast", [1e2, 1e4, 1e6, 1e8])
def test_the_derivative_of_the_harmonic_mean_keeps_its_digits_in_float32(contrast):
    a = torch.tensor(0.1, requires_grad=True)
    FACE_MEANS["harmonic"](a, torch.tensor(0.1 / contrast)).backward()
    assert a.grad is not None
    assert a.grad.item() == pytest.approx(2 / (contrast + 1) ** 2, rel=1e-5)


def test_each_face_lies_before_its_cell_and_the_outside_is_closed():
    grid = Grid((2, 3, 4), (2.0, 3.0, 8.0))
    alpha = random_alpha(0, grid.shape)
    faces = face_conductances(alpha, grid, "adiabatic", "harmonic", (3.0, 5.0))
    assert faces.shape == (3, 2, 3, 4)
    assert faces[0, 0].abs().max() == 0
    assert faces[1, :, 0].abs().max() == 0
    assert faces[2, :, :, 0].abs().max() == 0
    mean = 2 / (1 / alpha[1, 2, 1] + 1 / alpha[1, 2, 2])
    assert faces[2, 1, 2, 2].item() == pytest.approx(5.0 * mean.item() / 2.0**2)
    wrapped = face_conductances(alpha, grid, "periodic", "harmonic", (3.0, 5.0))
    mean = 2 / (1 / alpha[1, 0, 1] + 1 / alpha[1, 2, 1])
    assert wrapped[1, 1, 0, 1].item() == pytest.approx(3.0 * mean.item())


def test_a_robin_face_adds_half_a_cell_of_resistance_to_the_surface():
    grid = Grid((4, 1, 1), (2.0, 1.0, 1.0))
    alpha = torch.full(grid.shape, 0.1, dtype=torch.float64)
    h = torch.tensor(0.3, dtype=torch.float64)
    surface = face_sinks(alpha, h, h, grid, Boundary(front="robin", h_front=0.3))
    assert surface[0].item() == pytest.approx(1 / (1 / 0.3 + 0.5 / 0.2) / 0.5)
    assert surface[1].item() == 0
    cell = face_sinks(alpha, h, h, grid, Boundary(back="robin", h_back=0.3, robin="cell"))
    assert cell[1].item() == pytest.approx(0.3 / 0.5)


@given(
    seed=st.integers(0, 10_000),
    lateral=st.sampled_from(["periodic", "adiabatic"]),
    mean=st.sampled_from(sorted(FACE_MEANS)),
    h=st.floats(0, 5),
    contrast=st.floats(0, 5),
)
def test_the_spectrum_lies_within_the_bound_and_is_not_positive(seed, lateral, mean, h, contrast):
    grid = Grid((3, 2, 4), (1.0, 1.5, 2.0))
    alpha = random_alpha(seed, grid.shape)
    alpha[1, 0, 1:3] *= 10.0**-contrast
    boundary = Boundary(lateral, "robin", "robin", h, h)
    faces = face_conductances(alpha, grid, lateral, mean, (2.0, 0.5))
    loss = torch.tensor(h, dtype=torch.float64)
    sinks = face_sinks(alpha, loss, loss, grid, boundary)
    spectrum = np.linalg.eigvalsh(dense_operator(alpha.numpy(), grid, boundary, mean, (2.0, 0.5)))
    bound = spectral_bound(faces, sinks)
    assert spectrum.max() <= 1e-10
    assert -spectrum.min() <= bound * (1 + 1e-12)
    assert -spectrum.min() >= bound / 4  # a bound that is far too large would waste terms
