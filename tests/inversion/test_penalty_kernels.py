from __future__ import annotations

import numpy as np
import pytest
import torch

from nefty import Grid
from nefty.inversion.misfit_kernel import weighted_squares
from nefty.inversion.penalties import TotalVariation, Trial, VoidWell
from nefty.inversion.penalty_kernels import variation

SHAPES = [(4, 5, 6), (1, 1, 1), (3, 1, 2), (2, 7, 1)]


def random_volume(shape: tuple[int, int, int]) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(1).uniform(0.01, 0.3, shape)).requires_grad_()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("back", ["free", "sound"])
@pytest.mark.parametrize("depth_gain", [0.0, 2.0])
@pytest.mark.parametrize("depth_apart", [0.0, 0.5, 1.0])
def test_compiled_variation_is_torchs_with_its_derivative(shape, lateral, back, depth_gain, depth_apart):
    grid = Grid(shape, (2.0, 3.0, 4.0))
    penalty = TotalVariation(smoothing=0.1, back=back, depth_gain=depth_gain, depth_apart=depth_apart)
    one, other = random_volume(shape), random_volume(shape)
    trial = Trial(one, grid, lateral, torch.full((shape[0], 1, 1), np.log(0.2)))
    compiled = penalty(trial)
    reference = penalty.of(Trial(other, grid, lateral, trial.log_background).log_ratio(), grid, lateral, unit=2.0)
    (3.0 * compiled).backward()
    (3.0 * reference).backward()
    assert compiled.item() == pytest.approx(reference.item(), rel=1e-13)
    assert one.grad is not None
    torch.testing.assert_close(one.grad, other.grad, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("periodic", [True, False])
def test_variation_that_counts_depth_apart_is_its_formula(periodic):
    a = random_volume((3, 4, 5))
    compiled = variation(
        a, (1.0, 0.5, 0.25), 0.1, periodic=periodic, sound_back=True, gains=np.ones(3), depth_apart=0.4
    )
    z = torch.cat([a[1:] - a[:-1], -a[-1:]])
    y, x = (a.roll(-1, 1) - a) / 0.5, (a.roll(-1, 2) - a) / 0.25
    if not periodic:
        y = torch.cat([y[:, :-1], 0 * y[:, -1:]], 1)
        x = torch.cat([x[:, :, :-1], 0 * x[:, :, -1:]], 2)
    least, side = 0.01, y**2 + x**2
    root = 0.6 * (z**2 + side + least).sqrt() + 0.4 * ((z**2 + least).sqrt() + (side + least).sqrt())
    reference = root.sum() * 0.125
    assert compiled.item() == pytest.approx(reference.item(), rel=1e-13)
    (got,) = torch.autograd.grad(compiled, a)
    (want,) = torch.autograd.grad(reference, a)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-12)


def test_compiled_well_is_its_formula_and_costs_nothing_outside():
    alpha = random_volume((4, 5, 6))
    background = torch.tensor([0.1, 0.2, 0.05, 0.4], dtype=torch.float64)[:, None, None]
    compiled = VoidWell()(Trial(alpha, Grid((4, 5, 6), (1.0, 3.0, 4.0)), "periodic", background.log()))
    deficit = 1 - alpha / background
    reference = (deficit * (1 - deficit)).clamp(min=0).sum() * (3 * 4 / (4 * 5 * 6))
    assert compiled.item() == pytest.approx(reference.item(), rel=1e-13)
    (got,) = torch.autograd.grad(compiled, alpha)
    (want,) = torch.autograd.grad(reference, alpha)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_compiled_misfit_is_the_weighted_sum_with_its_derivative(dtype):
    random = torch.Generator().manual_seed(0)
    shape = (2, 3, 5, 7)
    measured, weights = (torch.rand(shape, generator=random, dtype=torch.float64) for _ in range(2))
    measured = measured.to(dtype)
    predicted = torch.rand(shape, generator=random, dtype=torch.float64).to(dtype).requires_grad_()
    compiled = weighted_squares(predicted, measured, weights)
    reference = (weights * (predicted - measured).double().square()).sum()
    assert compiled.dtype == torch.float64
    assert compiled.item() == pytest.approx(reference.item(), rel=1e-13)
    (got,) = torch.autograd.grad(2.5 * compiled, predicted)
    (want,) = torch.autograd.grad(2.5 * reference, predicted)
    torch.testing.assert_close(got, want)
