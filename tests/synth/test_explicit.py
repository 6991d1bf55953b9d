"""The independent simulator against dense matrices, exact modes, conservation laws and closed forms."""

import itertools
import math

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.synth import explicit
from nefty.synth.explicit import simulate_explicit
from nefty.testing import Slab, cosine_mode, discrete_decay_rate, observed_order
from support.conducting_parts import HARD, MEANS, SIDES, dense_operator, hole, random_alpha


@pytest.mark.parametrize("face_mean", MEANS)
@pytest.mark.parametrize("lateral", SIDES)
@pytest.mark.parametrize("robin", ["surface", "cell"])
def test_it_converges_at_first_order_to_the_matrix_exponential(face_mean, lateral, robin):
    grid, anisotropy, times = Grid((3, 2, 4), (0.6, 0.5, 1.1)), (1.7, 0.6), [0.05, 0.2]
    boundary = Boundary(lateral, "robin", "robin", h_front=0.4, h_back=0.9, robin=robin)
    alpha, start = random_alpha(grid.shape), np.random.default_rng(1).uniform(0, 1, grid.shape)
    matrix = dense_operator(grid, alpha, boundary, face_mean, anisotropy)
    exact = np.stack([(linalg.expm(t * matrix) @ start.ravel()).reshape(grid.shape)[[0, -1]] for t in times], axis=1)

    def simulate(safety):
        return simulate_explicit(
            grid, alpha, times, start, boundary,
            face_mean=face_mean, anisotropy=anisotropy, observe="both", safety=safety,
        )  # fmt: skip

    factors = [50.0, 100.0, 200.0]
    runs = [simulate(s) for s in factors]
    errors = [abs(run - exact).max() for run in runs]
    assert errors[-1] < 1e-3
    assert observed_order(1 / np.array(factors), errors) == pytest.approx(1, abs=0.1)
    # Extrapolation takes the first-order error away, so nothing but the operator itself is left to disagree.
    assert abs(2 * runs[2] - runs[1] - exact).max() < 1e-5


@given(
    st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(1, 6)),
    st.tuples(*[st.integers(0, 3)] * 3),
    st.sampled_from(SIDES),
    st.tuples(*[st.floats(0.2, 5)] * 2),
    st.floats(0.01, 2),
)
@settings(deadline=None, max_examples=60)
def test_a_cosine_mode_shrinks_by_the_euler_factor_of_its_discrete_rate(shape, numbers, lateral, anisotropy, dt):
    grid = Grid(shape, (1.0, 2.0, 3.0))
    alpha = 0.2
    mode = cosine_mode(grid, numbers, lateral)
    frames = simulate_explicit(
        grid, np.full(shape, alpha), [dt, 3 * dt], mode, Boundary(lateral), anisotropy=anisotropy
    )  # fmt: skip
    # The rule of E.1, for the largest sum of conductances a cell of this grid has.
    ends = [0 if n == 1 else 1 if n == 2 and (a == 0 or lateral == "adiabatic") else 2 for a, n in enumerate(shape)]
    fastest = alpha * sum(
        e * r / d**2 for e, r, d in zip(ends, (1, *anisotropy), grid.spacing, strict=True)
    )  # fmt: skip
    rate = discrete_decay_rate(grid, numbers, alpha, lateral, anisotropy)
    factor = 1.0
    for frame, interval in zip(frames, (dt, 2 * dt), strict=True):
        substeps = max(10, math.ceil(2 * interval * fastest * (1 - 1e-9)))
        factor *= (1 - rate * interval / substeps) ** substeps
        assert np.allclose(frame, factor * mode[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("face_mean", MEANS)
@pytest.mark.parametrize("lateral", SIDES)
def test_energy_is_conserved_and_extremes_only_shrink(face_mean, lateral):
    grid = Grid((2, 9, 7), (0.2, 1.0, 1.0))  # two layers, so both faces show every cell
    start = np.random.default_rng(3).uniform(0, 100, grid.shape)
    frames = simulate_explicit(
        grid, random_alpha(grid.shape), np.linspace(0, 2, 21), start, Boundary(lateral),
        face_mean=face_mean, observe="both",
    )  # fmt: skip
    heat = frames.sum(axis=(0, 2, 3))
    assert np.allclose(heat, heat[0], rtol=1e-13)
    assert (np.diff(frames.max(axis=(0, 2, 3))) < 0).all()
    assert (np.diff(frames.min(axis=(0, 2, 3))) > 0).all()


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=15)
def test_reciprocity_what_a_sends_to_b_b_sends_to_a(seed):
    grid = Grid((2, 4, 5), (0.3, 1.0, 1.0))
    rng = np.random.default_rng(seed)
    a, b = rng.choice(grid.cells, 2, replace=False)
    alpha = random_alpha(grid.shape, seed)

    def from_cell(i):
        start = np.zeros(grid.cells)
        start[i] = 1.0
        frames = simulate_explicit(grid, alpha, [0.1, 0.5], start.reshape(grid.shape), HARD, observe="both")
        return np.moveaxis(frames, 1, 0).reshape(2, -1)

    assert np.allclose(from_cell(a)[:, b], from_cell(b)[:, a], rtol=1e-11, atol=1e-15)


def test_periodic_sides_do_not_care_where_the_picture_is_cut():
    grid = Grid((4, 6, 5), (0.5, 1.0, 1.0))
    alpha, start = random_alpha(grid.shape), np.random.default_rng(5).uniform(0, 1, grid.shape)
    frames = simulate_explicit(grid, alpha, [0.1, 1.0], start)
    moved = simulate_explicit(grid, np.roll(alpha, (2, 3), (1, 2)), [0.1, 1.0], np.roll(start, (2, 3), (1, 2)))
    assert np.allclose(moved, np.roll(frames, (2, 3), (1, 2)), rtol=1e-13)


def test_axes_can_be_exchanged():
    grid, alpha = Grid((3, 4, 6), (0.5, 1.0, 2.0)), random_alpha((3, 4, 6))
    start = np.random.default_rng(5).uniform(0, 1, grid.shape)
    swapped = Grid((3, 6, 4), (0.5, 2.0, 1.0))
    a = simulate_explicit(grid, alpha, [0.3], start, HARD, anisotropy=(2.0, 0.5))
    b = simulate_explicit(
        swapped, alpha.swapaxes(1, 2), [0.3], start.swapaxes(1, 2), HARD, anisotropy=(0.5, 2.0)
    )  # fmt: skip
    assert np.allclose(a, b.swapaxes(1, 2), rtol=1e-13)


def test_front_and_back_change_places_when_the_slab_is_turned():
    grid, alpha = Grid((4, 3, 3), (0.5, 1.0, 1.0)), random_alpha((4, 3, 3))
    start = np.random.default_rng(5).uniform(0, 1, grid.shape)
    turned = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=0.9, h_back=0.4)
    both = simulate_explicit(grid, alpha, [0.0, 0.3], start, HARD, observe="both")
    assert both.shape == (2, 2, 3, 3)
    assert np.allclose(
        both[::-1], simulate_explicit(grid, alpha[::-1], [0.0, 0.3], start[::-1], turned, observe="both")
    )
    assert np.array_equal(both[0], simulate_explicit(grid, alpha, [0.0, 0.3], start, HARD, observe="front"))
    assert np.array_equal(both[1], simulate_explicit(grid, alpha, [0.0, 0.3], start, HARD, observe="back"))


@pytest.mark.parametrize("losses", [{}, {"h_back": 0.6}, {"h_front": 0.3, "h_back": 0.6}])
def test_a_slab_converges_to_the_series_at_second_order(losses):
    boundary = Boundary(**{side[2:]: "robin" for side in losses}, **losses)
    times = np.array([0.0, 0.1, 0.4, 1.6])

    def error(layers):
        start = Slab(0.15, 1.0, layers).gaussian_flash(0.0, 0.2, amplitude=100.0)[0]
        grid = Grid((layers, 1, 1), (1.0, 1.0, 1.0))
        frames = simulate_explicit(
            grid, np.full(grid.shape, 0.15), times, start[:, None, None], boundary, observe="both", refine=1
        )  # fmt: skip
        exact = Slab(0.15, 1.0, layers, **losses).gaussian_flash(times, 0.2, amplitude=100.0)
        return abs(frames[:, :, 0, 0] - exact[:, [0, -1]].T).max()

    layers = np.array([16, 32, 64])
    errors = [error(n) for n in layers]
    assert errors[-1] < 0.1
    assert observed_order(1 / layers, errors) == pytest.approx(2, abs=0.2)


def test_a_spreading_gaussian_widens_by_two_alpha_t():
    grid, sigma, alpha = Grid((12, 40, 44), (3.0, 10.0, 11.0)), 0.8, 0.1
    times = np.linspace(0, 2, 6)
    flash = GaussianFlash(width=sigma, depth=sigma)
    frames = simulate_explicit(grid, np.full(grid.shape, alpha), times, flash, anisotropy=(1.0, 2.0), safety=10)
    _, y, x = grid.centres()
    for c, ratio in ((y, 1.0), (x, 2.0)):
        variance = (frames * (c - c.mean()) ** 2).sum(axis=(1, 2)) / frames.sum(axis=(1, 2))
        assert np.polyfit(times, variance, 1)[0] == pytest.approx(2 * alpha * ratio, rel=1.6e-3)


@given(st.floats(0.01, 2.0), st.floats(0.0, 1.0), st.floats(-3, 3))
@settings(deadline=None, max_examples=30)
def test_a_pulse_brings_its_heat_exactly_wherever_its_edges_lie(duration, start, amplitude):
    grid, times = Grid((2, 1, 2), (0.5, 1.0, 1.0)), np.linspace(0, 3.2, 9)
    pulse = TopHatPulse(amplitude, duration, start, profile=np.array([[1.5, 0.5]]))
    frames = simulate_explicit(grid, random_alpha(grid.shape), times, pulse, observe="both")
    share = np.clip((times - start) / duration, 0, 1)
    assert np.allclose(frames.mean(axis=(0, 2, 3)), amplitude * share, rtol=0, atol=1e-12)


@pytest.mark.parametrize("losses", [{}, {"h_back": 0.6}, {"h_front": 0.3, "h_back": 0.6}])
def test_a_pulse_agrees_with_the_series_during_and_after_it(losses):
    boundary = Boundary(**{side[2:]: "robin" for side in losses}, **losses)
    times, pulse = np.array([0.15, 0.3, 0.45, 1.0]), TopHatPulse(5.0, 0.25, 0.12)
    exact = Slab(0.1, 1.0, 8, **losses).pulse(times, 0.25, 0.12, amplitude=5.0)[:, [0, -1]].T
    grid = Grid((8, 1, 1), (1.0, 1.0, 1.0))
    errors = [
        abs(simulate_explicit(
            grid, np.full(grid.shape, 0.1), times, pulse, boundary, observe="both", refine=n
        )[:, :, 0, 0] - exact).max()
        for n in (2, 4, 8)
    ]  # fmt: skip
    assert errors[-1] < 2e-3 * exact.max()
    assert observed_order([4, 2, 1], errors) > 1.8


@pytest.mark.parametrize("initial", ["array", "flash", "pulse"])
def test_refined_frames_are_means_over_the_coarse_cells(initial):
    grid, factor, times = Grid((1, 3, 4), (0.3, 1.0, 1.0)), 2, [0.0, 0.07, 0.2]
    fine = grid.refined(factor)  # two layers, so both faces show every fine cell
    alpha, profile = random_alpha(grid.shape), np.random.default_rng(2).uniform(0, 1, (3, 4))
    spread = np.ones((1, factor, factor))
    coarse_start, fine_start = {
        "array": (profile[None], np.kron(profile[None], np.ones((factor,) * 3))),
        "flash": (GaussianFlash(width=0.4, depth=0.2),) * 2,
        "pulse": (TopHatPulse(2.0, 0.1, profile=profile), TopHatPulse(2.0, 0.1, profile=np.kron(profile, spread[0]))),
    }[initial]
    fine_alpha = alpha.repeat(factor, 0).repeat(factor, 1).repeat(factor, 2)
    inside = simulate_explicit(fine, fine_alpha, times, fine_start, observe="both").mean(axis=0)
    expected = inside.reshape(3, 3, factor, 4, factor).mean(axis=(2, 4))
    for a, start in ((alpha, coarse_start), (fine_alpha, coarse_start), (alpha, fine_start)):
        frames = simulate_explicit(grid, a, times, start, refine=factor)
        assert frames.shape == (3, 3, 4)
        assert np.allclose(frames, expected, rtol=1e-13, atol=1e-14)


def test_refinement_of_a_smooth_case_converges():
    grid, times = Grid((4, 8, 8), (1.0, 2.0, 2.0)), [0.2, 0.8]
    z, y, x = grid.refined(8).centres()
    smooth = 0.1 + 0.05 * np.cos(np.pi * x) * np.cos(np.pi * y) * np.cos(np.pi * z)

    def on(n):
        k = 8 // n
        return smooth.reshape(4 * n, k, 8 * n, k, 8 * n, k).mean(axis=(1, 3, 5))

    flash = UniformFlash(100.0, 0.3)
    runs = [simulate_explicit(grid, on(n), times, flash, refine=n) for n in (1, 2, 4, 8)]
    changes = [abs(a - b).max() for a, b in itertools.pairwise(runs)]
    assert observed_order([4, 2, 1], changes) == pytest.approx(2, abs=0.3)


def test_time_zero_shows_the_start_and_inputs_stay_as_they_were():
    grid = Grid((3, 2, 2), (1.0, 1.0, 1.0))
    start, alpha = np.random.default_rng(0).uniform(0, 1, grid.shape), random_alpha(grid.shape)
    before = start.copy(), alpha.copy()
    frames = simulate_explicit(grid, alpha, [0.0, 1.0], start)
    assert np.array_equal(frames[0], start[0])
    assert np.array_equal(start, before[0])
    assert np.array_equal(alpha, before[1])
    flash = UniformFlash(7.0, 0.5)
    assert np.array_equal(simulate_explicit(grid, alpha, [0.0], flash)[0], 7 * flash.shape(grid)[0])


def test_single_precision_input_is_computed_in_double():
    grid = Grid((3, 2, 2), (1.0, 1.0, 1.0))
    alpha = np.full(grid.shape, 0.25, dtype=np.float32)  # exact in both
    start = cosine_mode(grid, (0, 1, 0)).astype(np.float32)
    frames = simulate_explicit(grid, alpha, [1.0], start)
    assert frames.dtype == np.float64
    assert np.array_equal(frames, simulate_explicit(grid, alpha.astype(float), [1.0], start.astype(float)))


def test_threads_change_nothing_and_are_given_back(monkeypatch):
    grid, alpha = Grid((5, 6, 7), (1.0, 1.0, 1.0)), random_alpha((5, 6, 7))
    pulse, allowed = TopHatPulse(3.0, 0.2, 0.1), numba.get_num_threads()
    alone = simulate_explicit(grid, alpha, [0.2, 0.5], pulse, HARD)
    monkeypatch.setattr(explicit, "CELLS_FOR_THREADS", 1)
    assert np.array_equal(simulate_explicit(grid, alpha, [0.2, 0.5], pulse, HARD), alone)
    assert numba.get_num_threads() == allowed


def test_progress_is_told_after_every_frame():
    calls = []
    grid = Grid((1, 1, 1), (1.0, 1.0, 1.0))
    simulate_explicit(
        grid, np.ones((1, 1, 1)), [0.0, 0.1, 0.2], np.ones((1, 1, 1)), progress=lambda *a: calls.append(a)
    )
    assert calls == [(1, 3), (2, 3), (3, 3)]


GOOD = {
    "grid": Grid((2, 3, 4), (1.0, 1.0, 1.0)),
    "alpha": np.full((2, 3, 4), 0.1),
    "times": [0.1, 0.2],
    "initial": np.ones((2, 3, 4)),
}


def with_bad_cell(value):
    field = np.full((2, 3, 4), 0.1)
    field[1, 2, 3] = value
    return field


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": with_bad_cell(np.nan)}, r"alpha\[1, 2, 3\]=nan is not finite; repair"),
        ({"alpha": with_bad_cell(-0.1)}, r"alpha\[1, 2, 3\]=-0.1 must be above 0"),
        ({"alpha": with_bad_cell(0.0)}, r"alpha\[1, 2, 3\]=0 must be above 0"),
        ({"alpha": np.ones((4, 3, 2))}, r"alpha has shape \(4, 3, 2\), the grid \(2, 3, 4\), in the order"),
        ({"alpha": np.ones((4, 3, 2)), "refine": 2}, r"refined one \(4, 6, 8\)"),
        ({"alpha": "much"}, "alpha must be numbers"),
        ({"initial": with_bad_cell(np.inf)}, r"initial\[1, 2, 3\]=inf"),
        ({"initial": np.ones((3, 4))}, r"initial has shape \(3, 4\)"),
        ({"initial": TopHatPulse(profile=np.ones((9, 9)))}, "pulse profile has shape"),
        ({"times": [0.2, 0.1]}, "times must increase"),
        ({"times": [-0.2, 0.1]}, "before the flash"),
        ({"face_mean": "harmonical"}, "Did you mean 'harmonic'"),
        ({"observe": "side"}, "observe='side' is unknown"),
        ({"anisotropy": 2.0}, "anisotropy=2.0 must be two ratios"),
        ({"anisotropy": (1.0, 0.0)}, "anisotropy along x=0 must be above 0"),
        ({"refine": 0}, "refine=0"),
        ({"refine": 1.5}, "refine=1.5"),
        ({"safety": 0.5}, "safety=0.5 must be at least 1"),
        ({"air": np.zeros((2, 3, 4))}, r"air of float64 \(2, 3, 4\) must be true or false for each cell"),
        ({"air": np.zeros((4, 3, 2), bool)}, r"air of bool \(4, 3, 2\) must be .* \(2, 3, 4\)"),
        ({"air": np.zeros((2, 3, 4), bool), "refine": 2}, r"for each cell \(4, 6, 8\)"),
        ({"air": np.ones((2, 3, 4), bool)}, "air reaches the front face"),
        ({"air": hole((2, 3, 4), np.s_[1, 1, 1]), "observe": "surface"}, "air reaches the front face"),
        ({"air": hole((2, 3, 4), np.s_[1, 0, 1])}, "air across a periodic side is not supported"),
        (
            {
                "observe": "surface",
                "grid": Grid((1, 3, 4), (1.0, 1.0, 1.0)),
                "alpha": np.full((1, 3, 4), 0.1),
                "initial": np.ones((1, 3, 4)),
            },
            "needs at least two layers of cells, the grid has 1",
        ),
    ],
)
def test_bad_input_is_named(changes, message):
    with pytest.raises(InputError, match=message):
        simulate_explicit(**(GOOD | changes))
