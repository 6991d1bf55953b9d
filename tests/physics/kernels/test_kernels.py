"""Both kernels against a dense matrix, and against each other."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

from nefty import Boundary, Grid
from nefty.physics.conductance import face_conductances, face_sinks
from nefty.physics.kernels import get_kernel
from support.dense import dense_operator

SHAPES = [(4, 5, 6), (1, 5, 6), (4, 1, 6), (4, 5, 1), (3, 2, 2), (1, 1, 1), (2, 3, 17)]
BOUNDARIES = [
    Boundary(),
    Boundary("adiabatic", "robin", "adiabatic", h_front=0.7),
    Boundary("periodic", "robin", "robin", 0.7, 0.2),
]


class Case:
    """An operator as the kernel sees it, and as a dense matrix."""

    def __init__(self, kernel: str, shape, boundary: Boundary, dtype=torch.float64, seed: int = 3):
        self.kernel = get_kernel(kernel, "cpu")
        self.grid = Grid(shape, (1.0, 2.0, 1.5))
        rng = np.random.default_rng(seed)
        alpha = rng.uniform(0.02, 0.3, shape)
        self.matrix = dense_operator(alpha, self.grid, boundary, "harmonic", (2.0, 0.5))
        field = torch.from_numpy(alpha)
        faces = face_conductances(field, self.grid, boundary.lateral, "harmonic", (2.0, 0.5)).to(dtype)
        front, back = (torch.tensor(h, dtype=torch.float64) for h in (boundary.h_front, boundary.h_back))
        sinks = face_sinks(field, front, back, self.grid, boundary).to(dtype)
        self.op = self.kernel.operator(self.kernel.array(faces), self.kernel.array(sinks))
        self.u, self.v = (self.draw(rng, dtype) for _ in range(2))

    def draw(self, rng, dtype):
        return self.kernel.array(torch.from_numpy(rng.normal(size=self.grid.shape)).to(dtype))

    def flat(self, array) -> np.ndarray:
        return self.kernel.tensor(array).double().numpy().ravel()


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_combine_is_the_dense_product(kernel, shape, boundary):
    case = Case(kernel, shape, boundary)
    got = case.flat(case.kernel.combine(case.op, case.u, 0.3, case.v, -0.7, 1.9))
    want = 0.3 * case.flat(case.u) - 0.7 * case.flat(case.v) + 1.9 * case.matrix @ case.flat(case.u)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12 * abs(want).max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_the_kernels_agree_to_rounding(dtype, boundary):
    one, two = (Case(kernel, (5, 7, 9), boundary, dtype) for kernel in ("numba", "torch"))
    rounding = 20 * torch.finfo(dtype).eps  # a dozen roundings of numbers of one size
    a = one.flat(one.kernel.combine(one.op, one.u, 2.0, one.v, -1.0, 0.01))
    b = two.flat(two.kernel.combine(two.op, two.u, 2.0, two.v, -1.0, 0.01))
    np.testing.assert_allclose(a, b, rtol=0, atol=rounding * abs(b).max())
    a = one.flat(one.kernel.jacobi(one.op, 0.05, one.u, one.v, 7))
    b = two.flat(two.kernel.jacobi(two.op, 0.05, two.u, two.v, 7))
    np.testing.assert_allclose(a, b, rtol=0, atol=rounding * abs(b).max())


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_accumulate_is_the_derivative_of_the_bilinear_form(kernel, shape, boundary):
    case = Case(kernel, shape, boundary)
    tensor = case.kernel.tensor
    faces = tensor(case.op.faces).clone().requires_grad_()
    sinks = tensor(case.op.sinks).clone().requires_grad_()
    reference = get_kernel("torch", "cpu")
    u, v = tensor(case.u), tensor(case.v)
    product = (v * reference.combine(reference.operator(faces, sinks), u, 0.0, u, 0.0, 1.0)).sum()
    want = torch.autograd.grad(1.7 * product, (faces, sinks))
    zeros = [case.kernel.zeros(tuple(w.shape), case.u) for w in want]
    case.kernel.accumulate(case.kernel.operator(*zeros), case.v, case.u, 1.7)
    scale = 1e-12 * max(1.0, float(want[0].abs().max()))
    got_faces, got_sinks = (case.kernel.tensor(z).clone() for z in zeros)
    # The faces before the first layer do not exist: what is said about them is never read.
    got_faces[0, 0], want[0][0, 0] = 0, 0
    torch.testing.assert_close(got_faces, want[0], rtol=1e-12, atol=scale)
    torch.testing.assert_close(got_sinks, want[1], rtol=1e-12, atol=scale)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_conjugate_gradients_solve_the_dense_system(kernel, shape, boundary):
    case = Case(kernel, shape, boundary)
    s = 0.4
    factors = case.kernel.line_factors(case.op, s)
    x, iterations, residual = case.kernel.conjugate_gradients(case.op, s, factors, case.u, case.v, 1e-13, 200)
    want = np.linalg.solve(np.eye(case.grid.cells) - s * case.matrix, case.flat(case.u))
    np.testing.assert_allclose(case.flat(x), want, atol=1e-11 * abs(want).max())
    assert residual <= 1e-13
    assert case.kernel.relative_residual(case.op, s, case.u, x) <= 1e-12
    assert 0 < iterations < 100


@pytest.mark.parametrize("kernel", ["numba", "torch"])
def test_a_single_column_is_solved_in_one_iteration(kernel):
    """Along z the preconditioner is the matrix itself."""
    case = Case(kernel, (9, 1, 1), Boundary("adiabatic", "robin", "adiabatic", h_front=0.7))
    factors = case.kernel.line_factors(case.op, 5.0)
    _, iterations, _ = case.kernel.conjugate_gradients(case.op, 5.0, factors, case.u, case.v, 1e-10, 50)
    assert iterations == 1


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_jacobi_is_the_splitting_by_hand(kernel, boundary):
    case = Case(kernel, (3, 4, 5), boundary)
    matrix = np.eye(case.grid.cells) - 0.2 * case.matrix
    diagonal = np.diag(matrix)
    x = case.flat(case.v)
    for _ in range(3):
        x = (case.flat(case.u) - (matrix @ x - diagonal * x)) / diagonal
    got = case.flat(case.kernel.jacobi(case.op, 0.2, case.u, case.v, 3))
    np.testing.assert_allclose(got, x, rtol=1e-12, atol=1e-13)


THREADS = """
import numba, torch, numpy as np, nefty
grid = nefty.Grid((6, 8, 9), (1.0, 2.0, 1.5))
alpha = torch.from_numpy(np.random.default_rng(0).uniform(0.02, 0.3, grid.shape))
results = []
for threads in (1, 2):
    numba.set_num_threads(threads)
    for integrator in ("chebyshev", "sdirk2"):
        leaf = alpha.clone().requires_grad_()
        model = nefty.HeatModel(grid, [0.1, 0.4], nefty.GaussianFlash(10.0, 0.5, 0.3), integrator=integrator)
        model(leaf).square().sum().backward()
        results.append(leaf.grad)
assert len(results) == 4 and all(torch.equal(a, b) for a, b in zip(results[:2], results[2:]))
print("equal")
"""


def test_the_result_does_not_depend_on_the_number_of_threads():
    """In a process of its own: the workers of the test run have one thread each."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "equal", done.stderr
