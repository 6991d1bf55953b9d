"""Thin resistances, own heat capacity, open holes: dense matrices, closed forms, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from scipy.linalg import expm
from scipy.optimize import brentq

from nefty import (
    SDIRK2,
    Boundary,
    Chebyshev,
    ConjugateGradients,
    Grid,
    HeatModel,
    ImplicitEuler,
    Jacobi,
    PerFrame,
    TopHatPulse,
    UniformFlash,
)
from nefty.core.errors import InputError
from nefty.physics.conductance import in_all_cells, spectral_bound
from nefty.physics.kernels.torch_kernel import TorchKernel
from nefty.physics.layered import LayeredModel
from nefty.synth.explicit import simulate_explicit
from nefty.testing import Slab, dot_product, taylor_order

GRID = Grid((4, 4, 3), (1.0, 1.5, 1.0))
TIMES = [0.05, 0.1, 0.35]
LOSSY = Boundary("adiabatic", "robin", "robin", 0.4, 0.3)
INTEGRATORS = {"chebyshev": Chebyshev(1e-13), "sdirk2": SDIRK2(solver=ConjugateGradients(1e-13))}
KERNELS = ["numba", "torch"]


def draw(seed: int) -> tuple[torch.Tensor, torch.Tensor, np.random.Generator]:
    rng = np.random.default_rng(seed)
    alpha = torch.from_numpy(rng.uniform(0.05, 0.3, GRID.shape))
    return alpha, torch.from_numpy(rng.uniform(0.0, 8.0, (GRID.shape[0] - 1, *GRID.shape[1:]))), rng


def capacities() -> np.ndarray:
    return np.random.default_rng(8).uniform(0.3, 3.0, GRID.shape)


def holes() -> np.ndarray:
    air = np.zeros(GRID.shape, bool)
    air[2:, 1:3, 0] = True
    air[3:, 3, 1] = True
    return air


OPTIONS: dict[str, dict[str, Any]] = {
    "resistance": {},
    "capacity": {"capacity": capacities()},
    "holes": {"open_cells": holes()},
    "all": {"capacity": capacities(), "open_cells": holes()},
    "losses": {},
}
FLASH, PULSE = UniformFlash(10.0, 0.3), TopHatPulse(3.0, 0.2, 0.03)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("source", [FLASH, PULSE], ids=["flash", "pulse"])
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("boundary", [LOSSY, Boundary(), Boundary("periodic", "adiabatic", "robin", 0, 0.3, "cell")])
def test_derivatives(kernel, integrator, source, name, boundary):
    """alpha, resistance, source and losses at once."""
    model = HeatModel(
        GRID, TIMES, source, boundary, integrator=INTEGRATORS[integrator], kernel=kernel, dtype="float64",
        observe="both", anisotropy=(2.0, 0.5), **OPTIONS[name],
    )  # fmt: skip
    alpha, resistance, rng = draw(1)
    losses = torch.from_numpy(rng.uniform(0.0, 2.0, GRID.shape)) if name in ("losses", "all") else None
    lin = model.linearize(alpha, resistance=resistance if name in ("resistance", "all") else None, losses=losses)
    assert ("resistance" in lin.point) == (name in ("resistance", "all"))
    assert ("losses" in lin.point) == (name in ("losses", "all"))
    moves = {
        key: value * torch.from_numpy(np.asarray(rng.standard_normal(tuple(value.shape))))
        for key, value in lin.point.items()
    }
    names = tuple(lin.point)
    weights = torch.from_numpy(rng.standard_normal(tuple(lin.frames.shape)))

    def jvp(parts: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return lin.jvp(**dict(zip(names, parts, strict=True)))

    def vjp(cotangent: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(lin.gradients(cotangent, names).values())

    assert dot_product(jvp, vjp, tuple(moves.values()), weights) <= 1e-10
    slope = torch.stack([(g * m).sum() for g, m in zip(vjp(weights), moves.values(), strict=True)]).sum()

    def along(e: torch.Tensor) -> torch.Tensor:
        return (weights * model(**{n: lin.point[n] + e.item() * moves[n] for n in names})).sum()

    zero, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    steps = [0.01 * 2.0**-k for k in range(8)]
    check = taylor_order(along, slope.reshape(1), zero, one, steps, precision=1e-13)
    assert 1.9 <= check.order < np.inf, f"{check}"
    leaves = {key: value.clone().requires_grad_() for key, value in lin.point.items()}
    (weights * model(**leaves)).sum().backward()
    for key, gradient in zip(names, vjp(weights), strict=True):
        torch.testing.assert_close(leaves[key].grad, gradient, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", OPTIONS)
def test_plain_autograd_gives_the_same_gradient(name):
    found = []
    for derivative in ("adjoint", "autograd"):
        model = HeatModel(
            GRID, TIMES, PULSE, LOSSY, kernel="torch", dtype="float64", derivative=derivative, **OPTIONS[name]
        )
        alpha, resistance, _ = draw(2)
        alpha.requires_grad_()
        resistance.requires_grad_()
        model(alpha, resistance=resistance).square().sum().backward()
        found.append((alpha.grad, resistance.grad))
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_even_losses_are_a_decay_of_all_frames(kernel):
    """L - s I commutes with L: T(t) exp(-s t), whatever the cells are."""
    alpha, resistance, _ = draw(11)
    model = HeatModel(GRID, TIMES, FLASH, LOSSY, kernel=kernel, dtype="float64", integrator=Chebyshev(1e-13))
    even = torch.full(GRID.shape, 1.7, dtype=torch.float64)
    plain = model(alpha, resistance=resistance)
    found = model(alpha, resistance=resistance, losses=even)
    decay = torch.exp(-1.7 * torch.tensor(TIMES, dtype=torch.float64))[:, None, None]
    torch.testing.assert_close(found, plain * decay, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(model(alpha, losses=0 * even), model(alpha), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNELS)
def test_losses_of_walls_are_those_of_open_holes(kernel):
    """Emptied cells with the walls' losses given one by one show what ``open_cells`` shows."""
    alpha, _, _ = draw(12)
    options: dict[str, Any] = {"kernel": kernel, "dtype": "float64", "integrator": Chebyshev(1e-13)}
    holed = HeatModel(GRID, TIMES, FLASH, LOSSY, open_cells=holes(), **options)
    solid = torch.from_numpy(~holes())
    walls = holed._inputs(alpha).sinks - in_all_cells(
        HeatModel(GRID, TIMES, FLASH, LOSSY, **options)._inputs(alpha).sinks, alpha
    )
    empty = torch.where(solid, alpha, 1e-9)
    found = HeatModel(GRID, TIMES, FLASH, LOSSY, **options)(empty, losses=walls.clamp(min=0))
    torch.testing.assert_close(found, holed(alpha), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("bad", [-1.0, float("nan")])
def test_losses_that_are_none_are_refused(bad):
    alpha, _, _ = draw(13)
    with pytest.raises(InputError, match="losses"):
        HeatModel(GRID, TIMES, FLASH, LOSSY)(alpha, losses=np.full(GRID.shape, bad))
    with pytest.raises(InputError, match="losses has shape"):
        HeatModel(GRID, TIMES, FLASH, LOSSY)(alpha, losses=np.zeros((2, 2)))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["resistance", "capacity", "all"])
def test_zero_resistance_and_unit_capacity_change_nothing(kernel, name):
    alpha, resistance, _ = draw(3)
    options: dict[str, Any] = {"kernel": kernel, "dtype": "float64"}
    plain = HeatModel(GRID, TIMES, PULSE, LOSSY, **options)(alpha)
    if name == "resistance":
        found = HeatModel(GRID, TIMES, PULSE, LOSSY, **options)(alpha, resistance=0 * resistance)
        assert torch.equal(found, plain)
        return
    more: dict[str, Any] = {"capacity": np.ones(GRID.shape)}
    if name == "all":
        more["open_cells"] = np.zeros(GRID.shape, bool)
    found = HeatModel(GRID, TIMES, PULSE, LOSSY, **options, **more)(alpha)
    torch.testing.assert_close(found, plain, rtol=1e-11, atol=1e-12)


def dense(alpha: np.ndarray, resistance: np.ndarray, h: float) -> np.ndarray:
    """L as a matrix, with Robin faces in front and back, face by face."""
    number, d = np.arange(alpha.size).reshape(alpha.shape), GRID.spacing
    matrix = np.zeros((alpha.size, alpha.size))
    for at in np.ndindex(*alpha.shape):
        for axis in range(3):
            if at[axis] == 0:
                continue
            other = tuple(i - (a == axis) for a, i in enumerate(at))
            between = d[axis] / 2 / alpha[at] + d[axis] / 2 / alpha[other]
            if axis == 0:
                between += resistance[other]
            pair = [number[at], number[other]]
            matrix[np.ix_(pair, pair)] += np.array([[-1, 1], [1, -1]]) / (between * d[axis])
        for face in (0, alpha.shape[0] - 1):
            if at[0] == face:
                matrix[number[at], number[at]] -= 1 / (1 / h + d[0] / 2 / alpha[at]) / d[0]
    return matrix


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("integrator", [Chebyshev(1e-13), SDIRK2(PerFrame(200), ConjugateGradients(1e-13))])
def test_own_capacity_is_the_matrix_exponential(kernel, integrator):
    """C dT/dt = L T by a dense matrix, whose faces are put together one by one."""
    alpha, resistance, rng = draw(4)
    start = rng.uniform(0, 1, GRID.shape)
    c = capacities()
    boundary = Boundary("adiabatic", "robin", "robin", 0.2, 0.2)
    model = HeatModel(
        GRID,
        TIMES,
        start,
        boundary,
        kernel=kernel,
        dtype="float64",
        observe="volume",
        capacity=c,
        integrator=integrator,
    )
    found = model(alpha, resistance=resistance).numpy()
    matrix = dense(alpha.numpy(), resistance.numpy(), 0.2) / c.reshape(-1, 1)
    close = 1e-10 if isinstance(integrator, Chebyshev) else 2e-5
    for frame, t in zip(found, TIMES, strict=True):
        np.testing.assert_allclose(frame.ravel(), expm(t * matrix) @ start.ravel(), rtol=close, atol=close)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("source", [FLASH, PULSE], ids=["flash", "pulse"])
def test_heat_is_kept_with_capacities_of_their_own(kernel, source):
    alpha, resistance, _ = draw(5)
    c = capacities()
    model = HeatModel(
        GRID, [0.0, 0.3, 1.0, 30.0], source, Boundary("adiabatic"), kernel=kernel, dtype="float64", observe="volume",
        capacity=c,
    )  # fmt: skip
    frames = model(alpha, resistance=resistance).numpy()
    heat = (c * frames).sum(axis=(1, 2, 3))
    brought = heat[0] if source is FLASH else 3.0 * np.prod(GRID.shape)
    np.testing.assert_allclose(heat[1:], brought, rtol=1e-10)
    np.testing.assert_allclose(frames[-1], brought / c.sum(), rtol=1e-2)


def two_layers(times: np.ndarray, ratio: float, resistance: float, terms: int = 60) -> np.ndarray:
    """Front of two layers of diffusivity 1, each of thickness 1/2 (capacity 1 and ``ratio``), with R between them.

    A unit of heat per area at z = 0 at t = 0. Modes cos(w z) in front and b cos(w sqrt(ratio) (1 - z)) behind: the flux
    is continuous, w sin(w/2) = b m sin(m/2) with m = w sqrt(ratio), and equal to the jump over R.
    """
    root = np.sqrt(ratio)

    def equation(w: float) -> float:
        m = w * root
        jump = np.cos(w / 2) * np.sin(m / 2) * m + w * np.sin(w / 2) * np.cos(m / 2)  # (front - back) m sin(m/2)
        return jump - resistance * w * np.sin(w / 2) * m * np.sin(m / 2)

    # With -k u_z = w sin(w z) at the contact and b = -w sin(w/2)/(m sin(m/2)).
    at = np.linspace(1e-6, 2 * np.pi * terms, 400 * terms)
    values = np.array([equation(w) for w in at])
    crossed = np.flatnonzero(values[:-1] * values[1:] < 0)
    roots = np.array([brentq(equation, at[k], at[k + 1], xtol=1e-14) for k in crossed], dtype=float)
    total = np.full(times.shape, 1 / (0.5 + 0.5 * ratio))
    for w in roots:
        m = w * root
        b = -w * np.sin(w / 2) / (m * np.sin(m / 2))
        norm = 0.25 + np.sin(w) / (4 * w) + ratio * b**2 * (0.25 + np.sin(m) / (4 * m))
        total += np.exp(-(w**2) * times) / norm
    return total


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("ratio", "resistance"), [(1.0, 0.7), (1.0, 5.0), (2.3, 0.7), (0.4, 0.05)])
def test_two_layers_with_a_contact_resistance(kernel, ratio, resistance):
    """Second order in the cells, against the modes of the transcendental equation."""
    times = np.array([0.05, 0.1, 0.3, 1.0])
    exact, errors = two_layers(times, ratio, resistance), []
    for n in (40, 80):
        grid = Grid((n, 1, 1), (1.0, 1.0, 1.0))
        capacity = np.ones(grid.shape)
        capacity[n // 2 :] = ratio
        start = np.zeros(grid.shape)
        start[0] = n
        between = np.zeros((n - 1, 1, 1))
        between[n // 2 - 1] = resistance
        model = HeatModel(grid, times, start, kernel=kernel, dtype="float64", capacity=capacity, observe="volume")
        cells = model(np.ones(grid.shape), resistance=between).numpy()[:, :2, 0, 0]
        errors.append(np.abs(cells @ [1.125, -0.125] - exact) / exact)
    assert errors[1].max() < 1e-3
    assert (errors[1] < 0.4 * errors[0] + 1e-9).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("source", [TopHatPulse(3.0, 0.2), UniformFlash(2.0, 0.2)], ids=["pulse", "flash"])
@pytest.mark.parametrize("robin", ["surface", "cell"])
def test_a_hole_under_the_whole_plate_is_a_thinner_plate(kernel, source, robin):
    boundary = Boundary("adiabatic", "robin", "robin", 0.4, 0.3, robin)
    thick, thin = Grid((64, 2, 2), (1.0, 1.0, 1.0)), Grid((40, 2, 2), (0.625, 1.0, 1.0))
    air = np.zeros(thick.shape, bool)
    air[40:] = True
    options: dict[str, Any] = {"kernel": kernel, "dtype": "float64"}
    if isinstance(source, TopHatPulse):
        whole, part = source, TopHatPulse(3.0 * 8 / 5, 0.2)
    else:
        whole = part = source
    found = HeatModel(thick, TIMES, whole, boundary, open_cells=air, **options)(np.full(thick.shape, 0.2))
    exact = HeatModel(thin, TIMES, part, boundary, **options)(np.full(thin.shape, 0.2))
    torch.testing.assert_close(found, exact, rtol=1e-10, atol=1e-11)
    if robin == "surface" and isinstance(source, TopHatPulse):
        times = np.array(TIMES)
        slab = Slab(0.2, 0.625, 40, h_front=0.4, h_back=0.3).pulse(times, 0.2, amplitude=3.0 * 8 / 5)
        np.testing.assert_allclose(found[1:, 0, 0], slab[1:, 0], rtol=1e-3)


def test_the_side_walls_of_a_hole_lose_heat():
    """Two ribs with air between them from the second layer on: all the walls are counted, also around the corner."""
    grid, air = Grid((3, 1, 4), (3.0, 1.0, 4.0)), np.zeros((3, 1, 4), bool)
    air[1:, 0, 1] = True
    alpha, h = torch.full(grid.shape, 0.5, dtype=torch.float64), 0.3
    boundary = Boundary("periodic", "adiabatic", "robin", 0.0, h)
    model = HeatModel(grid, [1.0], np.ones(grid.shape), boundary, open_cells=air, dtype="float64")
    sinks = model._inputs(alpha).sinks.numpy()[:, 0]
    one = h / (1 + h / (2 * 0.5))
    expected = one * np.array([[0, 1, 0, 0], [1, 0, 1, 0], [2, 0, 2, 1]])
    np.testing.assert_allclose(sinks, expected, rtol=1e-12)
    faces = model._inputs(alpha).faces.numpy()
    assert faces[0, 1, 0, 1] == faces[2, 1, 0, 1] == faces[2, 1, 0, 2] == 0
    assert faces[2, 0, 0, 1] > 0


def test_the_bound_of_the_spectrum_holds():
    alpha, resistance, _ = draw(6)
    c = torch.from_numpy(capacities())
    model = HeatModel(GRID, TIMES, FLASH, LOSSY, dtype="float64", capacity=c.numpy(), open_cells=holes())
    faces, sinks = model._inputs(alpha, resistance=resistance)[:2]
    plain = spectral_bound(model._inputs(alpha).faces, sinks, c)
    bound = spectral_bound(faces, sinks, c)
    kernel = TorchKernel()
    op, unit = kernel.operator(faces, torch.zeros((2, *GRID.shape[1:]))), torch.eye(faces[0].numel()).double()
    columns = [kernel.combine(op, e.reshape(GRID.shape), 0.0, 0 * faces[0], 0.0, -1.0).ravel() for e in unit]
    matrix = torch.stack(columns).numpy() + np.diag(sinks.numpy().ravel())
    largest = np.linalg.eigvals(matrix / c.numpy().reshape(-1, 1)).real.max()
    assert largest <= bound <= plain


@pytest.mark.parametrize("memory", ["stored", "checkpointed", "reversed"])
def test_every_memory_gives_the_same_gradient(memory):
    model = HeatModel(GRID, TIMES, FLASH, LOSSY, dtype="float64", memory=memory, **OPTIONS["all"])
    alpha, resistance, rng = draw(7)
    lin = model.linearize(alpha, resistance=resistance)
    weights = torch.from_numpy(rng.standard_normal(tuple(lin.frames.shape)))
    again = HeatModel(GRID, TIMES, FLASH, LOSSY, dtype="float64", memory="stored", **OPTIONS["all"])
    other = again.linearize(alpha, resistance=resistance)
    torch.testing.assert_close(lin.vjp(weights), other.vjp(weights), rtol=1e-10, atol=1e-12)
    assert model.replaced(times=[0.2])(alpha).shape == (1, *GRID.shape[1:])


def test_jacobi_and_float32_go_along():
    alpha, resistance, _ = draw(9)
    exact = HeatModel(GRID, TIMES, FLASH, LOSSY, dtype="float64", integrator="implicit-euler", **OPTIONS["all"])
    jacobi = ImplicitEuler(solver=Jacobi(200))
    other = HeatModel(GRID, TIMES, FLASH, LOSSY, dtype="float32", integrator=jacobi, **OPTIONS["all"])
    one, two = exact(alpha, resistance=resistance), other(alpha, resistance=resistance)
    torch.testing.assert_close(one, two.double(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeatModel(GRID, TIMES, FLASH, capacity=np.ones((2, 2, 2))), r"capacity has shape \(2, 2, 2\)"),
        (lambda: HeatModel(GRID, TIMES, FLASH, capacity=np.zeros(GRID.shape)), "above 0 in all cells"),
        (lambda: HeatModel(GRID, TIMES, FLASH, capacity="air"), "capacity must be an array"),
        (lambda: HeatModel(GRID, TIMES, FLASH, open_cells=np.ones(GRID.shape, bool)), "in the front layer"),
        (lambda: HeatModel(GRID, TIMES, FLASH, open_cells=np.ones(GRID.shape)), "give true or false"),
        (lambda: HeatModel(GRID, TIMES, FLASH)(draw(1)[0], resistance=draw(1)[0]), r"resistance has shape.*z - 1"),
        (lambda: HeatModel(GRID, TIMES, FLASH)(draw(1)[0], resistance=-draw(1)[1]), "resistance is below 0"),
        (lambda: HeatModel(GRID, TIMES, FLASH)(draw(1)[0], resistance=np.nan * draw(1)[1]), "not finite"),
        (lambda: LayeredModel(HeatModel(GRID, TIMES, FLASH, capacity=capacities())), "use the HeatModel"),
    ],
)
def test_what_does_not_fit_is_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("robin", ["surface", "cell"])
@pytest.mark.parametrize("source", [FLASH, PULSE], ids=["flash", "pulse"])
def test_holes_are_those_of_the_independent_simulator(kernel, robin, source):
    """Forward Euler that shares no code, at two step lengths extrapolated to none."""
    boundary = Boundary("adiabatic", "robin", "robin", 0.4, 0.9, robin)
    alpha = draw(10)[0]
    model = HeatModel(
        GRID, TIMES, source, boundary, anisotropy=(1.7, 0.6), open_cells=holes(), kernel=kernel, dtype="float64"
    )
    coarse, fine = (
        simulate_explicit(GRID, alpha.numpy(), TIMES, source, boundary, anisotropy=(1.7, 0.6), air=holes(), safety=n)
        for n in (500, 1000)
    )
    np.testing.assert_allclose(model(alpha), 2 * fine - coarse, rtol=2e-5)
