"""Heating of any course: exact responses of the modes, the model against closed forms, its derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, trapezoid

from nefty import SDIRK2, Boundary, Chebyshev, ConjugateGradients, Grid, HeatingCurve, HeatModel, PerFrame, TopHatPulse
from nefty.core.errors import InputError
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.layered import LayeredModel
from nefty.physics.problem import delayed
from nefty.physics.slab.surface import slab_surface
from nefty.testing import Slab, dot_product, taylor_order

CURVES = {
    "measured": HeatingCurve([0.02, 0.05, 0.05, 0.2, 0.3], [0.0, 3.0, 2.0, 1.0, 0.0], 3.0),
    "tail": HeatingCurve.flash_with_tail(0.02, 0.05, 0.4, amplitude=3.0, start=0.01),
    "long": HeatingCurve.long_pulse(0.2, amplitude=3.0),
    "step": HeatingCurve.step(1.0, amplitude=3.0),
    "lock-in": HeatingCurve.lock_in(5.0, 4, 0.2, amplitude=3.0),
}
BACK = Boundary("adiabatic", "robin", "robin", 0.4, 0.3)
TIMES = np.array([0.03, 0.1, 0.35])


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_brings_one_unit_of_heat(name):
    history = CURVES[name].history
    assert trapezoid(history.rates, history.times) == pytest.approx(1, rel=1e-12)
    assert history.heat(np.array([history.start, history.end, 9.0])) == pytest.approx([0, 1, 1], abs=1e-12)
    middle = sum(
        quad(lambda t: t * float(history.rate(np.array(t))), a, b)[0] for a, b in itertools.pairwise(history.times)
    )
    assert history.middle == pytest.approx(middle, rel=1e-6)


@pytest.mark.parametrize("name", ["measured", "long", "lock-in"])
@pytest.mark.parametrize("lam", [0.0, 1e-9, 0.3, 40.0, 1e4])
def test_the_response_of_a_mode_is_the_integral(name, lam):
    history = CURVES[name].history
    times = np.array([0.0, 0.03, 0.05, 0.12, 0.25, 0.9])
    found, slope = history.response_and_slope(np.array(lam), times)
    for t, value in zip(times, found, strict=True):
        inner = [k for k in history.times if k < t]
        knots = np.unique([*inner, t, *(t - np.array([1, 5, 30]) / max(lam, 1e-3))])
        knots = knots[(knots >= history.start) & (knots <= t)]
        exact = sum(
            quad(lambda s: float(history.rate(np.array(s))) * np.exp(-lam * (t - s)), a, b, epsabs=1e-14)[0]  # noqa: B023
            for a, b in itertools.pairwise(knots)
        )
        assert value == pytest.approx(exact, rel=1e-7, abs=1e-11)
    e = 1e-5 * max(lam, 1e-3)
    if lam > e:
        high, low = (history.response(np.array(lam + d), times) for d in (e, -e))
        assert slope == pytest.approx((high - low) / (2 * e), rel=1e-5, abs=1e-9)
    assert np.array_equal(history.response(np.array(lam), times), found)


@given(st.floats(0.01, 2), st.floats(0, 1), st.floats(1e-8, 1e6), st.floats(0.001, 5))
@settings(deadline=None)
def test_a_constant_curve_is_the_pulse(duration, start, lam, time):
    from nefty.physics.chebyshev import response_of

    end = start + duration
    history = HeatingCurve.long_pulse(duration, start=start).history
    found = history.response(np.array(lam), np.array(time))
    exact = response_of(np.array(lam), np.array(time), (start, end))[0] / duration
    assert float(found) == pytest.approx(float(exact), rel=1e-8, abs=1e-13)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("integrator", [Chebyshev(1e-13), SDIRK2(PerFrame(200))])
def test_frames_are_those_of_the_same_pulse_and_of_sums_of_pulses(kernel, integrator):
    """A ramp by many top hats; and a long pulse, in and after which frames lie."""
    grid = Grid((8, 2, 2), (1.0, 1.0, 1.0))
    options = {"kernel": kernel, "dtype": "float64", "integrator": integrator, "observe": "both"}
    alpha = np.full(grid.shape, 0.2) * np.linspace(1, 2, 8)[:, None, None]
    close = 2e-5 if isinstance(integrator, SDIRK2) else 1e-9
    exact = HeatModel(grid, TIMES, TopHatPulse(3.0, 0.2), BACK, dtype="float64", observe="both")(alpha)
    found = HeatModel(grid, TIMES, CURVES["long"], BACK, **options)(alpha)
    torch.testing.assert_close(found, exact, rtol=close, atol=close)
    ramp = HeatModel(grid, TIMES, HeatingCurve([0.0, 0.3], [0.0, 1.0]), BACK, **options)(alpha)
    parts, n = 0.0, 60
    for k in range(n):
        share = (2 * k + 1) / n**2
        pulse = TopHatPulse(share, 0.3 / n, 0.3 * k / n)
        parts = parts + HeatModel(grid, TIMES, pulse, BACK, dtype="float64", observe="both")(alpha)
    torch.testing.assert_close(ramp, parts, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("kernel", ["numba", "torch"])
@pytest.mark.parametrize("integrator", [Chebyshev(1e-13), SDIRK2(solver=ConjugateGradients(1e-13))])
@pytest.mark.parametrize("name", CURVES)
def test_derivatives(kernel, integrator, name):
    grid = Grid((3, 4, 3), (1.0, 1.5, 1.0))
    model = HeatModel(
        grid, TIMES, CURVES[name], BACK, kernel=kernel, dtype="float64", integrator=integrator, observe="both"
    )
    generator = torch.Generator().manual_seed(3)
    alpha = 0.05 + 0.25 * torch.rand(grid.shape, dtype=torch.float64, generator=generator)
    direction = alpha * torch.randn(grid.shape, dtype=torch.float64, generator=generator)
    lin = model.linearize(alpha)
    weights = torch.randn(lin.frames.shape, dtype=torch.float64, generator=generator)
    assert dot_product(lin.jvp, lin.vjp, direction, weights) <= 1e-10
    check = taylor_order(lambda a: (weights * model(a)).sum(), lin.vjp(weights), alpha, direction, precision=1e-13)
    assert 1.9 <= check.order < np.inf, f"{check}"
    amplitude = lin.vjp(weights, "amplitude")
    assert float(amplitude) == pytest.approx(float((weights * lin.frames).sum()) / 3.0, rel=1e-10)


def test_a_layered_part_has_the_frames_and_slopes_of_the_model():
    grid = Grid((6, 4, 4), (1.0, 1.0, 1.0))
    profile = 1 + 0.3 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)[:, None] * np.ones(4)
    curve = HeatingCurve.lock_in(5.0, 3, amplitude=3.0)
    curve = HeatingCurve(curve.times, curve.values, 3.0, profile)
    model = HeatModel(grid, TIMES, curve, BACK, dtype="float64")
    alpha = np.linspace(0.1, 0.3, 6)
    frames, slopes = LayeredModel(model).linearize(alpha)
    volume = torch.from_numpy(np.broadcast_to(alpha[:, None, None], grid.shape).copy())
    lin = model.linearize(volume)
    np.testing.assert_allclose(frames, lin.frames, rtol=1e-7)
    for k in range(6):
        move = torch.zeros(grid.shape, dtype=torch.float64)
        move[k] = alpha[k]
        np.testing.assert_allclose(slopes[k], lin.jvp(move), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("losses", [{}, {"h_front": 0.3, "h_back": 0.2}, {"h_back": 0.2}])
def test_the_surface_of_a_slab_in_and_after_a_long_pulse(losses):
    times = np.array([0.02, 0.1, 0.5, 0.99, 1.02, 1.5, 4.0])
    found = slab_surface(times, 0.1, 1.0, **losses, pulse=HeatingCurve.long_pulse(1.0).history)
    coarse, fine = (Slab(0.1, 1.0, n, **losses).pulse(times, 1.0)[:, :2] @ [1.5, -0.5] for n in (1000, 2000))
    np.testing.assert_allclose(found, (4 * fine - coarse) / 3, rtol=2e-6)


@pytest.mark.parametrize("name", CURVES)
def test_the_surface_of_a_slab_is_the_limit_of_the_cells(name):
    times = np.array([0.06, 0.12, 0.31, 0.6, 1.4])
    found = slab_surface(times, 0.1, 1.0, h_front=0.3, h_back=0.2, pulse=CURVES[name].history)
    boundary = Boundary("adiabatic", "robin", "robin", 0.3, 0.2)
    surfaces = []
    for n in (200, 400):
        model = HeatModel(
            Grid((n, 1, 1), (1.0, 1.0, 1.0)), times, CURVES[name], boundary, dtype="float64", observe="volume"
        )
        cells = model(np.full((n, 1, 1), 0.1)).numpy()[:, :2, 0, 0]
        surfaces.append(cells @ [1.5, -0.5])
    np.testing.assert_allclose(3 * found, (4 * surfaces[1] - surfaces[0]) / 3, rtol=1e-4)


def test_a_delay_shifts_the_answer():
    history, lam, times = CURVES["measured"].history, np.array([[0.0], [3.0]]), np.array([0.1, 0.3, 0.9])
    later = delayed(history, 0.04)
    assert isinstance(later, HeatingHistory)
    np.testing.assert_allclose(later.response(lam, times + 0.04), history.response(lam, times), rtol=1e-10)
    assert delayed((0.1, 0.3), 0.5) == (0.6, 0.8)
    assert delayed(None, 0.5) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HeatingCurve([0, 1, 0.5], [1, 1, 1]), "point 2 of the heating.*sort the points"),
        (lambda: HeatingCurve([0, 1], [1, np.nan]), "point 1 of the heating.*leave that point out"),
        (lambda: HeatingCurve([0, 1], [1, -1]), "negative heating; subtract"),
        (lambda: HeatingCurve([-1, 1], [1, 1]), "before 0"),
        (lambda: HeatingCurve([0, 1], [0, 0]), "0 everywhere"),
        (lambda: HeatingCurve([0], [0]), "at least two points"),
        (lambda: HeatingCurve([0, 1], np.array(["a", "b"])), "lists of numbers"),
        (lambda: HeatingCurve.flash_with_tail(1, 1, 1), "share=1"),
        (lambda: HeatingCurve.step(1, start=2), "until=1 must come after"),
        (lambda: HeatingCurve.lock_in(0, 1), "frequency=0"),
        (lambda: HeatingCurve([0, 1], [1, 1], profile=np.ones((3, 3))).shape(Grid((2, 2, 2), (1, 1, 1))), "resample"),
    ],
)
def test_bad_curves_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
