"""Means over windows of time: which frames, which time, which noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter

from nefty.core.errors import InputError
from nefty.data.preparation.time_selection import (
    average,
    representative,
    select_times,
    windows,
    windows_of_curve,
    within,
)
from nefty.data.sequence import Sequence
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse
from support.flash_recordings import noise_of, slab

TIMES = 0.1 * np.arange(1, 1801)
DECAY = 10 / np.sqrt(TIMES / 0.1)


def noisy(rng, sigma=0.03, shape=(24, 24)):
    return DECAY[:, None, None] + sigma * rng.standard_normal((TIMES.size, *shape))


@given(st.integers(2, 2000), st.floats(1e-3, 10), st.integers(1, 400))
def test_windows_cover_all_frames_once_and_are_no_more_than_asked(frames, step, most):
    times = step * np.arange(1, frames + 1)
    edges = windows(times, max(most, 2))
    assert edges[0] == 0
    assert edges[-1] == frames
    assert (np.diff(edges) > 0).all()
    assert edges.size - 1 <= max(most, 2)


def test_about_as_many_windows_as_asked_that_grow_with_time():
    edges = windows(TIMES, 60)
    assert 55 <= edges.size - 1 <= 60
    counts = np.diff(edges)
    assert (counts[:8] == 1).all()
    ratios = TIMES[edges[1:] - 1][-10:-1] / TIMES[edges[:-1]][-10:-1]
    assert np.ptp(ratios) < 0.02


@given(st.integers(5, 100), st.floats(0, 0.04))
def test_the_mean_of_an_ideal_decay_is_exact_at_its_time(most, centre):
    curve = 3 / np.sqrt(TIMES - centre)
    edges = windows(TIMES, most)
    at = representative(TIMES, edges, centre, 2 * centre)
    means = average(curve[:, None, None], edges)[:, 0, 0]
    np.testing.assert_allclose(means, 3 / np.sqrt(at - centre), rtol=1e-12)
    assert (np.diff(at) > 0).all()


def test_frames_within_the_pulse_stay_alone():
    sequence = Sequence(
        frames=np.ones((200, 3, 3)), times=0.01 * np.arange(1, 201), excitation=TopHatPulse(duration=0.105)
    )
    chosen, found = select_times(sequence, frames=40)
    assert (found.counts[:10] == 1).all()
    np.testing.assert_allclose(chosen.times[:10], sequence.times[:10])
    with pytest.raises(InputError, match="10 frames lie within the pulse"):
        select_times(sequence, frames=8)


def test_the_mean_of_a_slab_differs_from_its_value_by_much_less_than_the_noise(rng):
    """The bend towards the plateau is the worst that the window sees."""
    clean = 10 * slab(TIMES / 0.1, 2000)
    frames = clean[:, None, None] + 0.03 * rng.standard_normal((TIMES.size, 30, 30))
    chosen, found = select_times(Sequence(frames=frames, times=TIMES))
    exact = 10 * slab(chosen.times / 0.1, 2000)
    bias = average(clean[:, None, None], found.edges)[:, 0, 0] - exact
    assert np.abs(bias / noise_of(chosen)).max() < 0.2
    assert found.bias == pytest.approx(np.abs(bias / noise_of(chosen)).max(), abs=0.1)


def test_the_noise_of_every_mean_is_right(rng):
    chosen, found = select_times(Sequence(frames=noisy(rng), times=TIMES))
    left = chosen.frames - (10 / np.sqrt(chosen.times / 0.1))[:, None, None]
    assert found.measured.white
    np.testing.assert_allclose(noise_of(chosen), 0.03 / np.sqrt(found.counts), rtol=0.03)
    np.testing.assert_allclose(left.std(axis=(1, 2)) / noise_of(chosen), 1, atol=0.15)
    assert np.mean(left.std(axis=(1, 2)) / noise_of(chosen)) == pytest.approx(1, abs=0.03)


def test_noise_that_lasts_is_measured_and_not_divided_away(rng):
    lasting = np.asarray(lfilter([1], [1, -0.8], rng.standard_normal((TIMES.size, 24, 24)), axis=0)) * 0.03 * 0.6
    chosen, found = select_times(Sequence(frames=DECAY[:, None, None] + lasting, times=TIMES))
    assert not found.measured.white
    left = chosen.frames - (10 / np.sqrt(chosen.times / 0.1))[:, None, None]
    true = left.std(axis=(1, 2))
    late = found.counts > 20
    assert (true[late] > 2 * 0.03 / np.sqrt(found.counts[late])).mean() > 0.9
    assert 0.7 < np.median(noise_of(chosen)[late] / true[late]) < 1.8


def test_a_known_noise_is_taken(rng):
    chosen, found = select_times(Sequence(frames=noisy(rng), times=TIMES, noise=0.06))
    np.testing.assert_allclose(noise_of(chosen), 0.06 / np.sqrt(found.counts), rtol=1e-6)


def test_missing_values_are_made_up_for_by_the_typical_decay(rng):
    """A pixel that lacks the warm half of a window is not taken for colder."""
    gain = np.linspace(0.7, 1.3, 36).reshape(6, 6)
    frames = DECAY[:, None, None] * gain
    edges = windows(TIMES, 40)
    first, last = edges[-2:]
    whole = average(frames, edges)
    frames[first : first + (last - first) // 3, 2, 3] = np.nan
    frames[first : first + (last - first) * 2 // 3, 4, 4] = np.nan
    means = average(frames, edges)
    assert means[-1, 2, 3] == pytest.approx(whole[-1, 2, 3], rel=1e-6)
    assert np.isnan(means[-1, 4, 4])
    others = np.ones((6, 6), bool)
    others[[2, 4], [3, 4]] = False
    np.testing.assert_array_equal(means[:, others], whole[:, others])


def test_windows_without_any_value_are_left_out():
    frames = np.tile(DECAY[:, None, None], (1, 2, 2))
    edges = windows(TIMES, 30)
    for k in range(edges[20], edges[21]):  # each pixel has a quarter of the values
        frames[k][np.arange(4).reshape(2, 2) != k % 4] = np.nan
    chosen, found = select_times(Sequence(frames=frames, times=TIMES), frames=30)
    assert chosen.times.size == found.times.size - 1
    assert np.isfinite(chosen.frames).any(axis=(1, 2)).all()


def test_start_and_until_leave_frames_out():
    sequence = Sequence(frames=np.tile(DECAY[:, None, None], (1, 2, 2)), times=TIMES - 1.05)
    chosen, _ = select_times(sequence, frames=None, start=2.0, until=50.0)
    assert chosen.times[0] == pytest.approx(2.05)
    assert chosen.times[-1] == pytest.approx(49.95)
    with pytest.raises(InputError, match="no frame lies between 500"):
        select_times(sequence, start=500)
    with pytest.raises(InputError, match="until"):
        within(TIMES, 5, 4)


def test_all_frames_can_be_kept(rng):
    sequence = Sequence(frames=noisy(rng, shape=(4, 4)), times=TIMES)
    chosen, found = select_times(sequence, frames=None)
    assert chosen.frames is not None
    np.testing.assert_array_equal(chosen.frames, sequence.frames)
    assert (found.counts == 1).all()


def test_both_faces_are_averaged_alike(rng):
    frames = np.stack([noisy(rng, shape=(4, 4)), 0.3 * noisy(rng, shape=(4, 4))])
    chosen, found = select_times(Sequence(frames=frames, times=TIMES, observe="both"), frames=20)
    np.testing.assert_allclose(chosen.frames[1], average(frames[1], found.edges))


@given(st.integers(2, 2000), st.integers(2, 300), st.floats(0, 1.2))
def test_windows_under_a_curve_are_equal_while_it_heats_and_grow_after_it(frames, most, share):
    times = 0.1 * np.arange(1, frames + 1)
    over = share * times[-1]
    edges = windows_of_curve(times, most, over)
    assert (edges[0], edges[-1]) == (0, frames)
    assert (np.diff(edges) > 0).all()
    heated = int(np.searchsorted(times, over, side="right"))
    assert heated in (0, *edges)
    during = np.diff(edges[edges <= heated])
    assert len(set(during[:-1])) <= 1
    assert edges.size - 1 <= max(most, 240) + most


def test_a_step_is_averaged_evenly_and_a_window_stands_for_its_middle(rng):
    step = Sequence(frames=noisy(rng, shape=(4, 4)), times=TIMES, excitation=HeatingCurve.step(180.0))
    chosen, found = select_times(step, frames=60)
    assert chosen.times.size == 225
    assert set(found.counts) == {8}
    np.testing.assert_allclose(chosen.times[0], TIMES[:8].mean())
    assert isinstance(chosen.excitation, HeatingCurve)
