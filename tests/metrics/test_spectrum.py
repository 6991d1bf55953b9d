"""Radial power spectra: cosines in their bin, Parseval, the transform written out, where the crop lies."""

import math

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.metrics.spectrum import radial_spectrum

GRID = Grid((16, 64, 64), (1.0, 10.0, 10.0))
WIDTH = 0.5  # 8 cycles per unit in 16 bins


@pytest.fixture
def truth():
    """One defect of 2 x 4 x 4 cells; the crop around it is [3:11, 14:30, 34:50]."""
    alpha = np.full(GRID.shape, 0.15)
    alpha[6:8, 20:24, 40:44] = 0.01
    return alpha


CROP = np.s_[3:11, 14:30, 34:50]


def test_the_bins_are_those_of_the_paper(truth):
    spectrum = radial_spectrum(truth, truth, GRID.size)
    assert spectrum.frequencies == pytest.approx(WIDTH * np.arange(1, 19))
    assert spectrum.frequencies[15] == 8  # Nyquist through the thickness: 16 cells in 1
    assert spectrum.modes.sum() == 8 * 16 * 16 - 1  # all but k = 0
    assert (spectrum.modes > 0).all()


@pytest.mark.parametrize(
    ("k", "modes"),
    [
        ((4.0, 0.0, 0.0), 2),
        ((0.0, 0.8, 0.0), 2),
        ((2.0, 1.2, 2.0), 2),
        ((8.0, 0.0, 0.0), 1),  # + and - are one mode at Nyquist
        ((0.0, 0.0, 0.4), 2),
    ],
)
def test_a_cosine_is_in_its_bin_and_nowhere_else(truth, k, modes):
    z, y, x = GRID.centres()
    phase = 2 * math.pi * (k[0] * z + k[1] * y + k[2] * x)
    # At Nyquist a cosine needs its crests on the cell centres.
    phase = phase + (0 if modes == 2 else -phase.flat[0])
    spectrum = radial_spectrum(0.1 + 0.02 * np.cos(phase), truth, GRID.size)
    here = round(math.hypot(*k) / WIDTH) - 1 if math.hypot(*k) > WIDTH / 2 else 0
    each = 0.02**2 / 4 if modes == 2 else 0.02**2
    assert np.argmax(spectrum.power) == here
    assert spectrum.power[here] * spectrum.modes[here] == pytest.approx(modes * each)
    assert np.delete(spectrum.power, here) == pytest.approx(0, abs=1e-20)


def test_parseval(truth, rng):
    alpha = rng.uniform(0.003, 0.25, GRID.shape)
    spectrum = radial_spectrum(alpha, truth, GRID.size)
    assert np.sum(spectrum.power * spectrum.modes) == pytest.approx(np.var(alpha[CROP]))
    assert np.sum(spectrum.power * spectrum.modes) != pytest.approx(np.var(alpha), rel=1e-3)  # the crop, not all


def test_it_is_the_transform_written_out(rng):
    alpha, size = rng.uniform(0.003, 0.25, (3, 4, 2)), (0.6, 2.0, 1.5)
    spectrum = radial_spectrum(alpha, alpha, size, bins=3)  # smaller than the crop: all of it
    width = 3 / 0.6 / 2 / 3
    power, modes = np.zeros(len(spectrum.power)), np.zeros(len(spectrum.power), int)
    for mode in np.ndindex(3, 4, 2):
        waves = [m - n if 2 * m > n else m for m, n in zip(mode, alpha.shape, strict=True)]
        k = math.sqrt(sum((w / length) ** 2 for w, length in zip(waves, size, strict=True)))
        if k == 0:
            continue
        wave = [np.exp(-2j * np.pi * m * np.arange(n) / n) for m, n in zip(mode, alpha.shape, strict=True)]
        amplitude = np.einsum("zyx,z,y,x->", alpha, *wave) / alpha.size
        index = max(math.floor(k / width + 0.5 + 1e-9) - 1, 0)
        power[index] += abs(amplitude) ** 2
        modes[index] += 1
    assert np.array_equal(spectrum.modes, modes)
    assert spectrum.power[modes > 0] == pytest.approx(power[modes > 0] / modes[modes > 0])
    assert np.isnan(spectrum.power[modes == 0]).all()


def test_the_crop_follows_the_truth_and_stays_inside(rng):
    alpha = rng.uniform(0.003, 0.25, GRID.shape)
    for cell, crop in [
        ((0, 0, 0), np.s_[:8, :16, :16]),
        ((15, 63, 63), np.s_[8:, 48:, 48:]),
        ((8, 32, 20), np.s_[5:13, 25:41, 13:29]),
        (None, np.s_[4:12, 24:40, 24:40]),  # no defect: the middle
    ]:
        truth = np.full(GRID.shape, 0.15)
        if cell is not None:
            truth[cell] = 0.01
        spectrum = radial_spectrum(alpha, truth, GRID.size)
        assert np.sum(spectrum.power * spectrum.modes) == pytest.approx(np.var(alpha[crop])), cell


def test_a_cluster_of_several_defects_is_met_in_its_middle(truth, rng):
    alpha = rng.uniform(0.003, 0.25, GRID.shape)
    truth[6:8, 32:36, 40:44] = 0.01  # as large, 12 cells further in y
    spectrum = radial_spectrum(alpha, truth, GRID.size)
    assert np.sum(spectrum.power * spectrum.modes) == pytest.approx(np.var(alpha[3:11, 20:36, 34:50]))


def test_a_constant_has_no_power_and_an_offset_changes_nothing(truth):
    assert radial_spectrum(np.full(GRID.shape, 0.1), truth, GRID.size).power == pytest.approx(0, abs=1e-30)
    a, b = (radial_spectrum(truth + shift, truth, GRID.size).power for shift in (0.0, 0.5))
    assert a == pytest.approx(b, rel=1e-9, abs=1e-18)


def test_the_bins_depend_on_the_cells_only(truth):
    half = radial_spectrum(truth[:8, :10, :], truth[:8, :10, :], (0.5, 10 * 10 / 64, 10.0))
    assert np.array_equal(half.frequencies, radial_spectrum(truth, truth, GRID.size).frequencies)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"crop": (8, 16)}, r"crop=\(8, 16\) must be three numbers of cells"),
        ({"crop": 8}, "crop=8 must be three"),
        ({"crop": (8, 0, 16)}, "crop along y=0"),
        ({"bins": 0}, "bins=0"),
        ({"size": (1.0, 10.0)}, "size=.*three entries"),
    ],
)
def test_bad_options_are_named(truth, options, message):
    with pytest.raises(InputError, match=message):
        radial_spectrum(truth, truth, **{"size": GRID.size, **options})
