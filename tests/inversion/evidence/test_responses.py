"""What a weak sheet shows, wave by wave."""

import dataclasses

import numpy as np
import pytest

from nefty import HeatingCurve
from nefty.inversion.evidence.responses import rates_between, responses, spreading
from support.weak_films import SLAB, TIME, TIMES, contrast_of, shown_by

CONTRAST = contrast_of(np.zeros((len(TIMES), 4, 5)))
DEPTHS = SLAB.thickness * np.array([0.2, 0.5, 0.7])
RATES = np.array([0.0, 1.0, 30.0, 400.0]) / TIME


def test_rates_are_sums_of_squares_of_waves_times_diffusivities():
    y, x = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0])
    np.testing.assert_allclose(spreading([y, x], (2.0, 0.5)), [[0, 2], [2, 4], [18, 20]])


def test_few_rates_cover_all_of_them():
    rate = spreading([np.linspace(0, 5, 9), np.linspace(0, 7, 11)], (1.0, 3.0))
    few = rates_between(rate)
    assert (np.diff(few) > 0).all()
    assert (few[0], few[1], few[-1]) == pytest.approx((0.0, rate[rate > 0].min(), rate.max()))


@pytest.mark.parametrize("heating", [None, HeatingCurve.long_pulse(0.3 * TIME)], ids=["flash", "long pulse"])
def test_they_are_those_of_the_slab(heating):
    contrast = dataclasses.replace(CONTRAST, heating=heating)
    shown = responses(contrast, SLAB, DEPTHS, RATES)
    assert shown.shape == (len(DEPTHS), len(TIMES), len(RATES))
    history = None if heating is None else heating.history
    for place, depth in enumerate(DEPTHS):
        for wave, rate in enumerate(RATES):
            one = SLAB.contrast(TIMES, np.array([depth]), np.array([rate]), history)[0, 0]
            np.testing.assert_allclose(shown[place, :, wave], one, rtol=1e-10)
    assert (np.abs(shown).max(axis=1)[:, :-1] > np.abs(shown).max(axis=1)[:, 1:]).all()  # fine patterns fade


def test_an_even_sheet_shows_the_response_without_spreading():
    """By the heat model, of a weak one under the whole frame."""
    weak = 1e-3
    shown = shown_by(np.full((3, 3), weak), 0.5, layers=60)[:, 1, 1] / weak
    expected = responses(CONTRAST, SLAB, DEPTHS, RATES)[1, :, 0]
    np.testing.assert_allclose(shown, expected, atol=0.03 * expected.max())
