"""Flashes and pulses: shape, heat and symmetry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

GRID = Grid((6, 8, 10), (1.0, 4.0, 5.0))


def test_gaussian_flash_has_its_widths_in_depth_and_laterally():
    flash = GaussianFlash(width=0.9, depth=0.3)
    log = np.log(flash.shape(GRID))
    z, y, x = (c.ravel() for c in GRID.centres())
    assert np.allclose(log[:, 3, 4] - log[0, 3, 4], -(z**2 - z[0] ** 2) / (2 * 0.3**2))
    assert np.allclose(log[0, :, 4] - log[0, 0, 4], -((y - 2) ** 2 - (y[0] - 2) ** 2) / (2 * 0.9**2))
    assert np.allclose(log[0, 3, :] - log[0, 3, 0], -((x - 2.5) ** 2 - (x[0] - 2.5) ** 2) / (2 * 0.9**2))


def test_gaussian_flash_in_the_middle_is_symmetric_and_elsewhere_peaks_there():
    middle = GaussianFlash().shape(GRID)
    assert np.allclose(middle, middle[:, ::-1, ::-1])
    aside = GaussianFlash(width=0.5, centre=(0.75, 4.25)).shape(GRID)
    assert np.unravel_index(aside.argmax(), aside.shape) == (0, 1, 8)
    assert aside.max() == pytest.approx(math.exp(-((1 / 12) ** 2) / (2 * 0.2**2)))


def test_heat_of_a_gaussian_flash_is_its_integral():
    # Smooth, even in z and gone at the other faces: sums over cell centres converge faster than any power.
    grid = Grid((16, 36, 36), (2.0, 6.0, 6.0))
    heat = GaussianFlash(width=0.5, depth=0.3).shape(grid).sum() * np.prod(grid.spacing)
    assert heat == pytest.approx(2 * math.pi * 0.5**2 * 0.3 * math.sqrt(math.pi / 2), rel=1e-7)


@given(st.floats(0.05, 3.0))
@settings(deadline=None)
def test_uniform_flash_is_the_gaussian_flash_infinitely_wide(depth):
    uniform = UniformFlash(depth=depth).shape(GRID)
    assert uniform.shape == GRID.shape
    assert uniform.flags.c_contiguous
    assert uniform.flags.writeable
    assert np.allclose(uniform, GaussianFlash(width=1e9, depth=depth).shape(GRID), rtol=1e-12)


@given(st.floats(1e-6, 1e3), st.integers(1, 40), st.floats(0.1, 10))
@settings(deadline=None)
def test_a_pulse_brings_its_adiabatic_rise_whatever_duration_and_grid(duration, layers, thickness):
    rate = TopHatPulse(duration=duration).shape(Grid((layers, 2, 3), (thickness, 1, 1)))
    assert rate.shape == (2, 3)
    assert np.allclose(rate * duration / layers, 1.0)


def test_a_pulse_profile_scales_the_heat_pixel_by_pixel():
    profile = np.arange(80.0).reshape(8, 10)
    assert np.allclose(TopHatPulse(duration=0.5, profile=profile).shape(GRID), profile * 12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianFlash(width=0), "flash width=0 must be above 0"),
        (lambda: GaussianFlash(depth=-0.1), "flash depth=-0.1 must be above 0"),
        (lambda: GaussianFlash(amplitude=math.nan), "flash amplitude=nan"),
        (lambda: UniformFlash(depth=0), "flash depth=0"),
        (lambda: UniformFlash(amplitude=math.inf), "flash amplitude=inf"),
        (lambda: TopHatPulse(duration=0), "pulse duration=0 must be above 0"),
        (lambda: TopHatPulse(start=-1), "pulse start=-1 must be at least 0"),
        (lambda: TopHatPulse(amplitude=math.nan), "pulse amplitude=nan"),
        (lambda: TopHatPulse(profile=np.ones((3, 3))).shape(GRID), r"\(3, 3\).*\(8, 10\).*resample"),
        (lambda: TopHatPulse(profile=np.full((8, 10), np.nan)).shape(GRID), "NaN or infinity"),
    ],
)
def test_bad_pulses_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()
