"""The independent simulator of parts with holes, and of the surface itself."""

import numpy as np
import pytest
from scipy import linalg

from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import TopHatPulse
from nefty.physics.slab.surface import slab_surface
from nefty.synth.explicit import simulate_explicit
from nefty.testing import observed_order
from support.conducting_parts import HARD, MEANS, SIDES, dense_operator, hole, random_alpha


@pytest.mark.parametrize("lateral", SIDES)
def test_air_that_takes_no_heat_is_an_insulator(lateral):
    grid, times = Grid((8, 7, 9), (1.0, 1.4, 1.8)), [0.2, 0.6, 2.0]
    air = hole(grid.shape, np.s_[3:, 2:5, 3:7])
    boundary = Boundary(lateral, front="robin", h_front=0.2)
    alpha, more = random_alpha(grid.shape), {"observe": "front", "anisotropy": (1.5, 0.7)}
    start = np.random.default_rng(3).uniform(0, 1, grid.shape)
    open_hole = simulate_explicit(grid, alpha, times, start, boundary, air=air, **more)
    closed = simulate_explicit(grid, np.where(air, 1e-12, alpha), times, start, boundary, **more)
    np.testing.assert_allclose(open_hole, closed, rtol=1e-3)  # another number of substeps
    filled = simulate_explicit(grid, alpha, times, start, boundary, **more)
    assert abs(open_hole - filled).max() > 0.01


@pytest.mark.parametrize("robin", ["surface", "cell"])
def test_air_and_its_walls_are_those_of_the_dense_operator(robin):
    """Every face between part and air loses 1/(1/h_back + half a cell/alpha) T; what was warm in the air is gone."""
    grid, anisotropy, times = Grid((4, 3, 4), (0.8, 0.6, 1.1)), (1.7, 0.6), [0.1, 0.4]
    boundary = Boundary("adiabatic", "robin", "robin", h_front=0.4, h_back=0.9, robin=robin)
    air = hole(grid.shape, np.s_[2:, 1, 1:3])
    alpha, start = random_alpha(grid.shape), np.random.default_rng(1).uniform(0, 1, grid.shape)
    matrix = dense_operator(grid, alpha, boundary, "harmonic", anisotropy)
    index = np.arange(grid.cells).reshape(grid.shape)
    for axis, (n, d, ratio) in enumerate(zip(grid.shape, grid.spacing, (1.0, *anisotropy), strict=True)):
        for i in range(n - 1):
            for a, b in zip(index.take(i, axis).ravel(), index.take(i + 1, axis).ravel(), strict=True):
                if air.flat[a] == air.flat[b]:
                    continue
                warm = b if air.flat[a] else a
                half = d / (2 * ratio * alpha.flat[warm]) if robin == "surface" else 0
                conductance = ratio * MEANS["harmonic"](alpha.flat[a], alpha.flat[b]) / d**2
                matrix[warm, warm] += conductance - 1 / (1 / boundary.h_back + half) / d
    part = np.flatnonzero(~air)
    matrix = matrix[np.ix_(part, part)]
    seen = np.flatnonzero(part < index[1, 0, 0])
    exact = [(linalg.expm(t * matrix) @ start.ravel()[part])[seen].reshape(3, 4) for t in times]
    frames = simulate_explicit(
        grid, alpha, times, start, boundary, anisotropy=anisotropy, air=air, safety=2000, observe="front"
    )  # fmt: skip
    np.testing.assert_allclose(frames, exact, rtol=2e-3)


def test_a_hole_takes_the_heat_that_crosses_its_walls():
    """Alike columns: a layer of air under the whole part is a back face that lies higher, with the same loss."""
    boundary = Boundary(back="robin", h_back=0.3)
    grid, thin = Grid((10, 2, 2), (1.0, 1.0, 1.0)), Grid((6, 2, 2), (0.6, 1.0, 1.0))
    start, times = np.random.default_rng(5).uniform(0, 1, grid.shape), [0.0, 0.5, 2.0]
    air = hole(grid.shape, np.s_[6:])
    over = simulate_explicit(grid, np.full(grid.shape, 0.15), times, start, boundary, air=air, observe="both")
    alone = simulate_explicit(thin, np.full(thin.shape, 0.15), times, start[:6], boundary)
    np.testing.assert_allclose(over[0], alone, rtol=1e-12)
    assert (over[1] == 0).all()  # air stays at ambient


@pytest.mark.parametrize("losses", [{}, {"h_front": 0.1}, {"h_front": 0.1, "h_back": 0.3}])
def test_the_surface_converges_to_the_exact_one_at_second_order(losses):
    boundary = Boundary(**{side[2:]: "robin" for side in losses}, **losses)
    times, pulse = np.array([0.3, 0.6, 2.0]), TopHatPulse(duration=0.1)
    exact = slab_surface(times, 0.15, 1.0, **losses, pulse=(0.0, 0.1))

    def error(layers):
        grid = Grid((layers, 1, 1), (1.0, 1.0, 1.0))
        alpha = np.full(grid.shape, 0.15)
        frames = simulate_explicit(grid, alpha, times, pulse, boundary, observe="surface", safety=2)
        return abs(frames[:, 0, 0] - exact).max()

    layers = [16, 32, 64]
    assert observed_order([1 / n for n in layers], [error(n) for n in layers]) > 1.8
    assert error(64) < 1e-3


def test_the_refined_surface_is_seen_as_means_over_the_coarse_pixels():
    grid = Grid((4, 3, 2), (1.0, 1.0, 1.0))
    fine = grid.refined(2)
    alpha, start = random_alpha(fine.shape), np.random.default_rng(2).uniform(0, 1, fine.shape)
    whole = simulate_explicit(fine, alpha, [0.1], start, HARD, observe="surface")
    means = simulate_explicit(grid, alpha, [0.1], start, HARD, observe="surface", refine=2)
    np.testing.assert_allclose(means[0], whole[0].reshape(3, 2, 2, 2).mean(axis=(1, 3)), rtol=1e-12)
