from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ive

from nefty import Chebyshev, InputError
from nefty.physics.chebyshev import response_coefficients, response_of, round_up


def evaluate(coefficients: np.ndarray, rho: float, lam: np.ndarray) -> np.ndarray:
    """sum_k c_k(t) T_k(1 - 2 lam/rho), shape (t, lam)."""
    angles = np.arccos(1 - 2 * lam / rho)
    return coefficients @ np.cos(np.arange(coefficients.shape[1])[:, None] * angles)


def test_coefficients_are_the_bessel_functions():
    rho, times = 200.0, (0.0, 0.05, 1.0, 5.0)
    c = response_coefficients(times, None, rho, 1e-13)
    k = np.arange(c.shape[1])
    for row, t in zip(c, times, strict=True):
        np.testing.assert_allclose(row, np.where(k == 0, 1, 2) * ive(k, rho * t / 2), atol=3e-16)


@given(rho=st.floats(0.1, 1e4), error=st.floats(1e-10, 1e-2), end=st.floats(0.01, 20))
def test_the_error_in_time_is_below_the_one_asked_for(rho, error, end):
    times = tuple(np.linspace(0, end, 7))
    lam = rho * (1 - np.cos(np.linspace(0, np.pi, 501))) / 2
    got = evaluate(response_coefficients(times, None, rho, error), rho, lam)
    assert abs(got - np.exp(-np.outer(times, lam))).max() <= error * 1.001 + 1e-14


def test_a_very_stiff_grid_is_not_mistaken_for_a_cold_one():
    """The response exp(-lam t) is then a peak at lam = 0, far narrower than a coarse sampling."""
    c = response_coefficients((1.0,), None, 1e8, 1e-8)
    assert evaluate(c, 1e8, np.array([0.0]))[0, 0] == pytest.approx(1, abs=1e-7)
    assert evaluate(c, 1e8, np.array([1.0]))[0, 0] == pytest.approx(np.exp(-1), abs=1e-7)


@pytest.mark.parametrize("rho", [1e5, 1e6, 4e6])
def test_stiff_problems_need_no_more_terms_than_theory_says_in_float64(rho):
    """Rounding in the coefficients must not look like terms."""
    for pulse in (None, (0.0, 0.5)):
        coefficients = response_coefficients((1.0,), pulse, rho, 1e-12)
        assert coefficients.shape[1] <= 1.1 * np.sqrt(rho * np.log(1e12))


def test_the_number_of_terms_grows_like_the_square_root_of_time():
    terms = [response_coefficients((t,), None, 200.0, 1e-6).shape[1] for t in (5.0, 20.0, 80.0)]
    assert terms[0] < 130
    assert terms[1] / terms[0] == pytest.approx(2, rel=0.1)
    assert terms[2] / terms[1] == pytest.approx(2, rel=0.1)


@pytest.mark.parametrize("t", [0.05, 0.3, 0.5, 2.0])
@pytest.mark.parametrize("lam", [1e-6, 0.4, 17.0, 99.0])
def test_the_pulse_response_is_the_convolution(t, lam):
    pulse, rho = (0.1, 0.5), 100.0
    got = evaluate(response_coefficients((t,), pulse, rho, 1e-12), rho, np.array([lam]))[0, 0]
    want = quad(lambda s: np.exp(-lam * (t - s)), 0.1, min(t, 0.5))[0] if t > 0.1 else 0.0
    assert got == pytest.approx(want, abs=1e-11)


@pytest.mark.parametrize("pulse", [None, (0.1, 0.5)], ids=["flash", "pulse"])
@pytest.mark.parametrize("t", [0.0, 0.05, 0.3, 0.5, 2.0])  # before, inside, at the end of and after the pulse
@pytest.mark.parametrize("lam", [0.0, 1e-7, 2e-4, 3e-4, 0.4, 17.0, 1e3])  # the series of small lam ends near 2.5e-4
def test_the_slope_of_the_response_is_that_of_its_differences(pulse, t, lam):
    """Over steps of 1e-4, central where lam allows; the third derivative is at most t^4/4, rounding 1e-16/1e-4."""
    step = 1e-4
    at = np.array([lam + step, max(lam - step, 0.0)])
    if lam < step:  # one-sided, so that lam stays at least 0: compare at the middle
        lam = at.mean()
    (high, low), _ = response_of(at, np.array(t), pulse)
    _, slope = response_of(np.array(lam), np.array(t), pulse)
    assert float(slope) == pytest.approx((high - low) / (at[0] - at[1]), rel=1e-6, abs=1e-11)


@given(lam=st.floats(0, 1e3), t=st.floats(0, 3))
def test_the_slope_of_the_pulse_response_is_the_convolution_with_minus_time(lam, t):
    _, slope = response_of(np.array(lam), np.array(t), (0.1, 0.5))
    stop = float(np.clip(t, 0.1, 0.5))
    want, _ = quad(lambda s: -(t - s) * np.exp(-lam * (t - s)), 0.1, stop, epsabs=1e-13, limit=500)
    assert float(slope) == pytest.approx(want, rel=1e-8, abs=1e-12)  # series of small lam: 1e-8/4


def test_nothing_is_felt_before_the_pulse():
    value, slope = response_of(np.array([0.0, 1.0, 1e3]), np.array(0.05), (0.1, 0.5))
    assert not value.any()
    assert not slope.any()


def test_a_very_short_pulse_is_a_flash():
    flash = response_coefficients((1.0,), None, 50.0, 1e-10)
    pulse = response_coefficients((1.0,), (0.0, 1e-7), 50.0, 1e-10) / 1e-7
    n = min(flash.shape[1], pulse.shape[1])
    np.testing.assert_allclose(pulse[:, :n], flash[:, :n], atol=5e-6)  # rho * duration


@given(bound=st.floats(1e-6, 1e9))
def test_the_bound_is_rounded_up_by_at_most_nine_percent(bound):
    assert bound <= round_up(bound) * (1 + 1e-12)
    assert round_up(bound) <= bound * 1.0906


def test_impossible_requests_are_refused():
    with pytest.raises(InputError, match="sdirk2"):
        response_coefficients((1.0,), None, 1e12, 1e-6)
    with pytest.raises(InputError, match="time_error=1e-15 must be at least 1e-14"):
        Chebyshev(time_error=1e-15)
