"""Frames without most of their noise, for the background."""

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, HeatModel
from nefty.inversion.calibration.courses import few_courses

GRID = Grid((6, 32, 32), (1.0, 10.0, 10.0))
TIMES = 0.1 * np.arange(1, 61)
LAYERS = np.array([0.15, 0.15, 0.15, 0.2, 0.2, 0.11])
SIGMA = 0.1


def frames_of(observe="front"):
    alpha = np.broadcast_to(LAYERS[:, None, None], GRID.shape).copy()
    alpha[2:4, 12:19, 10:18] = 0.01
    return HeatModel(GRID, TIMES, GaussianFlash(100.0, 3.0, 0.2), observe=observe)(alpha).double().numpy()


@pytest.mark.parametrize("observe", ["front", "both"])
def test_most_noise_goes_and_the_rest_is_as_large_as_it_says(seen, rng, observe):
    clean = frames_of(observe)
    made = seen(clean + SIGMA * rng.standard_normal(clean.shape), GRID, TIMES, noise=SIGMA)
    clear = few_courses(made)
    left = np.sqrt(np.mean((clear.frames - clean) ** 2))
    assert left < 0.4 * SIGMA
    assert left == pytest.approx(clear.typical_noise, rel=0.15)
    assert clear.weights.shape == made.weights.shape


def test_noise_of_its_own_in_each_frame(seen, rng):
    clean, sigma = frames_of(), np.linspace(0.05, 0.2, len(TIMES))[:, None, None]
    clear = few_courses(seen(clean + sigma * rng.standard_normal(clean.shape), GRID, TIMES, noise=sigma))
    assert np.mean(((clear.frames - clean) / clear.noise) ** 2) == pytest.approx(1, rel=0.3)
    assert (clear.noise < 0.5 * sigma).all()


def test_pixels_that_miss_frames_stay_as_they_are(seen, rng):
    clean = frames_of()
    noisy, counted = clean + SIGMA * rng.standard_normal(clean.shape), np.ones(clean.shape, bool)
    counted[7, 3, 4], counted[:, 20, 20] = False, False
    noisy[~counted] = 0.0
    clear = few_courses(seen(noisy, GRID, TIMES, noise=SIGMA, counted=counted))
    for y, x in ((3, 4), (20, 20)):
        assert np.array_equal(clear.frames[:, y, x], noisy[:, y, x])
        assert (clear.noise[:, y, x] == SIGMA).all()
    assert (clear.noise[:, 0, 0] < 0.4 * SIGMA).all()


def test_clean_frames_change_by_less_than_their_noise_floor(seen):
    clean = frames_of()
    clear = few_courses(seen(clean, GRID, TIMES, noise=1e-3))
    assert np.abs(clear.frames - clean).max() < 1e-3


def test_noise_alone_stays_as_it_is(seen, rng):
    noise = np.abs(rng.standard_normal((60, 32, 32)))
    noise -= noise.mean() - 1e-3
    made = seen(noise, GRID, TIMES, noise=1.0)
    assert np.array_equal(few_courses(made).frames, noise)
