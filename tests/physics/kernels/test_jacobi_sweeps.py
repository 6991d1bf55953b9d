from __future__ import annotations

import numpy as np
import pytest
import torch

from nefty import Grid
from nefty.physics.conductance import face_conductances
from nefty.physics.kernels.numba_kernel import NumbaKernel
from nefty.physics.kernels.torch_kernel import TorchKernel


@pytest.mark.parametrize("shape", [(4, 5, 6), (1, 3, 4), (5, 1, 1), (3, 1, 4), (2, 7, 1), (6, 2, 2)], ids=str)
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("sweeps", [1, 6])
def test_compiled_sweeps_are_torchs(shape, lateral, sweeps):
    random = np.random.default_rng(0)
    alpha, rhs, guess = (torch.from_numpy(random.uniform(0.02, 0.3, shape)) for _ in range(3))
    faces = face_conductances(alpha, Grid(shape, (1.0, 2.0, 1.5)), lateral, "harmonic", (1.0, 2.0))
    sinks = torch.from_numpy(random.uniform(0.0, 0.3, (2, *shape[1:])))
    reference, kernel = TorchKernel(), NumbaKernel()
    want = reference.jacobi(reference.operator(faces, sinks), 0.3, rhs, guess, sweeps)
    op = kernel.operator(faces.numpy(), sinks.numpy())
    got = kernel.jacobi(op, 0.3, rhs.numpy(), guess.numpy(), sweeps)
    np.testing.assert_allclose(got, want.numpy(), rtol=1e-12)
    again = kernel.jacobi(op, 0.3, rhs.numpy(), guess.numpy(), sweeps, kernel.jacobi_factors(op, 0.3))
    np.testing.assert_array_equal(got, again)
