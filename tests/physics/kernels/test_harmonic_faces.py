from __future__ import annotations

import pytest
import torch

from nefty import Grid
from nefty.physics.conductance import face_conductances, spectral_bound
from nefty.physics.kernels.harmonic_faces import gershgorin, harmonic_faces


@pytest.mark.parametrize("shape", [(4, 5, 6), (1, 1, 1), (3, 1, 4), (2, 2, 2), (1, 7, 1)], ids=str)
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_compiled_faces_bound_and_derivative_are_torchs(shape, lateral):
    grid, random = Grid(shape, (1.0, 2.0, 3.0)), torch.Generator().manual_seed(0)
    one = (torch.rand(shape, generator=random, dtype=torch.float64) + 0.1).requires_grad_()
    other = one.detach().clone().requires_grad_()
    compiled = harmonic_faces(one, grid, lateral, (2.0, 3.0))
    reference = face_conductances(other, grid, lateral, "harmonic", (2.0, 3.0))
    weights = torch.rand(reference.shape, generator=random, dtype=torch.float64)
    compiled.backward(weights)
    reference.backward(weights)
    torch.testing.assert_close(compiled, reference, rtol=1e-13, atol=0)
    torch.testing.assert_close(one.grad, other.grad, rtol=1e-13, atol=1e-14)
    sinks = torch.rand((2, *shape[1:]), generator=random, dtype=torch.float64)
    bound = spectral_bound(reference.detach(), sinks)
    assert gershgorin(compiled, sinks) == pytest.approx(bound, rel=1e-14)


@pytest.mark.parametrize("contrast", [1e2, 1e4, 1e6])
def test_the_derivative_keeps_its_digits_in_float32(contrast):
    alpha = torch.tensor([0.1, 0.1 / contrast]).reshape(2, 1, 1).requires_grad_()
    harmonic_faces(alpha, Grid((2, 1, 1), (2.0, 1.0, 1.0)), "adiabatic", (1.0, 1.0))[0, 1].sum().backward()
    assert alpha.grad is not None
    assert alpha.grad[0].item() == pytest.approx(2 / (contrast + 1) ** 2, rel=1e-5)
