"""Values at the top of the camera's range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.facts import Facts, Origin, Source
from nefty.data.preparation.saturation import find_saturation, saturation_level, saturation_step
from support.flash_recordings import Camera

CAMERA = Camera(shape=(120, 16, 16), gain=np.linspace(0.8, 1.2, 256).reshape(16, 16))
FRAMES = CAMERA.frames()


@given(st.floats(1.0, 9.5))
def test_a_cut_off_recording_is_found_out(height):
    top = np.float32(CAMERA.ambient + height)
    assert find_saturation(np.minimum(FRAMES, top), 0.03, 0.0) == top


def test_one_that_is_not_cut_off_is_not():
    assert find_saturation(FRAMES, 0.03, 0.0) is None
    counts = np.round((FRAMES - 250) / 0.005)
    assert find_saturation(counts, 6.0, 1.0, 0.0) is None


def test_a_noise_free_even_flash_is_not_taken_for_it():
    """All pixels share the peak, in one frame only."""
    even = Camera(shape=(120, 16, 16), sigma=0).frames()
    assert find_saturation(even, 0.0, 0.0) is None
    assert find_saturation(np.minimum(even, np.float32(300)), 0.0, 0.0) == 300


def test_the_end_of_the_cameras_bits_counts_at_once():
    counts = np.round((FRAMES - 250) / 0.005)
    counts[12, 3, 3] = 16383
    assert find_saturation(counts, 6.0, 1.0, 0.0) == 16383
    assert find_saturation(counts - 9000, 6.0, 1.0, 9000.0) == 16383 - 9000
    assert find_saturation(counts, 6.0, 1.0, None) is None


def test_values_of_no_range_tell_nothing():
    assert find_saturation(np.ones((5, 3, 3)), 0.0, 0.0) is None
    assert find_saturation(np.full((5, 3, 3), np.nan), 0.0, 0.0) is None


def test_pixels_and_frames_are_counted_and_mostly_saturated_frames_left_out():
    frames = np.minimum(FRAMES, np.float32(299))
    sequence = CAMERA.sequence(frames)
    usable = np.arange(120) >= 12
    count, left, said = saturation_step(sequence, usable, 299.0, "K", "auto")
    assert np.array_equal(count, (frames[12:] >= 299).sum(axis=0))
    hot = np.flatnonzero(usable & ~left)
    assert (np.mean(frames[hot] >= 299, axis=(1, 2)) > 0.5).all()
    assert hot.size > 0
    assert said.values["frames"] == hot.size
    assert "299 K" in said.text


def test_a_level_as_given_is_in_the_unit_of_the_file():
    sequence = CAMERA.sequence(facts=Facts(origin=Origin(source=Source.FILE, flash_frame=11, ambient=295.0)))
    assert saturation_level(sequence, 0.03, 0.0, 300.0) == 5.0
    assert saturation_level(sequence, 0.03, 0.0, "off") == np.inf
    with pytest.raises(InputError, match="in all frames"):
        saturation_step(CAMERA.sequence(), np.ones(120, bool), 200.0, "K", 200.0)
