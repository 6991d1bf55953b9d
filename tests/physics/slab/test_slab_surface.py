"""The exact surface of a slab: against the closed form for cells, and in its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.physics.slab.surface import slab_modes, slab_surface
from nefty.testing import Slab, observed_order

ALPHA, H = 0.15, 1.3
TIMES = np.array([0.02, 0.1, 0.5, 2.0, 8.0])
LOSSES = [{}, {"h_front": 0.05}, {"h_back": 0.2}, {"h_front": 0.05, "h_back": 0.2}]
PULSE = (0.1, 0.4)
AFTER = np.array([0.5, 0.8, 2.0, 8.0])


def at_the_face(means: np.ndarray, alpha: float, h: float, dz: float) -> np.ndarray:
    """Cell means (t, layers) extrapolated to z = 0, to fourth order, by the polynomial through the first four.

    The mean of a polynomial p over (k dz, (k + 1) dz) is linear in its coefficients, and p'(0) = h p(0)/alpha.
    """
    k = np.arange(4)[:, None]
    powers = np.arange(5)
    rows = ((k + 1) ** (powers + 1) - k ** (powers + 1)) / (powers + 1) * dz**powers
    slope = np.array([-h / alpha, 1.0, 0, 0, 0])
    matrix = np.vstack([rows, slope])
    right = np.concatenate([means[:, :4].T, np.zeros((1, len(means)))])
    return np.linalg.solve(matrix, right)[0]


@pytest.mark.parametrize("losses", LOSSES)
def test_a_flash_is_that_of_thin_cells_extrapolated_to_the_face(losses):
    layers = 400
    cells = Slab(ALPHA, H, layers, **losses).flash(TIMES)
    expected = at_the_face(cells, ALPHA, losses.get("h_front", 0.0), H / layers)
    np.testing.assert_allclose(slab_surface(TIMES, ALPHA, H, **losses), expected, rtol=1e-7)


@pytest.mark.parametrize("losses", LOSSES)
def test_a_pulse_is_that_of_thin_cells_extrapolated_to_the_face(losses):
    layers = 400
    cells = Slab(ALPHA, H, layers, **losses).pulse(AFTER, PULSE[1] - PULSE[0], PULSE[0])
    expected = at_the_face(cells, ALPHA, losses.get("h_front", 0.0), H / layers)
    np.testing.assert_allclose(slab_surface(AFTER, ALPHA, H, **losses, pulse=PULSE), expected, rtol=1e-7)


@pytest.mark.parametrize(("front", "back"), [(0.4, 0.0), (0.0, 2.0), (0.4, 2.0), (50.0, 50.0)])
def test_modes_lose_at_both_faces_what_they_bring_and_are_orthogonal(front, back):
    mu, phase, norm = slab_modes(12, H, front, back)
    np.testing.assert_allclose(mu * np.sin(phase), front * np.cos(phase), atol=1e-9)  # T' = B T at z = 0
    np.testing.assert_allclose(mu * np.sin(mu * H - phase), back * np.cos(mu * H - phase), atol=1e-7)  # T' = -B T at H
    z, weights = np.polynomial.legendre.leggauss(60)
    values = np.cos(np.outer(mu, (z + 1) * H / 2) - phase[:, None])
    np.testing.assert_allclose(values @ (weights * H / 2 * values).T, np.diag(norm), atol=1e-9)


@given(fourier=st.floats(1e-4, 0.03))
def test_before_the_back_is_felt_it_is_the_half_space(fourier):
    """1/sqrt(pi Fo), in units of the rise that the heat leaves."""
    (found,) = slab_surface(np.array([fourier * H**2 / ALPHA]), ALPHA, H)
    assert found == pytest.approx(1 / np.sqrt(np.pi * fourier), rel=1e-12)


def test_in_the_end_all_is_at_one_temperature():
    late = np.array([3.0, 10.0]) * H**2 / ALPHA
    np.testing.assert_allclose(slab_surface(late, ALPHA, H), 1, rtol=1e-12)
    np.testing.assert_allclose(slab_surface(late, ALPHA, H, pulse=(0.0, 1.0)), 1, rtol=1e-12)


def test_weak_losses_let_it_cool_as_one_body():
    """With h H/alpha << 1 the plateau falls as exp(-(h_front + h_back) t/H), as one number says."""
    front, back = 1e-5, 2e-5
    late = np.array([5.0, 10.0]) * H**2 / ALPHA
    found = slab_surface(late, ALPHA, H, h_front=front, h_back=back)
    np.testing.assert_allclose(found, np.exp(-(front + back) * late / H), rtol=1e-3)
    assert (found < 0.999).all()


def test_a_loss_of_the_front_is_felt_at_once_and_one_of_the_back_after_crossing():
    early = np.array([0.02, 0.05]) * H**2 / ALPHA
    none = slab_surface(early, ALPHA, H)
    front, back = slab_surface(early, ALPHA, H, h_front=0.1), slab_surface(early, ALPHA, H, h_back=0.1)
    assert (front < 0.97 * none).all()
    np.testing.assert_allclose(back, none, rtol=1e-8)


def test_a_short_pulse_is_a_flash_in_its_middle():
    """The mean over the pulse differs from its middle in second order of the duration."""
    t = np.array([1.0, 3.0])

    def error(duration):
        pulse = (0.3 - duration / 2, 0.3 + duration / 2)
        return abs(
            slab_surface(t, ALPHA, H, h_back=0.1, pulse=pulse) - slab_surface(t - 0.3, ALPHA, H, h_back=0.1)
        ).max()

    durations = [0.4, 0.2, 0.1]
    assert observed_order(durations, [error(d) for d in durations]) == pytest.approx(2, abs=0.05)


@given(alpha=st.floats(1e-8, 1e-4), thickness=st.floats(1e-4, 0.1), biot=st.floats(0, 3))
def test_units_do_not_matter(alpha, thickness, biot):
    fourier = np.array([0.05, 0.3, 1.0])
    found = slab_surface(fourier * thickness**2 / alpha, alpha, thickness, h_back=biot * alpha / thickness)
    np.testing.assert_allclose(found, slab_surface(fourier, 1.0, 1.0, h_back=biot), rtol=1e-9)
