"""The part without lateral structure, by modes, against the solver in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from nefty import Boundary, GaussianFlash, Grid, HeatModel, TopHatPulse, UniformFlash
from nefty.physics.layered import LayeredModel
from nefty.testing import taylor_order

GRID = Grid((5, 6, 4), (1.0, 3.0, 2.4))
TIMES = [0.0, 0.1, 0.25, 0.4, 1.0, 3.0]
ALPHA = np.array([0.1, 0.1, 0.3, 0.15, 0.06])  # two equal neighbours, where the least of both has a kink
EXACT = 1e-9  # of the greatest value: the lateral eigenvalues are told apart to 1e-9
RANDOM = np.random.default_rng(8)
HEAT = {
    "uniform": UniformFlash(100.0, 0.3),
    "array": RANDOM.uniform(0, 10, GRID.shape),
    "pulse": TopHatPulse(20.0, 0.3, 0.05),
    "profile": TopHatPulse(20.0, 0.3, 0.05, RANDOM.uniform(0, 1, GRID.shape[1:])),
}
ROBIN = {"front": "robin", "back": "robin", "h_front": 0.4, "h_back": 0.2}


def by_layer(model: HeatModel, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames and their derivatives by log alpha of each layer, from the volume."""
    volume = torch.from_numpy(alpha)[:, None, None].expand(model.grid.shape).clone()
    linearization = model.linearize(volume)
    columns = []
    for layer in range(len(alpha)):
        move = torch.zeros_like(volume)
        move[layer] = alpha[layer]
        columns.append(linearization.jvp(move).numpy())
    return linearization.frames.numpy(), np.stack(columns)


def assert_same(model: HeatModel, alpha: np.ndarray = ALPHA, tolerance: float = EXACT) -> None:
    for got, want in zip(LayeredModel(model).linearize(alpha), by_layer(model, alpha), strict=True):
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * np.abs(want).max())


def model_of(heat: Any = HEAT["array"], boundary: Boundary | None = None, grid: Grid = GRID, **more: Any) -> HeatModel:
    return HeatModel(grid, TIMES, heat, boundary, dtype="float64", **more)


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("observe", ["front", "back", "both"])
@pytest.mark.parametrize("kind", HEAT)
def test_it_is_the_heat_model(lateral, observe, kind):
    assert_same(model_of(HEAT[kind], Boundary(lateral), observe=observe))


@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
@pytest.mark.parametrize("robin", ["surface", "cell"])
@pytest.mark.parametrize("kind", ["array", "profile"])
def test_faces_may_lose_heat(lateral, robin, kind):
    assert_same(model_of(HEAT[kind], Boundary(lateral, robin=robin, **ROBIN), observe="both"))


@pytest.mark.parametrize("face_mean", ["harmonic", "arithmetic", "min"])
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_conduction_may_be_anisotropic_and_of_any_mean(lateral, face_mean):
    assert_same(model_of(boundary=Boundary(lateral), face_mean=face_mean, anisotropy=(3.0, 0.5)))


@pytest.mark.parametrize(("lateral", "tolerance"), [("periodic", 1e-4), ("adiabatic", 5e-4)])
def test_faint_modes_of_a_smooth_flash_may_be_left_out(lateral, tolerance):
    """Those below 1e-5 of the strongest, which add up at a pixel; cosines fall slowly where a side cuts the flash."""
    grid = Grid((5, 24, 20), (1.0, 6.0, 5.0))
    model = model_of(GaussianFlash(100.0, 1.0, 0.2, centre=(2.0, 3.0)), Boundary(lateral), grid, observe="both")
    assert_same(model, tolerance=tolerance)


@pytest.mark.parametrize("shape", [(1, 3, 4), (2, 1, 1), (4, 1, 5), (3, 2, 2)])
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_the_grid_may_be_a_single_layer_or_column(shape, lateral):
    heat = np.random.default_rng(1).uniform(0, 10, shape)
    grid = Grid(shape, (1.0, 1.0, 2.0))
    assert_same(model_of(heat, Boundary(lateral, **ROBIN), grid, observe="both"), ALPHA[: shape[0]])


def test_layers_on_both_sides_of_an_insulator_decay_alike():
    """Pairs of equal eigenvalues, whose divided difference is a derivative."""
    assert_same(model_of(observe="both"), np.array([0.1, 0.1, 1e-9, 0.1, 0.1]))


@pytest.mark.parametrize("observe", ["front", "both"])
def test_some_frames_are_those_of_all(observe):
    model, some = model_of(observe=observe), np.array([1, 2, 5])
    chosen = LayeredModel(model, some)
    assert np.array_equal(chosen.times, model.times[some])
    for few, all_of_them in zip(chosen.linearize(ALPHA), LayeredModel(model).linearize(ALPHA), strict=True):
        np.testing.assert_allclose(few, all_of_them[..., some, :, :], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", HEAT)
def test_its_jacobian_is_that_of_its_frames(kind, rng):
    part = LayeredModel(model_of(HEAT[kind], Boundary("adiabatic", **ROBIN)))
    point, direction = np.log([0.12, 0.1, 0.3, 0.15, 0.06]), rng.standard_normal(5)
    frames, jacobian = part.linearize(np.exp(point))
    weights = rng.standard_normal(frames.shape)
    gradient = np.tensordot(jacobian, weights, 3)
    check = taylor_order(lambda x: np.sum(weights * part.linearize(np.exp(x))[0]), gradient, point, direction)
    assert check.passed, check


def test_a_model_in_single_precision_serves_as_well():
    single, double = (LayeredModel(HeatModel(GRID, TIMES, HEAT["array"], dtype=t)) for t in ("float32", "float64"))
    for got, want in zip(single.linearize(ALPHA), double.linearize(ALPHA), strict=True):
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("unit", [1e-3, 25.4, 1e4])
def test_the_unit_of_length_does_not_matter(unit):
    other = Grid(GRID.shape, tuple(unit * s for s in GRID.size))  # pyright: ignore[reportArgumentType]
    here = LayeredModel(model_of()).linearize(ALPHA)
    there = LayeredModel(model_of(grid=other)).linearize(unit**2 * ALPHA)
    for got, want in zip(there, here, strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-8 * np.abs(want).max())
