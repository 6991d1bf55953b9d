"""The compiled sweep against the recurrence from term to term, which is tested against dense matrices."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

from nefty import Boundary, GaussianFlash, Grid, HeatModel

CASES = [((4, 5, 6), 0.3), ((1, 3, 4), 0.1), ((5, 1, 1), 0.2), ((3, 1, 4), 0.2), ((2, 7, 1), 0.1), ((6, 2, 2), 0.2)]
BOUNDARIES = [Boundary(), Boundary("adiabatic", "robin", "robin", h_front=0.4, h_back=0.2)]


def model_of(shape: tuple[int, int, int], boundary: Boundary, observe: str, memory: str) -> HeatModel:
    grid, flash = Grid(shape, (1.0, 2.0, 1.5)), GaussianFlash(10.0, 0.5, 0.3)
    times = [0.05, 0.2, 0.7]
    return HeatModel(
        grid, times, flash, boundary, observe=observe, dtype="float64", memory=memory, anisotropy=(2.0, 3.0)
    )


def alpha_of(shape: tuple[int, int, int], seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.02, 0.3, shape)


@pytest.mark.parametrize("shape", [shape for shape, _ in CASES], ids=str)
@pytest.mark.parametrize("boundary", BOUNDARIES, ids=["closed", "losing"])
@pytest.mark.parametrize("observe", ["front", "both"])
def test_frames_and_gradients_are_those_of_the_recurrence_by_terms(shape, boundary, observe):
    """``memory="stored"`` goes from term to term."""
    found = []
    for memory in ("reversed", "stored"):
        model = model_of(shape, boundary, observe, memory)
        leaf = torch.from_numpy(alpha_of(shape)).requires_grad_()
        initial = torch.from_numpy(alpha_of(shape, 1)).requires_grad_()
        frames = model(leaf, initial=initial)
        (frames**3).sum().backward()
        found.append((frames.detach(), leaf.grad, initial.grad, model.status.applications))
    swept, stepped = found
    for one, other in zip(swept[:3], stepped[:3], strict=True):
        assert one is not None
        assert other is not None
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11 * float(other.abs().max()))


@pytest.mark.parametrize("boundary", BOUNDARIES, ids=["closed", "losing"])
def test_several_directions_at_once_are_each_by_itself(boundary):
    shape = (4, 5, 6)
    swept, stepped = (model_of(shape, boundary, "front", m).linearize(alpha_of(shape)) for m in ("reversed", "stored"))
    moves: list[dict[str, Any]] = [{"alpha": alpha_of(shape, seed)} for seed in (1, 2)]
    one_layer = np.zeros(shape)
    one_layer[2] = 0.1
    moves += [{"alpha": one_layer}, {"initial": alpha_of(shape, 3)}]
    if boundary.front == "robin":
        moves.append({"h_front": 1.0})
    for together, move in zip(swept.jvps(moves), moves, strict=True):
        torch.testing.assert_close(together, stepped.jvp(**move), rtol=1e-10, atol=1e-11)
    cotangents = [torch.from_numpy(np.random.default_rng(s).normal(size=(3, 5, 6))) for s in range(3)]
    for together, cotangent in zip(swept.vjps(cotangents), cotangents, strict=True):
        torch.testing.assert_close(together, stepped.vjp(cotangent), rtol=1e-10, atol=1e-11)
        torch.testing.assert_close(together, swept.vjp(cotangent), rtol=1e-12, atol=1e-13)


def test_a_backward_sweep_can_be_repeated_to_the_bit():
    at = model_of((4, 5, 6), Boundary(), "front", "reversed").linearize(alpha_of((4, 5, 6)))
    cotangent = torch.ones(3, 5, 6, dtype=torch.float64)
    assert torch.equal(at.vjp(cotangent), at.vjp(cotangent))


THREADS = """
import threading, numba, torch, numpy as np, nefty
from nefty.physics.kernels.thread_team import team_size
grid = nefty.Grid((8, 33, 48), (1.0, 2.0, 1.5))
alpha = torch.from_numpy(np.random.default_rng(0).uniform(0.02, 0.3, grid.shape)).float()
paper = nefty.ImplicitEuler(solver=nefty.Jacobi(7))
models = [
    nefty.HeatModel(grid, [0.1, 0.4], nefty.GaussianFlash(10.0, 0.5, 0.3), integrator=i) for i in ("chebyshev", paper)
]
def gradient(model):
    leaf = alpha.clone().requires_grad_()
    model(leaf).square().sum().backward()
    return leaf.grad
results = {}
for threads in (1, 2, 3):
    numba.set_num_threads(threads)
    assert team_size(grid.cells, 33) == threads
    results[threads] = [gradient(m) for m in models]
found = []
def work():
    numba.set_num_threads(2)
    for _ in range(5):
        found.append(gradient(models[0]))
side_by_side = [threading.Thread(target=work) for _ in range(2)]
for thread in side_by_side: thread.start()
for thread in side_by_side: thread.join()
assert len(found) == 10 and all(torch.equal(f, results[1][0]) for f in found)
assert all(torch.equal(a, b) for n in (2, 3) for a, b in zip(results[1], results[n]))
print("equal")
"""


def test_teams_of_any_size_and_callers_side_by_side_find_the_same_bits():
    """More threads than cores, too. In a process of its own: the workers of the test run have one thread each."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "equal", done.stderr
