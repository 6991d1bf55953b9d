import numpy as np
import pytest

from nefty.classical.dtt import dtt
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence

TIMES = 0.1 * np.arange(1, 101)


@pytest.fixture
def sequence():
    """Three bumps of known height and time on a common decay; most pixels are sound."""
    decay = 1 / np.sqrt(TIMES)
    frames = np.tile(decay[:, None, None], (1, 4, 4))
    for (y, x), height, when in (((0, 1), 0.5, 2.0), ((2, 2), 0.3, 5.0), ((3, 0), 0.2, 8.0)):
        frames[:, y, x] += height * np.exp(-((TIMES - when) ** 2))
    return Sequence(frames=frames, times=TIMES, noise=1e-3)


def test_maxigram_and_timegram_are_height_and_time(sequence):
    found = dtt(sequence)
    for place, height, when in (((0, 1), 0.5, 2.0), ((2, 2), 0.3, 5.0), ((3, 0), 0.2, 8.0)):
        assert found.maxigram[place] == pytest.approx(height, abs=1e-9)
        assert found.timegram[place] == pytest.approx(when)
    assert np.isfinite(found.timegram).sum() == 3
    assert found.maxigram[1, 1] == pytest.approx(0.0, abs=1e-12)


def test_slices_are_windows_of_time(sequence):
    slices = dtt(sequence).slices([0.0, 4.0, 5.0, 9.0])
    assert slices.shape == (3, 4, 4)
    assert np.argwhere(np.isfinite(slices)).tolist() == [[0, 0, 1], [2, 2, 2], [2, 3, 0]]
    assert slices[2, 2, 2] == pytest.approx(0.3, abs=1e-9)
    with pytest.raises(InputError, match="increasing"):
        dtt(sequence).slices([3.0])


def test_gains_are_taken_out_by_the_early_frames(sequence, rng):
    gains = 1 + 0.1 * rng.random((4, 4))
    uneven = Sequence(frames=sequence.frames * gains, times=TIMES, noise=1e-3)
    sound = np.zeros((4, 4), dtype=bool)
    sound[1, :] = True
    plain, gained = dtt(uneven, sound=sound), dtt(uneven, sound=sound, early_frames=3)
    reference = gained.reference * np.sqrt(TIMES)
    assert reference.std() < 1e-12
    assert gained.maxigram[2, 2] == pytest.approx(0.3 * reference[0], rel=0.01)
    assert gained.timegram[2, 2] == pytest.approx(5.0)
    spread_plain, spread_gained = (np.std(found.maxigram[0, 2:]) for found in (plain, gained))
    assert spread_plain > 1e-3 > 1e-9 > spread_gained


def test_few_sound_pixels_have_a_time_by_chance(rng):
    decay = np.tile((1 / np.sqrt(TIMES))[:, None, None], (1, 20, 20))
    noisy = Sequence(frames=decay + 0.01 * rng.standard_normal(decay.shape), times=TIMES, noise=0.01)
    # 100 values above 4 sigma, P = 3e-5 each: 0.3 % of the pixels; 5 % would be 20 of 400.
    assert np.isfinite(dtt(noisy).timegram).mean() < 0.05


def test_a_pixel_with_a_gap_is_nan(sequence):
    frames = sequence.frames.copy()
    frames[50, 1, 1] = np.nan
    found = dtt(Sequence(frames=frames, times=TIMES))
    assert np.isnan(found.maxigram[1, 1])
    assert np.isfinite(found.maxigram).sum() == 15


def test_the_mask_is_the_contrast_down_to_half_of_its_maximum(rng):
    y, x = np.mgrid[:40, :40] - 20.0
    blob = np.exp(-(y**2 + x**2) / (2 * 4.0**2))
    frames = (1 + 0.3 * blob * (TIMES / 10)[:, None, None]) / np.sqrt(TIMES)[:, None, None]
    noisy = frames + 1e-3 * rng.standard_normal(frames.shape)
    found = dtt(Sequence(frames=noisy, times=TIMES)).estimate()
    assert found.mask is not None
    radius = np.sqrt(found.mask.sum() / np.pi)
    assert radius == pytest.approx(4.0 * np.sqrt(2 * np.log(2)), rel=0.08)  # half of a Gaussian
    assert np.isnan(found.depth).all()


def test_scatter_of_sound_pixels_counts_as_noise(rng):
    gains = 1 + 0.02 * rng.standard_normal((1, 20, 20))
    frames = gains / np.sqrt(TIMES)[:, None, None]
    frames[:, 10, 10] *= 1.03  # no more than others differ anyway
    found = dtt(Sequence(frames=frames, times=TIMES, noise=1e-6))
    assert not np.isfinite(found.timegram[10, 10])
    assert not np.any(found.estimate().mask)
