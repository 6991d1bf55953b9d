"""Drift of the camera: from before the flash, or from a region that was not heated."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.preparation.drift import drift_before, drift_of_region, drift_step
from nefty.data.preparation.sampling import frame_levels, sampled
from support.flash_recordings import Camera

SLOPE = 0.02


@pytest.fixture
def drifting():
    gain = np.ones((20, 20))
    gain[:, 15:] = 0
    return Camera(shape=(300, 20, 20), flash=60, drift=SLOPE, gain=gain)


def step(camera, region, before=None):
    frames = camera.frames()
    times = camera.file_times - camera.onset
    kept = np.arange(camera.flash + 1, len(frames))
    levels = frame_levels(sampled(frames)) - camera.ambient
    return times, kept, drift_step(frames, times, levels, before or camera.flash, kept, region, "K")


def test_the_trend_before_the_flash_goes_on(drifting):
    times, kept, (drift, said) = step(drifting, "auto")
    assert said.values["slope"] == pytest.approx(SLOPE, rel=0.02)
    np.testing.assert_allclose(drift[kept], SLOPE * (times[kept] - times[:60].mean()), rtol=0.02)


def test_no_trend_is_no_drift():
    _, _, (drift, said) = step(Camera(shape=(300, 20, 20), flash=60), "auto")
    assert not drift.any()
    assert "None seen" in said.text
    assert not said.assumed


def test_a_few_frames_tell_nothing_and_that_is_said(drifting):
    times = drifting.file_times - drifting.onset
    slope, said = drift_before(times[51:60], SLOPE * times[51:60], 24.0, "K")
    assert slope == 0
    assert said.assumed
    assert "Cannot be known from 9 frames" in said.text


def test_a_region_that_was_not_heated_tells_it(drifting):
    times, kept, (drift, said) = step(drifting, (0, 20, 15, 20))
    np.testing.assert_allclose(drift[kept], SLOPE * (times[kept] - times[:60].mean()), atol=0.01)
    assert said.values["largest"] == pytest.approx(SLOPE * 27, rel=0.05)


def test_a_region_that_was_heated_is_refused(drifting):
    with pytest.raises(InputError, match="it was heated"):
        step(drifting, (0, 20, 0, 5))


def test_off_and_nothing():
    _, _, (drift, _) = step(Camera(shape=(100, 8, 8), drift=1.0), "off")
    assert not drift.any()
    with pytest.raises(InputError, match="no values"):
        drift_of_region(np.arange(5.0), np.full(5, np.nan), None, np.ones(5), "K")
