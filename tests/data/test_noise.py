"""The noise of a recording, from the recording itself."""

import numpy as np
import pytest

from nefty.data.noise import estimate_noise, noise_of_means

TIMES = 0.05 * np.arange(1, 101)
PIXELS = np.linspace(0.5, 1.5, 32 * 32).reshape(32, 32)
DECAY = 20 / np.sqrt(TIMES)[:, None, None] * PIXELS


def everything(frames):
    return np.ones(frames.shape, bool)


@pytest.mark.parametrize("sigma", [1e-3, 0.02, 1.0])
@pytest.mark.parametrize("decay", [DECAY, 100 * np.exp(-TIMES)[:, None, None] * PIXELS], ids=["half space", "slab"])
def test_it_is_within_two_percent(rng, decay, sigma):
    frames = decay + sigma * rng.standard_normal(decay.shape)
    assert estimate_noise(frames, everything(frames)) == pytest.approx(sigma, rel=0.02)


def test_a_two_sided_recording_has_one_noise(rng):
    frames = np.stack([DECAY, 0.3 * DECAY]) + 0.1 * rng.standard_normal((2, *DECAY.shape))
    assert estimate_noise(frames, everything(frames)) == pytest.approx(0.1, rel=0.02)


def test_a_recording_without_noise_has_next_to_none():
    assert estimate_noise(DECAY, everything(DECAY)) < 1e-5 * DECAY.max()
    single = DECAY.astype(np.float32)
    assert estimate_noise(single, everything(single)) < 1e-5 * DECAY.max()


def test_a_constant_has_none():
    assert estimate_noise(np.full((20, 4, 4), 3.0), np.ones((20, 4, 4), bool)) == 0


def test_outliers_missing_values_and_what_does_not_count_are_ignored(rng):
    frames = DECAY + 0.1 * rng.standard_normal(DECAY.shape)
    hit = rng.random(frames.shape) < 0.002
    frames[hit] += 1000
    frames[:, 3, :] = np.nan
    frames[70:75, 8, 8] = np.nan
    counted = np.isfinite(frames)
    frames[:, 20:, :] = 1e6 * rng.standard_normal(frames[:, 20:, :].shape)
    counted[:, 20:, :] = False
    assert estimate_noise(frames, counted) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("total", [5, 6, 9, 12])
def test_a_few_frames_are_enough(rng, total):
    frames = DECAY[-total:] + 0.1 * rng.standard_normal((total, 32, 32))
    assert estimate_noise(frames, everything(frames)) == pytest.approx(0.1, rel=0.1)


@pytest.mark.parametrize("total", [1, 2, 4])
def test_too_few_frames_tell_nothing(total):
    frames = DECAY[:total]
    assert estimate_noise(frames, everything(frames)) == 0


def test_nothing_that_counts_tells_nothing():
    assert estimate_noise(DECAY, np.zeros(DECAY.shape, bool)) == 0


LONG = 0.05 * np.arange(1, 2001)


def cooling(noise):
    return 20 / np.sqrt(LONG)[:, None, None] + noise


def test_white_noise_falls_with_the_root_of_the_number_of_frames(rng):
    found = noise_of_means(cooling(0.1 * rng.standard_normal((2000, 16, 16))))
    assert found.white
    assert found.single == pytest.approx(0.1, rel=0.02)
    np.testing.assert_allclose(found.of(np.array([1, 4, 100])), [0.1, 0.05, 0.01], rtol=0.02)


def test_noise_that_lasts_falls_less(rng):
    """The same noise for eight frames: means of 64 are as good as means of 8."""
    slow = np.repeat(rng.standard_normal((250, 24, 24)), 8, axis=0)
    found = noise_of_means(cooling(0.1 * slow))
    assert not found.white
    assert found.of(np.array([64]))[0] == pytest.approx(0.1 / np.sqrt(8), rel=0.5)
    levels = found.of(np.arange(1, 500))
    assert (np.diff(levels) <= 1e-12).all()
    assert (levels >= 0.1 / np.sqrt(np.arange(1, 500)) * 0.3).all()


def test_coarse_values_are_no_better_in_the_mean():
    """A camera that counts in steps of 0.5 and has no noise cannot tell less than that."""
    steps = np.round(cooling(np.zeros((2000, 8, 8))) / 0.5) * 0.5
    found = noise_of_means(steps)
    assert found.step == pytest.approx(0.5)
    assert found.of(np.array([1000]))[0] >= 0.5 / np.sqrt(12)


def test_a_known_sigma_goes_before_the_measured_one(rng):
    frames = cooling(0.1 * rng.standard_normal((2000, 8, 8)))
    assert noise_of_means(frames, 0.3).single == pytest.approx(0.3)
    assert noise_of_means(cooling(np.zeros((2000, 8, 8))) * 0 + 1.0, 0.3).of(np.array([9]))[0] == pytest.approx(0.1)


def test_missing_pixels_and_few_frames_are_no_trouble(rng):
    frames = cooling(0.1 * rng.standard_normal((2000, 8, 8)))
    frames[:, :4] = np.nan
    assert noise_of_means(frames).single == pytest.approx(0.1, rel=0.05)
    assert noise_of_means(frames[:3]).single == 0
