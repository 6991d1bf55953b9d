"""The gain of the pixels, from the early frames."""

import numpy as np
import pytest

from nefty.data.facts import Facts
from nefty.data.preparation.gain import early_frames, gain_map, gain_step
from nefty.data.sequence import Sequence
from nefty.physics.materials import Material
from nefty.physics.pulses import TopHatPulse
from support.flash_recordings import slab

TIMES = 0.1 * np.arange(1, 61)


@pytest.fixture
def gain(rng):
    found = 1 + 0.05 * rng.standard_normal((12, 14))
    return found / found.mean()


@pytest.fixture
def sequence(rng, gain):
    frames = 10 * slab(TIMES / 0.1)[:, None, None] * gain
    frames[10:, 4:8, 4:8] *= 1.2  # a defect, later
    return Sequence(frames=frames + 0.02 * rng.standard_normal(frames.shape), times=TIMES, noise=0.02)


def test_it_is_within_its_noise_and_has_mean_one(sequence, gain):
    found = gain_map(sequence)
    assert found.mean() == pytest.approx(1, abs=1e-6)
    noise = 0.02 / np.sqrt(np.sum((10 * slab(TIMES[:3] / 0.1)) ** 2))
    assert np.std(found - gain) == pytest.approx(noise, rel=0.2)


def test_early_means_before_a_shallow_defect_shows(sequence):
    assert list(np.flatnonzero(early_frames(sequence))) == [0, 1, 2]
    assert early_frames(sequence, early=1.0).sum() == 10
    known = Sequence(
        frames=sequence.frames,
        times=TIMES,
        size=(5e-3, 1.0, 1.0),
        excitation=TopHatPulse(duration=0.25),
        facts=Facts(material=Material(name="given", alpha_z=1.2e-7, alpha_y=1.2e-7, alpha_x=1.2e-7)),
    )
    late = 0.2 * (0.5e-3) ** 2 / 1.2e-7
    assert list(np.flatnonzero(early_frames(known))) == [2, 3, 4]  # at least three after the pulse
    assert late < 0.5


def test_missing_values_have_none(sequence):
    sequence.frames[:3, 2, 2] = np.nan
    sequence.frames[0, 3, 3] = np.nan
    found = gain_map(sequence)
    assert np.isnan(found[2, 2])
    assert np.isfinite(found).sum() == found.size - 1


def test_it_is_applied_only_if_asked(sequence, gain):
    same, found, said = gain_step(sequence, "joint", None)
    assert same is sequence
    assert said.values["applied"] is False
    divided, again, said = gain_step(sequence, "early", None)
    np.testing.assert_array_equal(found, again)
    np.testing.assert_allclose(divided.frames, sequence.frames / found, rtol=1e-6)
    assert "divided" in said.text


def test_frames_without_a_rise_have_no_gain():
    cold = Sequence(frames=-np.ones((10, 3, 3)), times=np.arange(1.0, 11))
    _, gain, said = gain_step(cold, "joint", None)
    assert said.values["applied"] is False
    assert gain.shape == (3, 3)
