"""Adjoint and tangent for every combination of the model's options (acceptance point 1).

In float64, with the linear solves at 1e-13: the dot product of J and J^T agrees to 1e-10 and the Taylor remainder is
of order 2.
"""

from __future__ import annotations

import gc
import itertools
import weakref

import numpy as np
import pytest
import torch

from nefty import (
    SDIRK2,
    Boundary,
    Chebyshev,
    ConjugateGradients,
    GaussianFlash,
    Grid,
    HeatModel,
    ImplicitEuler,
    Jacobi,
    TopHatPulse,
)
from nefty.testing import dot_product, taylor_order

GRID = Grid((3, 4, 3), (1.0, 1.5, 1.0))
TIMES = [0.0, 0.1, 0.35]
EXACT = ConjugateGradients(1e-13)
INTEGRATORS = {
    "chebyshev": Chebyshev(1e-13),
    "sdirk2": SDIRK2(solver=EXACT),
    "implicit-euler": ImplicitEuler(solver=EXACT),
}
BOUNDARIES = [
    Boundary(lateral, front, back, 0.4 if front == "robin" else 0, 0.3 if back == "robin" else 0)
    for lateral, front, back in itertools.product(
        ("periodic", "adiabatic"), ("adiabatic", "robin"), ("adiabatic", "robin")
    )
]
# Of the default steps of the Taylor test, those that ever enter the fit at the solvers' precision.
STEPS = [0.1 * 4.0**-k for k in range(2, 8)]
NAMES = [f"{b.lateral}-{b.front}-{b.back}" for b in BOUNDARIES]


def draw(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Generator]:
    generator = torch.Generator().manual_seed(seed)
    alpha = 0.05 + 0.25 * torch.rand(GRID.shape, dtype=torch.float64, generator=generator)
    direction = alpha * torch.randn(GRID.shape, dtype=torch.float64, generator=generator)
    return alpha, direction, generator


def check(model: HeatModel, seed: int) -> None:
    """Both tests of the Jacobian of ``model`` at a random point."""
    alpha, direction, generator = draw(seed)
    lin = model.linearize(alpha)
    weights = torch.randn(lin.frames.shape, dtype=torch.float64, generator=generator)
    assert dot_product(lin.jvp, lin.vjp, direction, weights) <= 1e-10
    steps = [float(alpha.norm() / direction.norm()) * step for step in STEPS]
    gradient = lin.vjp(weights)
    check = taylor_order(lambda a: (weights * model(a)).sum(), gradient, alpha, direction, steps, precision=1e-13)
    assert check.order >= 1.9, f"{check}"
    assert np.isfinite(check.order)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
@pytest.mark.parametrize("face_mean", ["harmonic", "arithmetic", "min"])
@pytest.mark.parametrize("boundary", BOUNDARIES, ids=NAMES)
def test_every_combination(kernel, integrator, face_mean, boundary):
    for seed, (observe, anisotropy) in enumerate(
        itertools.product(("front", "back", "both"), ((1.0, 1.0), (2.0, 0.5)))
    ):
        model = HeatModel(
            GRID,
            TIMES,
            GaussianFlash(10.0, 0.5, 0.3),
            boundary,
            face_mean=face_mean,
            anisotropy=anisotropy,
            observe=observe,
            integrator=INTEGRATORS[integrator],
            kernel=kernel,
            dtype="float64",
        )
        check(model, seed)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("integrator", sorted(INTEGRATORS))
@pytest.mark.parametrize("source", [GaussianFlash(10.0, 0.5, 0.3), TopHatPulse(3.0, 0.2, 0.03)])
@pytest.mark.parametrize("robin", ["surface", "cell"])
def test_all_inputs_together(kernel, integrator, source, robin):
    """alpha, initial temperature or amplitude, h_front and h_back at once."""
    boundary = Boundary("adiabatic", "robin", "robin", 0.4, 0.3, robin)
    model = HeatModel(
        GRID,
        TIMES,
        source,
        boundary,
        integrator=INTEGRATORS[integrator],
        kernel=kernel,
        dtype="float64",
        observe="both",
    )
    alpha, direction, generator = draw(5)
    lin = model.linearize(alpha)
    names = tuple(lin.point)
    assert set(names) == {"alpha", "initial" if isinstance(source, GaussianFlash) else "amplitude", "h_front", "h_back"}
    moves = {
        name: direction if name == "alpha" else 0.3 * torch.randn(value.shape, dtype=torch.float64, generator=generator)
        for name, value in lin.point.items()
    }
    weights = torch.randn(lin.frames.shape, dtype=torch.float64, generator=generator)
    gradients = lin.gradients(weights, names)
    left = (lin.jvp(**moves) * weights).sum()
    right = torch.stack([(moves[name] * gradients[name]).sum() for name in names]).sum()
    assert abs(float(left - right)) <= 1e-10 * float(lin.jvp(**moves).norm() * weights.norm())

    def along(e: torch.Tensor) -> torch.Tensor:
        return (weights * model(**{name: lin.point[name] + e.item() * moves[name] for name in names})).sum()

    zero, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    steps = [0.05 * 2.0**-k for k in range(10)]
    assert taylor_order(along, right.reshape(1), zero, one, steps, precision=1e-13).order >= 1.9
    # The same gradients through torch.autograd, one input at a time.
    leaves = {name: value.clone().requires_grad_() for name, value in lin.point.items()}
    (weights * model(**leaves)).sum().backward()
    for name in names:
        torch.testing.assert_close(leaves[name].grad, gradients[name], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("integrator", [*INTEGRATORS.values(), ImplicitEuler(solver=Jacobi(300))])
def test_plain_autograd_gives_the_same_gradient(integrator):
    boundary = Boundary("periodic", "adiabatic", "robin", 0, 0.3)
    gradients, frames = [], []
    for derivative in ("adjoint", "autograd"):
        model = HeatModel(
            GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), boundary, integrator=integrator, kernel="torch",
            dtype="float64", derivative=derivative,
        )  # fmt: skip
        alpha = draw(7)[0].requires_grad_()
        h = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
        amplitude = torch.tensor(10.0, dtype=torch.float64, requires_grad=True)
        result = model(alpha, h_back=h, amplitude=amplitude)
        result.square().sum().backward()
        frames.append(result.detach())
        gradients.append((alpha.grad, h.grad, amplitude.grad))
    assert torch.equal(frames[0], frames[1])
    for one, two in zip(*gradients, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("integrator", ["chebyshev", "sdirk2", "implicit-euler"])
@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_checkpointed_gradients_are_equal_bit_by_bit(integrator, kernel, dtype):
    def gradient(memory: str) -> torch.Tensor:
        times = 0.05 * np.arange(1, 24)
        model = HeatModel(
            GRID, times, GaussianFlash(10.0, 0.5, 0.3), integrator=integrator, kernel=kernel, dtype=dtype, memory=memory
        )
        alpha = draw(3)[0].to(model.dtype).requires_grad_()
        model(alpha).square().sum().backward()
        assert alpha.grad is not None
        return alpha.grad

    stored = gradient("stored")
    assert torch.equal(stored, gradient("checkpointed"))
    if integrator == "chebyshev":
        tolerance = 1e-5 if dtype == "float32" else 1e-12
        torch.testing.assert_close(
            stored, gradient("reversed"), rtol=tolerance, atol=tolerance * float(stored.abs().max())
        )


@pytest.mark.parametrize("memory", ["stored", "checkpointed", "reversed"])
def test_a_linearisation_can_be_used_again_and_again(memory):
    model = HeatModel(GRID, 0.05 * np.arange(1, 30), GaussianFlash(10.0, 0.5, 0.3), dtype="float64", memory=memory)
    alpha, direction, generator = draw(9)
    lin = model.linearize(alpha)
    weights = torch.randn(lin.frames.shape, dtype=torch.float64, generator=generator)
    first = lin.vjp(weights), lin.jvp(direction)
    again = lin.vjp(weights), lin.jvp(direction), lin.vjp(weights)
    for a, b in zip((*first, first[0]), again, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="cotangent has shape"):
        lin.vjp(weights[1:])
    with pytest.raises(ValueError, match="h_front"):
        lin.vjp(weights, "h_front")
    with pytest.raises(ValueError, match="Did you mean 'alpha'"):
        lin.jvp(alpa=direction)
    with pytest.raises(ValueError, match="direction of alpha has shape"):
        lin.jvp(direction[0])


def test_two_calls_may_be_open_before_either_goes_backward():
    model = HeatModel(GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), dtype="float64")
    one, two = (draw(seed)[0].requires_grad_() for seed in (1, 2))
    (model(one).square().sum() + model(two).square().sum()).backward()
    for alpha, seed in ((one, 1), (two, 2)):
        alone = draw(seed)[0].requires_grad_()
        model(alone).square().sum().backward()
        torch.testing.assert_close(alpha.grad, alone.grad, rtol=0, atol=0)


def test_a_second_derivative_is_refused_rather_than_wrong():
    model = HeatModel(GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), dtype="float64")
    alpha = draw(1)[0].requires_grad_()
    (gradient,) = torch.autograd.grad(model(alpha).square().sum(), alpha, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


@pytest.mark.parametrize("memory", ["stored", "checkpointed", "reversed"])
def test_the_trajectory_is_freed_after_backward_and_kept_where_asked(memory):
    model = HeatModel(GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), dtype="float64", memory=memory)
    alpha = draw(1)[0].requires_grad_()
    runs = []
    original = model._run

    def remember(*args):
        run = original(*args)
        runs.append(weakref.ref(run))
        return run

    model._run = remember  # pyright: ignore[reportAttributeAccessIssue]
    loss = model(alpha).square().sum()
    (first,) = torch.autograd.grad(loss, alpha, retain_graph=True)
    assert runs[0]() is not None
    (second,) = torch.autograd.grad(loss, alpha)
    torch.testing.assert_close(first, second, rtol=1e-12, atol=1e-12)
    gc.collect()
    assert runs[0]() is None
    with pytest.raises(RuntimeError, match="second time"):
        torch.autograd.grad(loss, alpha)


@pytest.mark.parametrize("guard", [torch.no_grad, torch.inference_mode])
def test_a_linearisation_works_where_no_graph_is_recorded(guard):
    model = HeatModel(GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), dtype="float64")
    alpha, direction, _ = draw(2)
    want = model.linearize(alpha)
    with guard():
        lin = model.linearize(alpha)
        forward, backward = lin.jvp(direction), lin.vjp(lin.frames)
    torch.testing.assert_close(forward, want.jvp(direction))
    torch.testing.assert_close(backward, want.vjp(want.frames))


def test_nothing_is_shared_with_the_users_memory():
    start = torch.rand(GRID.shape, dtype=torch.float64)
    model = HeatModel(GRID, TIMES, start, dtype="float64", memory="stored")
    alpha = draw(4)[0]
    lin = model.linearize(alpha)
    weights = torch.ones_like(lin.frames)
    want = lin.vjp(weights)
    frames = lin.frames
    frames -= 1
    alpha.add_(0.1)
    start.zero_()
    assert torch.equal(lin.vjp(weights), want)
    given, leaf = torch.rand(GRID.shape, dtype=torch.float64), draw(4)[0].requires_grad_()
    result = model(leaf, initial=given).sum()
    given.zero_()
    result.backward()
    assert leaf.grad is not None
    assert float(leaf.grad.abs().max()) > 1e-3


def test_the_loss_may_be_a_map_with_a_gradient():
    model = HeatModel(GRID, TIMES, GaussianFlash(10.0, 0.5, 0.3), Boundary(back="robin"), dtype="float64")
    alpha = draw(6)[0]
    h = torch.rand(GRID.shape[1:], dtype=torch.float64)

    def misfit(h: torch.Tensor) -> torch.Tensor:
        return model(alpha, h_back=h).square().sum()

    leaf = h.clone().requires_grad_()
    misfit(leaf).backward()
    assert leaf.grad is not None
    assert taylor_order(misfit, leaf.grad, h, h * torch.randn_like(h)).order >= 1.9


def test_float32_gradients_are_close_to_float64_ones_on_the_papers_case():
    grid, times = Grid((16, 24, 24), (1.0, 4.0, 4.0)), 0.05 * np.arange(1, 101)
    field = torch.full(grid.shape, 0.15, dtype=torch.float64)
    field[6:9, 8:14, 8:14] = 0.01
    gradients = []
    for dtype in ("float32", "float64"):
        alpha = field.clone().requires_grad_()
        HeatModel(grid, times, GaussianFlash(100.0, 1.0), dtype=dtype)(alpha).square().sum().backward()
        gradients.append(alpha.grad)
    assert float((gradients[0] - gradients[1]).norm() / gradients[1].norm()) < 1e-4
