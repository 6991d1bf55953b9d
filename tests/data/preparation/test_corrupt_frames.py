"""Frames that no cooling can make."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.preparation.corrupt_frames import cooling_begins, corrupt_step, find_corrupt
from support.flash_recordings import Camera

CAMERA = Camera(shape=(200, 12, 12))
RISE = (CAMERA.frames() - CAMERA.ambient).reshape(200, -1)[12:]


@given(st.sets(st.integers(0, 187), max_size=8), st.integers(0, 3))
def test_cold_frames_are_found_and_no_others(numbers, seed):
    rng = np.random.default_rng(seed)
    rise = RISE.copy()
    for k in numbers:
        rise[k] = -5 + 0.03 * rng.standard_normal(rise.shape[1])
    runs = np.convolve(np.isin(np.arange(len(rise)), list(numbers)), np.ones(11), "same")
    if runs.max(initial=0) <= 5:
        assert set(np.flatnonzero(find_corrupt(rise, 0.03, 0.0))) == numbers


@pytest.mark.parametrize("sigma", [0.0, 0.03, 0.3])
@pytest.mark.parametrize("echo", [5.0, 300.0, 1e6])
def test_cooling_is_never_taken_for_corrupt(sigma, echo):
    camera = Camera(shape=(300, 12, 12), sigma=sigma, echo=echo, seed=7)
    rise = (camera.frames() - camera.ambient).reshape(300, -1)[12:]
    assert not find_corrupt(rise, sigma, 0.0).any()


def test_a_damaged_part_of_a_frame_a_hot_frame_and_a_repeated_one():
    rise = RISE.copy()
    rise[50, :20] = 0
    rise[80] = 100
    rise[120] = rise[119]
    rise[130, :3] = 0  # a few pixels are not the frame's fault
    assert list(np.flatnonzero(find_corrupt(rise, 0.03, 0.0))) == [50, 80, 120]


def test_a_recording_without_noise_may_repeat_its_plateau():
    rise = np.ones((50, 30))
    assert not find_corrupt(rise, 0.0, 0.01).any()


def test_values_missing_at_first_are_not_hot_afterwards():
    rise = RISE.copy()
    rise[:6, :100] = np.nan
    assert not find_corrupt(rise, 0.03, 0.0).any()


def test_cooling_begins_with_the_hottest_frame_after_the_pulse():
    times = 0.01 * np.arange(-3, 40)
    levels = np.where(times < 0, 0.0, np.where(times < 0.05, times, 0.05 * np.sqrt(0.05 / np.maximum(times, 1e-9))))
    assert times[cooling_begins(levels, times, 4, 0.0)] == pytest.approx(0.05)
    assert times[cooling_begins(levels, times, 4, 0.1)] == pytest.approx(0.11)


def test_they_are_listed_by_number_and_can_be_given():
    rise = RISE.copy()
    rise[[60, 61]] = -9
    numbers, said = corrupt_step(rise, 3, 0.03, 0.0, "auto")
    assert list(numbers) == [60, 61]
    assert "2 of 188 frames" in said.text
    assert said.text.endswith("60, 61.")
    assert said.values == {"frames": [60, 61]}
    assert list(corrupt_step(rise, 3, 0.03, 0.0, (7, 5, 7))[0]) == [5, 7]
    assert corrupt_step(rise, 3, 0.03, 0.0, "off")[0].size == 0
    with pytest.raises(InputError, match="corrupt=188 is not one of the 188 frames"):
        corrupt_step(rise, 3, 0.03, 0.0, (188,))
