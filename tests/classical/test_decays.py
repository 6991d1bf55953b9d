import numpy as np
import pytest

from nefty.classical import decays as module
from nefty.classical.decays import Decays, parabola_peak
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse


def make(rng, shape=(12, 3, 4), **known):
    return Sequence(frames=rng.random(shape) + 1, times=np.arange(shape[-3]) - 1.0, **known)


def test_blocks_put_together_are_the_frames_after_the_flash(rng, monkeypatch):
    sequence = make(rng)
    monkeypatch.setattr(module, "BLOCK", 25)  # two pixels of ten frames
    found = Decays.of(sequence)
    parts = list(found.blocks())
    assert len(parts) == 6
    whole = np.concatenate([block for _, block in parts], axis=1)
    np.testing.assert_array_equal(whole, sequence.frames[2:].reshape(10, 12))
    np.testing.assert_array_equal(found.times, np.arange(1.0, 11.0))


def test_pixels_outside_the_mask_or_with_gaps_are_not_used(rng):
    frames = rng.random((12, 3, 4)) + 1
    frames[5, 0, 1] = np.nan
    frames[0, 2, 2] = np.nan  # before the flash: it does not count
    mask = np.ones((3, 4), dtype=bool)
    mask[1, 3] = False
    found = Decays.of(Sequence(frames=frames, times=np.arange(12) - 1.0, mask=mask))
    image = found.image(np.ones(found.pixels.size))
    assert np.argwhere(np.isnan(image)).tolist() == [[0, 1], [1, 3]]


def test_of_both_faces_the_front_is_taken_and_the_back_alone_refused(rng):
    both = make(rng, (2, 12, 3, 4), observe="both")
    np.testing.assert_array_equal(Decays.of(both).frames, both.frames[0, 2:].reshape(10, 12))
    with pytest.raises(InputError, match="record the front"):
        Decays.of(make(rng, observe="back"))


def test_a_window_cuts_the_times(rng):
    found = Decays.of(make(rng), window=(3.0, 7.0))
    assert found.times.tolist() == [3, 4, 5, 6, 7]
    with pytest.raises(InputError, match="too few"):
        Decays.of(make(rng), window=(3.0, 4.0))
    with pytest.raises(InputError, match="first < last"):
        Decays.of(make(rng), window=(4.0, 3.0))


def test_the_noise_is_found_in_a_decay(rng):
    times = np.arange(1, 201) / 100
    clean = 1 / np.sqrt(times)[:, None, None] * np.ones((200, 20, 20))
    noisy = Sequence(frames=clean + 0.01 * rng.standard_normal(clean.shape), times=times)
    # 39,600 differences; their median has a standard error of 1.3 %, the correlation of neighbours included.
    assert Decays.of(noisy).noise_level() == pytest.approx(0.01, rel=0.05)
    assert Decays.of(Sequence(frames=clean, times=times)).noise_level() < 1e-4
    assert Decays.of(Sequence(frames=clean, times=times, noise=0.5)).noise_level() == 0.5


def test_no_usable_pixel_is_an_error():
    frames = np.ones((12, 1, 2))
    frames[3, 0, 0] = frames[4, 0, 1] = np.nan
    with pytest.raises(InputError, match="no pixel"):
        Decays.of(Sequence(frames=frames, times=np.arange(1.0, 13.0)))


def test_a_parabola_has_its_peak_where_it_is():
    x = np.arange(9.0)[:, None]
    peaks = np.array([3.3, 5.0, 4.6])
    values = 2 - 0.7 * (x - peaks) ** 2
    place, height = parabola_peak(values, values.argmax(axis=0))
    np.testing.assert_allclose(place, peaks, rtol=1e-12)
    np.testing.assert_allclose(height, 2.0, rtol=1e-12)


def pulsed_half_space(duration, times, start=0.0):
    """Exact surface of a half space under a constant flux between start and start + duration, for a heat of 1."""
    since = np.clip(times - start, 0, None)
    after = np.clip(times - start - duration, 0, None)
    return 2 / (duration * np.sqrt(np.pi)) * (np.sqrt(since) - np.sqrt(after))


@pytest.mark.parametrize("start", [0.0, 0.3])
def test_a_pulse_becomes_a_flash_at_its_middle(start):
    times = np.linspace(0.01, 8.0, 400)
    frames = pulsed_half_space(0.5, times, start)[:, None, None] * np.ones((1, 2, 2))
    found = Decays.of(Sequence(frames=frames, times=times, excitation=TopHatPulse(duration=0.5, start=start)))
    np.testing.assert_allclose(found.times, times[times > start + 0.5] - start - 0.25)
    (_, block), *_ = found.blocks()
    np.testing.assert_allclose(block, 1 / np.sqrt(np.pi * found.times)[:, None] * np.ones((1, 4)), rtol=1e-9)


def test_a_heating_of_any_course_becomes_a_flash_at_its_middle():
    times = np.linspace(0.01, 8.0, 400)
    both = pulsed_half_space(0.5, times, 0.0) + 2 * pulsed_half_space(0.5, times, 0.5)
    frames = both[:, None, None] / 3 * np.ones((1, 2, 2))
    curve = HeatingCurve([0, 0.5, 0.5, 1.0], [1, 1, 2, 2])
    found = Decays.of(Sequence(frames=frames, times=times, excitation=curve))
    np.testing.assert_allclose(found.times, times[times > 1.0] - (0.25 + 2 * 0.75) / 3)
    (_, block), *_ = found.blocks()
    np.testing.assert_allclose(block, 1 / np.sqrt(np.pi * found.times)[:, None] * np.ones((1, 4)), rtol=1e-9)
    with pytest.raises(InputError, match="all frames lie within the heating, which ends at 9"):
        Decays.of(Sequence(frames=frames, times=times, excitation=HeatingCurve.step(9.0)))


def test_frames_within_the_pulse_alone_are_refused():
    sequence = Sequence(frames=np.ones((5, 1, 1)), times=np.arange(1.0, 6.0), excitation=TopHatPulse(duration=9.0))
    with pytest.raises(InputError, match="all frames lie within the pulse, which ends at 9"):
        Decays.of(sequence)


def test_the_window_counts_from_the_middle_of_the_pulse():
    times = np.arange(1.0, 21.0)
    sequence = Sequence(frames=np.ones((20, 1, 1)), times=times, excitation=TopHatPulse(duration=4.0))
    assert Decays.of(sequence, window=(5.0, 8.0)).times.tolist() == [5, 6, 7, 8]


def test_coarse_steps_of_the_camera_are_noise_too(rng):
    times = np.arange(1, 401) / 100
    smooth = 2 / np.sqrt(times)[:, None, None] * (1 + 0.1 * rng.random((1, 10, 10)))
    step = 0.05
    coarse = Sequence(frames=step * np.round(smooth / step), times=times)
    # Most neighbours are equal: the median of the differences is 0, and the noise is not.
    assert step / 20 < Decays.of(coarse).noise_level() < step
