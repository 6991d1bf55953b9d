"""The slab series against images, quadrature, conservation laws and a fine discretisation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, linalg, special

from nefty.core.errors import InputError
from nefty.testing import Slab, observed_order

LOSSES = [(0.0, 0.0), (0.7, 0.0), (0.0, 0.4), (0.3, 2.0)]
TIMES = np.array([0.01, 0.1, 1.0, 5.0])


def images(slab, times):
    """The adiabatic flash as sources mirrored at both faces: no series in common with the code."""
    z = np.linspace(0, slab.thickness, slab.layers + 1)
    sources = 2 * slab.thickness * np.arange(-60, 61)
    heat = special.erf((z - sources[:, None]) / np.sqrt(4 * slab.alpha * np.reshape(times, (-1, 1, 1)))).sum(axis=1)
    return slab.layers * np.diff(heat)


def fine_operator(slab, layers):
    """Finite volumes with second-order Robin faces on many layers, as a symmetric tridiagonal matrix."""
    dz = slab.thickness / layers
    diagonal = np.full(layers, -2 * slab.alpha / dz**2)
    diagonal[[0, -1]] += slab.alpha / dz**2
    for end, h in ((0, slab.h_front), (-1, slab.h_back)):
        diagonal[end] -= h / (1 + h * dz / (2 * slab.alpha)) / dz
    return linalg.eigh_tridiagonal(diagonal, np.full(layers - 1, slab.alpha / dz**2))


def evolve(slab, layers, start, times):
    rates, vectors = fine_operator(slab, layers)
    fine = (np.exp(np.outer(times, rates)) * (vectors.T @ start)) @ vectors.T
    return fine.reshape(len(times), slab.layers, -1).mean(axis=2)


@given(st.floats(1e-4, 10), st.floats(0.1, 10), st.integers(1, 30), st.floats(1e-9, 10))
@settings(deadline=None)
def test_flash_agrees_with_the_method_of_images_from_the_first_instant_on(alpha, thickness, layers, fourier):
    slab = Slab(alpha, thickness, layers)
    time = fourier * thickness**2 / alpha
    assert np.allclose(slab.flash(time), images(slab, time), rtol=0, atol=1e-11 * layers)


@given(st.integers(1, 40), st.floats(0, 100), st.floats(-5, 5))
@settings(deadline=None, max_examples=25)
def test_without_losses_no_heat_is_lost(layers, time, amplitude):
    slab = Slab(0.1, 1.0, layers)
    assert slab.flash(time, amplitude).mean() == pytest.approx(amplitude, abs=1e-11)
    kept = slab.gaussian_flash([0.0, time], 0.2, amplitude).mean(axis=1)
    assert kept[1] == pytest.approx(kept[0], abs=1e-11)
    after = slab.pulse(time + 0.3, 0.3, amplitude=amplitude)
    assert after.mean() == pytest.approx(amplitude, abs=1e-10)


@pytest.mark.parametrize(("h_front", "h_back"), LOSSES[1:])
def test_eigenvalues_satisfy_the_conditions_on_both_faces(h_front, h_back):
    slab = Slab(0.2, 1.5, 4, h_front, h_back)
    mu, phase, norm = slab.modes(50)
    assert (np.diff(mu) > 0).all()
    front = 0.2 * mu * np.sin(phase) - h_front * np.cos(phase)
    back = -0.2 * mu * np.sin(mu * 1.5 - phase) + h_back * np.cos(mu * 1.5 - phase)
    assert np.allclose(front, 0, atol=1e-12)
    assert np.allclose(back, 0, atol=1e-12)
    z = (np.arange(20_000) + 0.5) / 20_000 * 1.5
    modes = np.cos(mu[:6, None] * z - phase[:6, None])
    assert np.allclose(modes @ modes.T * 1.5 / 20_000, np.diag(norm[:6]), atol=1e-7)


@given(st.floats(0, 1e4), st.floats(0, 1e4))
@settings(deadline=None)
def test_no_eigenvalue_is_missed_or_doubled_at_any_loss(h_front, h_back):
    mu = Slab(1.0, np.pi, 1, h_front, h_back).modes(30).mu
    assert (mu >= np.arange(30) - 1e-12).all()
    assert (mu <= np.arange(1, 31) + 1e-12).all()
    assert (np.diff(mu) > 0.5).all()


@pytest.mark.parametrize(("h_front", "h_back"), LOSSES)
def test_gaussian_flash_is_the_limit_of_finite_volumes_at_second_order(h_front, h_back):
    slab = Slab(0.15, 1.2, 6, h_front, h_back)
    exact = slab.gaussian_flash(TIMES, 0.25)
    errors = []
    for layers in (60, 120, 240):
        start = Slab(0.15, 1.2, layers).gaussian_flash(0.0, 0.25)[0]
        errors.append(abs(evolve(slab, layers, start, TIMES) - exact).max())
    assert errors[-1] < 1e-4
    assert observed_order([4, 2, 1], errors) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(("h_front", "h_back"), LOSSES)
def test_flash_is_the_limit_of_a_thin_gaussian(h_front, h_back):
    slab = Slab(0.15, 1.2, 6, h_front, h_back)
    times = TIMES[1:]
    flash = slab.flash(times)
    depths = np.array([0.008, 0.004, 0.002])
    thin = [slab.gaussian_flash(times, d, 1.2 / (d * np.sqrt(np.pi / 2))) for d in depths]
    errors = [abs(t - flash).max() / flash.max() for t in thin]
    assert errors[-1] < 0.01
    # Heat that starts below a lossy face loses less of itself, in proportion to its depth.
    assert observed_order(depths, errors) == pytest.approx(1 if h_front else 2, abs=0.05)


@pytest.mark.parametrize(("h_front", "h_back"), LOSSES)
def test_early_times_continue_the_series(h_front, h_back):
    # The time below which all heat is taken to be in the first cell; the two formulas must meet there.
    slab = Slab(0.1, 1.0, 5, h_front, h_back)
    switch = 0.2**2 / (4 * 40 * 0.1)
    times = switch * np.array([1 - 1e-9, 1 + 1e-9])
    before, after = slab.flash(times)
    assert np.allclose(before, after, rtol=0, atol=1e-7)
    before, after = slab.pulse(times, 1.0)
    assert np.allclose(before, after, rtol=0, atol=1e-9)


def test_a_strong_loss_has_kept_the_share_of_a_half_space():
    slab = Slab(0.01, 1.0, 4, h_front=30.0)
    times = np.array([1e-5, 1e-4, 1e-3, 1e-2])
    kept = special.erfcx(30 * np.sqrt(times / 0.01))
    assert np.allclose(slab.flash(times).mean(axis=1), kept, rtol=1e-9)
    heated = slab.pulse(times, 1.0).mean(axis=1)
    expected = [integrate.quad(lambda s: special.erfcx(30 * np.sqrt(s / 0.01)), 0, t)[0] for t in times]
    assert np.allclose(heated, expected, rtol=1e-6)


@pytest.mark.parametrize(("h_front", "h_back"), LOSSES)
@pytest.mark.parametrize("time", [0.15, 0.3, 0.7, 3.0])
def test_pulse_is_the_flash_integrated_over_its_duration(h_front, h_back, time):
    slab = Slab(0.15, 1.2, 5, h_front, h_back)
    start, duration = 0.1, 0.4
    end = min(time, start + duration)
    # u = sqrt(time - s) takes the square-root singularity of the flash out of the integrand.
    low, high = np.sqrt(time - end), np.sqrt(time - start)
    integral, _ = integrate.quad_vec(lambda u: slab.flash(u**2)[0] * 2 * u, low, high, epsabs=1e-11)
    assert np.allclose(slab.pulse(time, duration, start)[0], integral / duration, rtol=0, atol=1e-9)


def test_before_the_pulse_nothing_happens():
    assert not Slab(0.1, 1.0, 4, h_back=1.0).pulse([0.0, 0.2, 0.5], 0.1, start=0.5).any()


@pytest.mark.parametrize("depth", [0.05, 0.3, 5.0])
def test_gaussian_flash_starts_from_its_profile(depth):
    slab = Slab(0.1, 1.0, 8, h_front=0.2)
    at_zero, just_after = slab.gaussian_flash([0.0, 1e-7], depth)
    means = [integrate.quad(lambda z: 8 * np.exp(-(z**2) / (2 * depth**2)), k / 8, (k + 1) / 8)[0] for k in range(8)]
    assert np.allclose(at_zero, means, rtol=1e-12)
    assert np.allclose(just_after, at_zero, rtol=0, atol=1e-4)


def test_loss_in_the_thermally_thin_limit_is_exponential():
    slab = Slab(100.0, 1.0, 3, h_front=0.02, h_back=0.03)
    assert np.allclose(slab.flash([1.0, 10.0]), np.exp(-0.05 * np.array([[1.0], [10.0]])), rtol=1e-3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Slab(0.0, 1.0, 4), "alpha=0"),
        (lambda: Slab(0.1, -1.0, 4), "thickness=-1"),
        (lambda: Slab(0.1, 1.0, 0), "layers=0"),
        (lambda: Slab(0.1, 1.0, 4, h_front=-1), "h_front=-1"),
        (lambda: Slab(0.1, 1.0, 4).flash([-1.0]), "times="),
        (lambda: Slab(0.1, 1.0, 4).flash(np.ones((1, 1))), "times="),
        (lambda: Slab(0.1, 1.0, 4).gaussian_flash(1.0, depth=0), "depth=0"),
        (lambda: Slab(0.1, 1.0, 4).pulse(1.0, duration=0), "duration=0"),
    ],
)
def test_bad_slabs_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
