"""The closed form of a weak sheet against the heat model with a resistance between two cells, and against itself."""

import numpy as np
import pytest
import torch

from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.slab import weak_sheet
from nefty.physics.slab.surface import slab_surface
from nefty.physics.slab.weak_sheet import WeakSheet

ALPHA, THICKNESS = 1.3e-7, 3e-3
TIME = THICKNESS**2 / ALPHA
TIMES = TIME * np.geomspace(0.02, 1.5, 24)
LOSSES = (0.3 * ALPHA / THICKNESS, 0.8 * ALPHA / THICKNESS)  # Biot numbers
WEAK = 1e-4  # R/(thickness/alpha), whose square is nothing


def modelled(slab, depth, pattern, *, layers=60, ratio=1.0, heating=None, times=TIMES, width=1.0):
    """ln(T/T_sound) over R/(thickness/alpha) by cells, (t, x); the sheet has WEAK times ``pattern`` along x."""
    grid = Grid((layers, 1, len(pattern)), (slab.thickness, 1.0, width))
    boundary = Boundary("adiabatic", front="robin", back="robin", h_front=slab.h_front, h_back=slab.h_back)
    flash = np.zeros(grid.shape)
    flash[0] = layers
    model = HeatModel(grid, times, heating or flash, boundary, anisotropy=(1.0, ratio), dtype="float64")
    alpha = torch.full(grid.shape, slab.alpha, dtype=torch.float64)
    resistance = torch.zeros((layers - 1, 1, len(pattern)), dtype=torch.float64)
    resistance[round(depth / slab.thickness * layers) - 1, 0] = torch.from_numpy(
        WEAK * slab.thickness / slab.alpha * np.asarray(pattern)
    )
    frames = model(alpha, resistance=resistance).numpy()[:, 0] / model(alpha).numpy()[:, 0]
    return np.log(frames) / WEAK


@pytest.mark.parametrize("h", [(0.0, 0.0), LOSSES])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_through_the_thickness_it_is_what_cells_show(h, share):
    slab = WeakSheet(ALPHA, THICKNESS, *h)
    exact = slab.contrast(TIMES, np.array([share * THICKNESS]))[0, 0]
    np.testing.assert_allclose(modelled(slab, share * THICKNESS, [1.0])[:, 0], exact, atol=0.012 * exact.max())


def test_cells_come_closer_by_the_order_of_their_own_error():
    """The first cell shows its mean, half a cell below the face."""
    slab = WeakSheet(ALPHA, THICKNESS, *LOSSES)
    exact = slab.contrast(TIMES, np.array([0.5 * THICKNESS]))[0, 0]
    errors = [
        np.abs(modelled(slab, 0.5 * THICKNESS, [1.0], layers=n)[:, 0] - exact).max() / exact.max() for n in (20, 40, 80)
    ]
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 4e-3
    assert (orders > 0.9).all()


@pytest.mark.parametrize("h", [(0.0, 0.0), LOSSES])
@pytest.mark.parametrize("ratio", [1.0, 6.0])
def test_a_wave_of_resistance_shows_at_the_rate_at_which_its_heat_spreads(h, ratio):
    """cos(pi x/L) between adiabatic sides; its waves on cells have the cells' own wavenumber."""
    slab, share, many, width = WeakSheet(ALPHA, THICKNESS, *h), 0.4, 12, 2 * THICKNESS
    wave = np.cos(np.pi * (np.arange(many) + 0.5) / many)
    seen = modelled(slab, share * THICKNESS, 1 + wave, ratio=ratio, width=width)
    spacing = width / many
    k2 = 2 * (1 - np.cos(np.pi / many)) / spacing**2
    spreading = np.array([0.0, ratio * ALPHA * k2])
    even, waving = slab.contrast(TIMES, np.array([share * THICKNESS]), spreading)[0]
    np.testing.assert_allclose(seen.mean(axis=1), even, atol=0.012 * even.max())
    np.testing.assert_allclose(2 * (seen @ wave) / many, waving, atol=0.012 * even.max())
    assert waving.max() < 0.9 * even.max()


@pytest.mark.parametrize("duration", [0.1, 0.8])
def test_a_heating_that_lasts_is_the_sum_over_it(duration):
    slab = WeakSheet(ALPHA, THICKNESS, *LOSSES)
    heating = HeatingCurve.long_pulse(duration * TIME, start=0.05 * TIME)
    times = TIME * np.linspace(0.12, 1.6, 30)
    exact = slab.contrast(times, np.array([0.5 * THICKNESS]), heating=heating.history)[0, 0]
    seen = modelled(slab, 0.5 * THICKNESS, [1.0], layers=80, heating=heating, times=times)[:, 0]
    np.testing.assert_allclose(seen, exact, atol=0.02 * exact.max())


@pytest.mark.parametrize("duration", [1e-4, 4e-3])
def test_a_short_heating_is_a_flash_in_its_middle(duration):
    """Also where it is shorter than the steps of the sum."""
    slab = WeakSheet(ALPHA, THICKNESS, *LOSSES)
    heating = HeatingCurve.long_pulse(duration * TIME, start=0.01 * TIME)
    depths = np.array([0.3, 0.7]) * THICKNESS
    lasting = slab.contrast(TIMES + heating.history.middle, depths, heating=heating.history)
    flash = slab.contrast(TIMES, depths)
    np.testing.assert_allclose(lasting, flash, atol=0.03 * flash.max())


@pytest.mark.parametrize("h", [(0.0, 0.0), LOSSES])
def test_the_way_back_to_time_gives_the_known_surface(h):
    """Down to rounding; the sum over modes is another way to it."""
    slab = WeakSheet(ALPHA, THICKNESS, *h)
    _, face = slab._after_flash(TIMES, np.array([THICKNESS / 2]), np.zeros(1))
    exact = slab_surface(TIMES, ALPHA, THICKNESS, h_front=h[0], h_back=h[1])
    np.testing.assert_allclose(face * THICKNESS, exact, rtol=1e-7)


def test_more_nodes_change_nothing(monkeypatch):
    slab = WeakSheet(ALPHA, THICKNESS, *LOSSES)
    depths, spreading = np.array([0.1, 0.9]) * THICKNESS, np.array([0.0, 3.0, 300.0]) / TIME
    found = slab.contrast(TIMES, depths, spreading)
    monkeypatch.setattr(weak_sheet, "NODES", 30)
    np.testing.assert_allclose(slab.contrast(TIMES, depths, spreading), found, atol=1e-7 * found.max())


def test_before_the_back_is_felt_it_is_the_sheet_in_a_half_space():
    """F = exp(-s z), so that dT/R is the inverse of exp(-2 s z), z/sqrt(pi alpha t^3) exp(-z^2/(alpha t))."""
    slab, z = WeakSheet(ALPHA, THICKNESS), 0.15 * THICKNESS
    times = TIME * np.geomspace(0.004, 0.05, 8)
    warmer = z / np.sqrt(np.pi * ALPHA * times**3) * np.exp(-(z**2) / (ALPHA * times))
    face = 1 / np.sqrt(np.pi * ALPHA * times)
    found = slab.contrast(times, np.array([z]))[0, 0]
    np.testing.assert_allclose(found, THICKNESS / ALPHA * warmer / face, rtol=1e-4)


def test_a_sheet_shows_the_less_the_deeper_it_lies_and_the_faster_its_heat_spreads():
    slab = WeakSheet(ALPHA, THICKNESS, *LOSSES)
    found = slab.contrast(TIMES, np.array([0.2, 0.4, 0.6]) * THICKNESS, np.array([0.0, 10.0, 100.0]) / TIME)
    peaks = found.max(axis=2)
    assert (np.diff(peaks, axis=0) < 0).all()
    assert (np.diff(peaks, axis=1) < 0).all()
    assert found.shape == (3, 3, len(TIMES))
