"""What is subtracted: one number, or each pixel's own."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.preparation.ambient import ambient_of


@pytest.fixture
def before(rng):
    return 295 + 0.03 * rng.standard_normal((12, 20, 20))


def test_one_number_where_the_pixels_are_alike(before):
    ambient, left, said = ambient_of(before, "auto", 0.03, "K", None)
    assert ambient == pytest.approx(295, abs=0.005)
    assert left == 0
    assert "K, the median of 12 frames before the flash, was subtracted" in said.text


def test_each_pixels_own_where_they_differ(before, rng):
    pattern = 0.1 * rng.standard_normal((20, 20))
    ambient, left, said = ambient_of(before + pattern, "auto", 0.03, "K", None)
    assert isinstance(ambient, np.ndarray)
    assert np.std(ambient - 295 - pattern) == pytest.approx(0.03 / np.sqrt(12), rel=0.15)
    assert left == pytest.approx(0.03 / np.sqrt(12))
    assert said.values["spread"] == pytest.approx(0.1, rel=0.15)
    assert ambient_of(before + pattern, "frames", 0.03, "K", None)[0] == pytest.approx(295, abs=0.02)
    assert isinstance(ambient_of(before, "pixels", 0.03, "K", None)[0], np.ndarray)


def test_a_value_as_given_counts_from_what_was_subtracted_already(before):
    assert ambient_of(before, 290.0, 0.03, "K", None)[0] == 290
    assert ambient_of(before - 295, 290.0, 0.03, "K", 295.0)[0] == -5
    assert ambient_of(before, "off", 0.03, "K", None)[0] == 0


def test_without_frames_before_the_flash_it_is_assumed_and_said(before):
    ambient, _, said = ambient_of(before[:0], "auto", 0.03, "K", None)
    assert ambient == 0
    assert said.assumed
    ambient, _, said = ambient_of(before[:0], "auto", 0.03, "K", 0.0)
    assert not said.assumed
    with pytest.raises(InputError, match="needs frames before the flash"):
        ambient_of(before[:0], "pixels", 0.03, "K", None)


def test_missing_values_before_the_flash(before):
    before[:, 3, 3] = np.nan
    before[4, 5, 5] = np.nan
    mean = ambient_of(before, "pixels", 0.03, "K", None)[0]
    assert isinstance(mean, np.ndarray)
    assert np.isnan(mean[3, 3])
    assert np.isfinite(mean).sum() == mean.size - 1
    with pytest.raises(InputError, match="hold no number"):
        ambient_of(np.full((3, 2, 2), np.nan), "pixels", 0.03, "K", None)
