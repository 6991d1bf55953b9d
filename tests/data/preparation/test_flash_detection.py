"""In which frame the flash falls, and when within it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.facts import Facts, Origin, Source
from nefty.data.preparation.flash import find_flash, flash_of, onset_by_decay
from nefty.data.preparation.sampling import frame_levels, sampled
from support.flash_recordings import Camera


def levels_of(camera, frames=None):
    return frame_levels(sampled(camera.frames() if frames is None else frames))


def everywhere(levels):
    return np.ones(levels.size, bool)


@given(st.integers(1, 60), st.floats(0.02, 0.98), st.floats(0.5, 50))
def test_it_is_found_where_it_is(flash, within, rise):
    camera = Camera(shape=(120, 8, 8), flash=flash, within=within, rise=rise)
    assert find_flash(levels_of(camera)) == flash


def test_corrupt_cold_frames_are_not_taken_for_it():
    camera = Camera(shape=(200, 8, 8))
    frames = camera.frames()
    frames[[60, 61, 150]] = 200.0
    frames[5] = 400.0
    assert find_flash(levels_of(camera, frames)) == 11


def test_a_part_that_fills_a_twentieth_of_the_picture_is_enough():
    gain = np.zeros((40, 40))
    gain[:10, :8] = 1
    assert find_flash(levels_of(Camera(shape=(100, 40, 40), gain=gain))) == 11


@pytest.mark.parametrize("seed", range(5))
def test_without_a_jump_there_is_none(seed):
    assert find_flash(levels_of(Camera(shape=(100, 8, 8), rise=0.0, seed=seed))) is None


def test_a_recording_that_begins_in_the_cooling_has_none():
    camera = Camera(shape=(120, 8, 8))
    assert find_flash(levels_of(camera, camera.frames()[12:])) is None


def test_too_few_frames_or_no_values_tell_nothing():
    assert find_flash(np.array([0.0, 9.0, 8.0])) is None
    assert find_flash(np.full(20, np.nan)) is None


@given(st.floats(0.05, 0.95), st.floats(1, 20))
def test_the_cooling_tells_when_within_the_frame(within, rise):
    camera = Camera(shape=(100, 16, 16), within=within, rise=rise, sigma=0.01)
    levels = levels_of(camera)
    found = onset_by_decay(camera.file_times, levels - camera.ambient, camera.flash)
    assert found == pytest.approx(camera.onset, abs=0.03 / camera.fps)


def test_a_thin_part_does_not_tell():
    camera = Camera(shape=(100, 16, 16), echo=3.0)
    assert onset_by_decay(camera.file_times, levels_of(camera) - camera.ambient, camera.flash) is None


def test_saturated_frames_do_not_mislead():
    camera = Camera(shape=(100, 16, 16), sigma=0.01)
    frames = np.minimum(camera.frames(), camera.ambient + 6)
    levels = levels_of(camera, frames)
    clear = np.array([frame.max() < camera.ambient + 6 for frame in frames])
    assert not clear[12]
    flash, said = flash_of(camera.sequence(frames), levels, clear, "auto", "auto")
    assert flash.frame == 11
    assert flash.onset == pytest.approx(camera.onset, abs=0.005)
    assert "0.50 frames before" in said.text


def test_as_given_by_the_frame_or_by_the_cooling():
    camera = Camera(shape=(100, 16, 16), sigma=0.01)
    levels, sequence = levels_of(camera), camera.sequence()
    flash, said = flash_of(sequence, levels, everywhere(levels), 11, "frame")
    assert flash.onset == pytest.approx(1.1)
    assert flash.before == 11
    assert "as given" in said.text
    flash, _ = flash_of(sequence, levels, everywhere(levels), 11, "decay")
    assert flash.onset == pytest.approx(1.05, abs=0.005)
    with pytest.raises(InputError, match="not one of the 100 frames, 0 to 99"):
        flash_of(sequence, levels, everywhere(levels), 100, "auto")
    with pytest.raises(InputError, match='onset="frame"'):
        flash_of(sequence, levels, everywhere(levels), 60, "decay")


def test_what_the_file_says_stays():
    camera = Camera(shape=(100, 8, 8))
    known = camera.sequence(facts=Facts(origin=Origin(source=Source.FILE, flash_frame=11, ambient=295.0)))
    levels = levels_of(camera)
    flash, said = flash_of(known, levels, everywhere(levels), "auto", "auto")
    assert (flash.onset, flash.before) == (0.0, 0)
    assert "as the file says" in said.text
    assert not said.assumed


def test_one_that_is_not_found_is_assumed_and_said():
    camera = Camera(shape=(100, 8, 8), rise=0)
    levels = levels_of(camera)
    flash, said = flash_of(camera.sequence(), levels, everywhere(levels), "auto", "auto")
    assert not flash.known
    assert flash.onset == pytest.approx(-0.1)
    assert said.assumed
    assert "was not found" in said.text
