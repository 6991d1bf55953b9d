"""SNR and CNR: numbers by hand, variants, NaN, and regions that cannot be measured."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.result.indications.contrast_noise import NOISES, contrast_noise

#: Defect: 11, 13 (mean 12, variance 2). Sound: 1, 2, 3 (mean 2, variance 1).
IMAGE = np.array([[11.0, 13.0, 7.0], [1.0, 2.0, 3.0]])
DEFECT = np.array([[True, True, False], [False, False, False]])
SOUND = np.array([[False, False, False], [True, True, True]])


def test_a_pair_of_regions_by_hand():
    found = contrast_noise(IMAGE, DEFECT, SOUND)
    assert (found.contrast, found.noise, found.cnr) == (10.0, 1.0, 10.0)
    assert found.snr == pytest.approx(20.0)  # a ratio of 10 is 20 dB
    assert (found.mean_defect, found.mean_sound) == (12.0, 2.0)
    assert (found.sigma_defect, found.sigma_sound) == (pytest.approx(math.sqrt(2)), 1.0)
    assert (found.pixels_defect, found.pixels_sound, found.pixels_ignored) == (2, 3, 0)
    assert found.snr_formula == "20 log10(|mean_d - mean_s| / sigma_s)"
    assert found.cnr_formula == "|mean_d - mean_s| / sigma_s"
    assert found.as_dict()["snr"] == found.snr
    assert "SNR 20.0 dB (20 log10(|mean_d - mean_s| / sigma_s)), CNR 10" in str(found)


@pytest.mark.parametrize(
    ("noise", "variance"), [("sound", 1.0), ("mean", 1.5), ("sum", 3.0), ("pooled", (2 * 2 + 3 * 1) / 5)]
)
def test_variants_and_their_words(noise, variance):
    found = contrast_noise(IMAGE, DEFECT, SOUND, noise=noise)
    assert found.noise == pytest.approx(math.sqrt(variance))
    assert found.cnr == pytest.approx(10 / math.sqrt(variance))
    assert found.snr == pytest.approx(10 * math.log10(100 / variance))
    assert NOISES[noise] in found.snr_formula
    assert NOISES[noise] in found.cnr_formula


def test_a_cold_defect_has_a_negative_contrast_and_the_same_ratios():
    warm, cold = (contrast_noise(sign * IMAGE, DEFECT, SOUND) for sign in (1, -1))
    assert cold.contrast == -warm.contrast
    assert (cold.snr, cold.cnr) == (warm.snr, warm.cnr)


@given(st.floats(1e-3, 1e3), st.floats(-1e3, 1e3), st.sampled_from(list(NOISES)))
def test_gain_and_offset_of_the_camera_do_not_matter(gain, offset, noise):
    here, there = (contrast_noise(i, DEFECT, SOUND, noise=noise) for i in (IMAGE, gain * IMAGE + offset))
    assert there.snr == pytest.approx(here.snr, abs=1e-6)
    assert there.contrast == pytest.approx(gain * here.contrast, rel=1e-6)


def test_pixels_that_are_nan_do_not_count():
    image, sound = IMAGE.copy(), SOUND.copy()
    image[0, 2] = math.nan
    sound[0, 2] = True
    found = contrast_noise(image, DEFECT, sound)
    assert found.pixels_ignored == 1
    assert (found.cnr, found.pixels_sound) == (10.0, 3)
    image[0, 2] = math.inf
    with pytest.raises(InputError, match="infinite in the sound region"):
        contrast_noise(image, DEFECT, sound)
    assert contrast_noise(image, DEFECT, SOUND).cnr == 10.0  # outside of both


def test_without_noise_or_contrast():
    image = np.where(DEFECT, 3.0, 1.0)
    assert contrast_noise(image, DEFECT, SOUND).snr == math.inf
    nothing = contrast_noise(np.ones((2, 3)), DEFECT, SOUND)
    assert math.isnan(nothing.cnr)
    assert math.isnan(nothing.snr)
    same = contrast_noise(np.array([[1.0, 3.0, 0.0], [1.0, 2.0, 3.0]]), DEFECT, SOUND)
    assert (same.cnr, same.snr) == (0.0, -math.inf)


def test_a_defect_of_one_pixel_has_no_deviation():
    one = np.zeros((2, 3), dtype=bool)
    one[0, 0] = True
    found = contrast_noise(IMAGE, one, SOUND)
    assert found.cnr == 9.0
    assert math.isnan(found.sigma_defect)
    with pytest.raises(InputError, match='noise="sum" needs two or more defect pixels'):
        contrast_noise(IMAGE, one, SOUND, noise="sum")


NONE = np.zeros((2, 3), dtype=bool)


@pytest.mark.parametrize(
    ("image", "defect", "sound", "message"),
    [
        (IMAGE, NONE, SOUND, "defect region holds 0 pixels; it needs 1 or more"),
        (IMAGE, DEFECT, NONE, "sound region holds 0 pixels; it needs 2 or more"),
        (np.where(DEFECT, np.nan, IMAGE), DEFECT, SOUND, "defect region holds 2 pixels, 2 of them NaN"),
        (IMAGE, DEFECT, DEFECT, "2 pixels belong to both"),
        (IMAGE, DEFECT.astype(int), SOUND, "defect mask must be boolean, got int64"),
        (IMAGE, DEFECT, SOUND[:, :2], r"sound mask has shape \(2, 2\), the image \(2, 3\)"),
        (IMAGE[None], DEFECT, SOUND, r"the image has shape \(1, 2, 3\)"),
        ("plate", DEFECT, SOUND, "must be numbers"),
    ],
)
def test_bad_input_is_named(image, defect, sound, message):
    with pytest.raises(InputError, match=message):
        contrast_noise(image, defect, sound)


def test_unknown_variants_are_named():
    with pytest.raises(InputError, match=r"noise='pool'.*Did you mean 'pooled'\?"):
        contrast_noise(IMAGE, DEFECT, SOUND, noise="pool")
