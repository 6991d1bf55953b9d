"""Pixels that say nothing about the part, and those that do."""

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, UniformFlash, simulate_explicit
from nefty.data.dead_pixels import dead_pixels, noisy_pixels

GRID = Grid((6, 16, 16), (1.0, 6.0, 6.0))
TIMES = 0.25 * np.arange(1, 21)


def recorded(flash, alpha=None, noise=0.0):
    alpha = np.full(GRID.shape, 0.15) if alpha is None else alpha
    frames = simulate_explicit(GRID, alpha, TIMES, flash)
    return frames + noise * np.random.default_rng(2).standard_normal(frames.shape)


def everything(frames):
    return np.ones(frames.shape, bool)


@pytest.fixture(params=[GaussianFlash(100.0, 2.0, 0.2), UniformFlash(100.0, 0.2)], ids=["gaussian", "uniform"])
def frames(request):
    return recorded(request.param, noise=0.2)


def test_a_sound_recording_has_none(frames):
    assert not dead_pixels(frames, everything(frames)).any()


@pytest.mark.parametrize("value", [0.0, 20.0, 1e4])
def test_a_pixel_that_never_changes_is_dead(frames, value):
    frames[:, 3, 7] = value
    dead = dead_pixels(frames, everything(frames))
    assert dead[3, 7]
    assert dead.sum() == 1


def test_a_pixel_far_from_its_neighbours_is_dead(frames, rng):
    frames[:, 0, 0] += 500  # in the corner too
    frames[:, 9, 4] = rng.uniform(-200, 300, len(frames))
    dead = dead_pixels(frames, everything(frames))
    assert sorted(map(tuple, np.argwhere(dead))) == [(0, 0), (9, 4)]


def test_a_spike_in_a_few_frames_is_not_a_dead_pixel(frames):
    frames[3:6, 5, 5] += 1000
    assert not dead_pixels(frames, everything(frames)).any()


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize(
    ("flash", "cells"),
    [
        (GaussianFlash(100.0, 2.0, 0.2), 1),
        (GaussianFlash(100.0, 2.0, 0.2), 2),
        (GaussianFlash(100.0, 2.0, 0.2), 5),
        pytest.param(UniformFlash(100.0, 0.2), 1),
        pytest.param(UniformFlash(100.0, 0.2), 2),
        (UniformFlash(100.0, 0.2), 5),
    ],
)
def test_a_defect_is_no_dead_pixel(flash, cells, depth):
    cells = slice(7, 7 + cells)
    alpha = np.full(GRID.shape, 0.15)
    alpha[depth, cells, cells] = 0.001
    frames = recorded(flash, alpha, noise=0.02)
    assert not dead_pixels(frames, everything(frames)).any()


def test_pixels_that_do_not_count_are_not_looked_at(frames):
    counted = everything(frames)
    frames[:, 3, 3], counted[:, 3, 3] = np.nan, False
    frames[:, 4, 4], counted[:, 4, 4] = 1e5, False
    frames[2:5, 6, 6], counted[2:5, 6, 6] = np.nan, False
    assert not dead_pixels(frames, counted).any()
    assert not dead_pixels(frames, np.zeros(frames.shape, bool)).any()


def test_missing_values_do_not_hide_a_dead_pixel(frames):
    counted = everything(frames)
    frames[:, 3, 7] = 20.0
    frames[5:9, 3, 7], counted[5:9, 3, 7] = np.nan, False
    assert np.argwhere(dead_pixels(frames, counted)).tolist() == [[3, 7]]


def test_two_faces_share_their_pixels(frames):
    both = np.stack([frames, 0.1 * frames])
    both[:, :, 2, 2] = 33.0
    dead = dead_pixels(both, everything(both))
    assert dead.shape == (16, 16)
    assert np.argwhere(dead).tolist() == [[2, 2]]


def test_one_or_two_frames_tell_nothing(frames):
    frames[:, 3, 7] = 1e5
    assert not dead_pixels(frames[:2], everything(frames[:2])).any()


def test_a_part_that_is_cold_everywhere_is_not_dead():
    frames = np.zeros((5, 8, 8))
    assert not dead_pixels(frames, everything(frames)).any()


@pytest.mark.parametrize("value", [20.0, 1e4])
def test_a_pixel_that_is_dead_on_one_face_only_is_found(value):
    frames = recorded(GaussianFlash(100.0, 2.0, 0.2), noise=0.2)
    both = np.stack([frames, 0.1 * frames])
    both[0, :, 2, 2] = value
    assert dead_pixels(both, everything(both))[..., 2, 2].any()


def test_noise_in_a_few_evenly_lit_frames_is_not_death():
    frames = recorded(UniformFlash(100.0, 0.2), noise=0.2)[:5]
    assert not dead_pixels(frames, everything(frames)).any()


def test_pixels_that_blink_are_noisy_and_others_are_not(rng):
    decay = 5 / np.sqrt(np.arange(100, 164))[:, None, None]
    frames = decay + 0.02 * rng.standard_normal((64, 12, 12))
    frames[:, 3, 4] += 0.5 * rng.standard_normal(64)
    frames[:, 7, 8] += 0.04 * rng.standard_normal(64)
    frames[:, 9, 9] = np.nan
    found = noisy_pixels(frames)
    assert found[3, 4]
    assert found.sum() == 1


def test_without_noise_or_frames_no_pixel_is_noisy(rng):
    assert not noisy_pixels(np.ones((64, 4, 4))).any()
    assert not noisy_pixels(rng.random((5, 4, 4))).any()
    assert not noisy_pixels(np.full((64, 4, 4), np.nan)).any()
