"""The camera: gain, lens, noise, counts, timing."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nefty.synth.parts.filming import Filming, draw_filming

PLAIN = Filming(gain=np.ones((8, 8)), blur=0.0, noise=0.0, ambient=20.0, counts=0.0, before=3, late=0.25)


def test_frames_come_at_their_rate_and_the_flash_between_two():
    times = PLAIN.times(10.0, 1.0)
    assert times[PLAIN.before] == pytest.approx(0.025)
    assert times[PLAIN.before - 1] < 0
    assert np.diff(times) == pytest.approx(0.1)
    assert 0.9 < times[-1] <= 1.0 + 1e-9


def test_kelvin_and_counts_show_the_same():
    rises = np.linspace(0, 10, 3)[:, None, None] * np.ones((8, 8))
    kelvin = PLAIN.film(rises, 0)
    assert kelvin.dtype == np.float32
    assert kelvin[2] - kelvin[0] == pytest.approx(10, abs=1e-3)
    counts = dataclasses.replace(PLAIN, counts=100.0).film(rises, 0)
    assert counts.dtype == np.uint16
    assert (counts[2].astype(int) - counts[0]).max() == 1000


def test_noise_and_gain_are_as_strong_as_they_say():
    noisy = dataclasses.replace(PLAIN, noise=0.03).film(np.zeros((200, 8, 8)), 1)
    assert noisy.std() == pytest.approx(0.03, rel=0.05)
    gain = 1 + 0.1 * np.eye(8)
    bright = dataclasses.replace(PLAIN, gain=gain).film(np.full((1, 8, 8), 10.0), 0)[0] - 293.15
    assert bright == pytest.approx(10 * gain, abs=1e-3)


def test_the_lens_spreads_and_keeps_the_sum():
    point = np.zeros((1, 9, 9))
    point[0, 4, 4] = 1
    seen = dataclasses.replace(PLAIN, blur=0.8).seen(point)
    assert seen.sum() == pytest.approx(1, abs=1e-3)
    assert seen[0, 4, 4] < 0.3


def test_the_same_seed_draws_the_same_camera():
    one, same, other = (draw_filming(seed, (16, 16)) for seed in (2, 2, 3))
    assert (one.gain == same.gain).all()
    assert one.noise == same.noise != other.noise
    assert 0 <= one.late < 1
    assert one.gain.mean() == pytest.approx(1)
    assert 0.005 < one.gain.std() < 0.06
