import numpy as np
import pytest
from numpy.polynomial import polynomial

from nefty.classical.tsr import tsr
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.pulses import TopHatPulse
from nefty.physics.slab.reference_decay import reference_decay
from support.classical_slabs import PIXELS, over_half_space, over_slab, slab_beside_half_space


@pytest.mark.parametrize(("frames", "end"), [(100, 0.7), (100, 1.0), (100, 1.5), (400, 0.7), (400, 3.0), (1000, 5.0)])
def test_the_depth_of_a_slab_is_within_one_percent(frames, end):
    found = tsr(slab_beside_half_space(frames, end), alpha=1.0)
    assert found.depth is not None
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=0.01)
    assert np.isnan(over_half_space(found.depth)).all()


def test_units_of_length_and_time_do_not_matter():
    alpha, depth = 1.2e-7, 2e-3
    times = np.arange(1, 301) * 0.4
    frames = reference_decay(times, alpha, depth, heat=0.01)[:, None, None]
    found = tsr(Sequence(frames=frames, times=times), alpha)
    assert found.depth is not None
    assert found.depth[0, 0] == pytest.approx(depth, rel=0.01)


def test_the_second_derivative_peaks_at_one_over_pi_with_the_known_height():
    found = tsr(slab_beside_half_space(1000, 1.0), widths=[0.5])
    np.testing.assert_allclose(over_slab(found.peak_time), 1 / np.pi, rtol=0.002)
    np.testing.assert_allclose(over_slab(found.peak_height), 0.4737, rtol=0.005)


def test_the_textbook_polynomial_is_further_off_and_says_what_it_is():
    # Order 5 over the whole recording: 3 % at this length, 20 to 30 % at others.
    found = tsr(slab_beside_half_space(300, 1.5), 1.0, peak="polynomial")
    assert found.depth is not None
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=0.05)
    high = tsr(slab_beside_half_space(300, 1.0), 1.0, peak="polynomial", order=11).depth
    low = tsr(slab_beside_half_space(300, 1.0), 1.0, peak="polynomial").depth
    assert high is not None
    assert low is not None
    assert np.abs(over_slab(low) - 1).max() > 0.1 > np.abs(over_slab(high) - 1).max()
    paper = tsr(slab_beside_half_space(300, 1.5), 1.0, peak="polynomial", relation="paper")
    np.testing.assert_allclose(paper.estimate().depth, found.depth * 1.8 / np.sqrt(np.pi))
    assert "1.8 sqrt(alpha t*)" in paper.estimate().note
    assert "sqrt(pi alpha t*)" in found.estimate().note


@pytest.mark.parametrize("weights", ["uniform", "log-time", "signal", np.linspace(1, 2, 60)])
def test_a_polynomial_in_ln_t_is_found_with_its_derivatives(rng, weights):
    times = np.linspace(0.1, 6, 60)
    true = rng.normal(size=(6, 2, 3)) * 0.1
    u = np.log(times)
    logs = np.moveaxis(polynomial.polyval(u, true), -1, 0)
    found = tsr(Sequence(frames=np.exp(logs), times=times), weights=weights)
    at = np.array([0.3, 1.0, 4.0])
    for power, function in enumerate((found.log_rise, found.d1, found.d2)):
        expected = np.moveaxis(polynomial.polyval(np.log(at), polynomial.polyder(true, power)), -1, 0)
        np.testing.assert_allclose(function(at), expected, atol=1e-5)
    assert found.log_rms.max() < 1e-6
    assert not found.left_out.any()


def test_weights_are_those_of_least_squares(rng):
    times, weights = np.linspace(0.1, 6, 40), np.linspace(3, 0.5, 40)
    frames = np.exp(rng.normal(size=(40, 1, 2)))
    found = tsr(Sequence(frames=frames, times=times), order=3, weights=weights)
    fitted = found.log_rise(times)[:, 0, 1]
    expected = np.polyval(np.polyfit(np.log(times), np.log(frames[:, 0, 1]), 3, w=np.sqrt(weights)), np.log(times))
    np.testing.assert_allclose(fitted, expected, rtol=1e-8)


def test_values_without_a_logarithm_are_left_out_and_counted():
    sequence = slab_beside_half_space(200, 1.5)
    frames = sequence.frames.copy()
    gaps = [3, 50, 51, 120]
    frames[gaps, 0, 2] = [-1.0, 0.0, -5.0, 0.0]
    found = tsr(Sequence(frames=frames, times=sequence.times), 1.0)
    assert found.left_out[0, 2] == 4
    assert found.left_out.sum() == 4
    kept = np.delete(np.arange(200), gaps)
    u, y = np.log(sequence.times), np.log(sequence.frames[:, 0, 2])
    expected = np.polyval(np.polyfit(u[kept], y[kept], 5), u)
    np.testing.assert_allclose(found.log_rise(sequence.times)[:, 0, 2], expected, rtol=1e-5, atol=1e-7)
    assert found.depth is not None
    assert found.depth[0, 2] == pytest.approx(1.0, rel=0.02)


def test_a_pixel_below_zero_nearly_always_has_no_fit():
    sequence = slab_beside_half_space(50, 1.5)
    frames = sequence.frames.copy()
    frames[5:, 0, 1] = -1.0
    frames[7, 0, 0] = np.nan
    found = tsr(Sequence(frames=frames, times=sequence.times), 1.0)
    assert np.isnan(found.coefficients[:, 0, :2]).all()
    assert np.isnan(found.estimate().depth[0, :2]).all()
    assert np.isfinite(found.coefficients[:, 0, 2:]).all()
    assert found.left_out[0, 1] == 45


def test_noise_makes_no_bias_and_no_depth_in_sound_pixels():
    found = tsr(slab_beside_half_space(400, 1.5, noise=0.01, seed=3), 1.0)
    assert found.depth is not None
    depths = over_slab(found.depth)
    # One pixel scatters by about 1.5 %, so the mean of 24 has a standard error of 0.3 %.
    assert depths.std() < 0.04
    assert depths.mean() == pytest.approx(1.0, abs=4 * depths.std() / np.sqrt(PIXELS) + 0.003)
    # A peak of four standard deviations is rare among the few independent places of the local fit.
    assert np.isnan(over_half_space(found.depth)).mean() > 0.9


def test_without_alpha_there_is_no_depth_and_times_outside_are_refused():
    found = tsr(slab_beside_half_space(50, 1.5))
    assert found.depth is None
    with pytest.raises(InputError, match="give alpha"):
        found.estimate()
    with pytest.raises(InputError, match="not outside"):
        found.d2([5.0])
    with pytest.raises(InputError, match="Did you mean"):
        tsr(slab_beside_half_space(50, 1.5), peak="locale")
    with pytest.raises(InputError, match="one per frame"):
        tsr(slab_beside_half_space(50, 1.5), weights=np.ones(3))


@pytest.mark.parametrize("duration", [0.005, 0.03, 0.1])
def test_a_pulse_that_lasts_does_not_move_the_depth(duration):
    times = np.arange(1, 801) / 400
    steps = duration * (np.arange(400) + 0.5) / 400
    later = [times[times > s] - s for s in steps]
    decay = np.zeros(times.size)
    for s, t in zip(steps, later, strict=True):
        decay[times > s] += reference_decay(t, 1.0, 1.0) / steps.size
    pulsed = Sequence(frames=decay[:, None, None], times=times, excitation=TopHatPulse(duration=duration))
    found = tsr(pulsed, 1.0)
    assert found.depth is not None
    assert found.depth[0, 0] == pytest.approx(1.0, rel=0.01)
    naive = tsr(Sequence(frames=decay[:, None, None], times=times), 1.0)
    assert naive.depth is not None
    assert not abs(naive.depth[0, 0] - 1) < abs(found.depth[0, 0] - 1)
