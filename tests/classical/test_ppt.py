import numpy as np
import pytest

from nefty.classical.ppt import PAPER_FREQUENCIES, calibrate, ppt
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from support.classical_slabs import SOUND, over_half_space, over_slab, slab_beside_half_space

ZETA_HALF = -1.4603545088095868


def by_hand(times, decay, frequencies):
    """The sum of the definition, one frequency at a time."""
    step = times[1] - times[0]
    return np.array([(decay * np.exp(-2j * np.pi * f * times)).sum() * step for f in frequencies])


def test_phase_and_amplitude_are_those_of_the_sum(rng):
    times = 0.5 + 0.25 * np.arange(32)
    frames = rng.random((32, 2, 2))
    found = ppt(Sequence(frames=frames, times=times), taper="none", padding=2)
    np.testing.assert_allclose(found.frequencies, np.arange(1, 32) / (64 * 0.25))
    expected = by_hand(times, frames[:, 1, 0], found.frequencies)
    np.testing.assert_allclose(found.phase[:, 1, 0], np.angle(expected), atol=1e-5)
    np.testing.assert_allclose(found.amplitude[:, 1, 0], np.abs(expected), rtol=1e-5)


def test_given_frequencies_tapers_and_truncation(rng):
    times = 0.25 * np.arange(1, 33)
    frames = rng.random((32, 1, 2))
    sequence = Sequence(frames=frames, times=times)
    asked = [0.11, 0.3, 0.77]
    tapered = {
        "none": frames[:16, 0, 1],
        "falling": frames[:16, 0, 1] * (1 + np.cos(np.pi * np.arange(16) / 16)) / 2,
        "hann": frames[:16, 0, 1] * (1 - np.cos(2 * np.pi * (np.arange(16) + 0.5) / 16)) / 2,
    }
    for taper, decay in tapered.items():
        found = ppt(sequence, frequencies=asked, taper=taper, until=4.0)
        expected = by_hand(times[:16], decay, asked)
        np.testing.assert_allclose(found.amplitude[:, 0, 1], np.abs(expected), rtol=1e-5)
        np.testing.assert_allclose(found.phase[:, 0, 1], np.angle(expected), atol=1e-5)
    assert ppt(sequence, highest=0.5).frequencies[-1] <= 0.5


def test_the_fft_and_the_sum_at_its_frequencies_agree(rng):
    sequence = Sequence(frames=rng.random((40, 2, 3)), times=0.1 * np.arange(1, 41))
    fft = ppt(sequence, padding=1)
    direct = ppt(sequence, frequencies=fft.frequencies)
    np.testing.assert_allclose(direct.amplitude, fft.amplitude, rtol=1e-4, atol=1e-6)


def test_the_contrast_is_that_of_the_closed_form():
    """A long recording: F = coth(L sqrt(i w/alpha))/sqrt(i w alpha) + zeta(1/2) sqrt(dt/(pi alpha)).

    The last term is what the sum over frames misses of the t^(-1/2) after the flash (Euler and Maclaurin).
    """
    sequence = slab_beside_half_space(8000, 40.0)
    found = ppt(sequence, sound=SOUND, padding=1, highest=0.9)
    root = np.sqrt(2j * np.pi * found.frequencies)
    missed = ZETA_HALF * np.sqrt(0.005 / np.pi)
    expected = np.angle((1 / np.tanh(root) / root + missed) / (1 / root + missed))
    some = found.frequencies > 0.3
    np.testing.assert_allclose(found.contrast[some][:, 0, 0], expected[some], atol=2e-3)
    assert (expected[some].min(), expected[some].max()) < (-0.2, 0.0)


def test_the_calibrated_constant_tends_to_half_pi_and_is_reported_beside_the_literatures():
    times = 5.0 / 4000 * np.arange(1, 4001)
    found = calibrate(times, 1.0, 1.0)
    assert found.literature == 1.82
    assert found.constant == pytest.approx(np.pi / 2, rel=0.06)
    # A short recording asks for another constant: at Fo = 1.3 it is the literature's.
    constants = [calibrate(end / 400 * np.arange(1, 401), 1.0, 1.0).constant for end in (0.7, 1.0, 1.5, 3.0)]
    assert (np.diff(constants) < 0).all()
    assert constants[0] > 2.2
    assert constants[-1] < 1.7


@pytest.mark.parametrize(("frames", "end"), [(200, 1.0), (500, 3.0)])
def test_with_the_calibrated_constant_the_depth_is_right(frames, end):
    sequence = slab_beside_half_space(frames, end)
    constant = calibrate(sequence.times, 1.0, 1.0).constant
    found = ppt(sequence, 1.0, sound=SOUND, constant=constant)
    assert found.depth is not None
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=1e-3)
    assert np.isnan(over_half_space(found.depth)).all()
    assert f"{constant:.3g} sqrt" in found.estimate().note
    assert "1.82" in found.estimate().note
    np.testing.assert_array_equal(found.estimate().mask, ~SOUND)


def test_long_recordings_have_one_constant_for_all_depths():
    times = 3.0 / 500 * np.arange(1, 501)
    deep, shallow = (calibrate(times, 1.0, depth).constant for depth in (1.0, 0.8))
    assert shallow == pytest.approx(deep, rel=0.05)


def test_gains_do_not_change_phases():
    sequence = slab_beside_half_space(200, 1.5)
    gains = np.linspace(0.5, 2.0, sequence.shape[2])
    plain = ppt(sequence, 1.0, sound=SOUND)
    scaled = ppt(Sequence(frames=sequence.frames * gains, times=sequence.times), 1.0, sound=SOUND)
    np.testing.assert_allclose(scaled.phase, plain.phase, atol=1e-5)


def test_noise_raises_the_threshold_and_the_depth_stays():
    sequence = slab_beside_half_space(200, 1.5, noise=1e-3, seed=5)
    found = ppt(sequence, 1.0, sound=SOUND)
    quiet = ppt(slab_beside_half_space(200, 1.5), 1.0, sound=SOUND)
    assert found.threshold.min() > quiet.threshold.max()
    assert found.depth is not None
    assert quiet.depth is not None
    # A threshold above 0 is reached before the change of sign: a lower f_b, a larger depth, here by some percent.
    ratio = over_slab(found.depth) / over_slab(quiet.depth)
    assert (ratio > 0.99).all()
    assert (ratio < 1.1).all()


def test_the_papers_rule_takes_the_frequency_of_the_largest_contrast():
    assert PAPER_FREQUENCIES[0] == pytest.approx(0.01)
    assert PAPER_FREQUENCIES[-1] == pytest.approx(0.5)
    assert len(PAPER_FREQUENCIES) == 6
    sequence = slab_beside_half_space(300, 20.0)
    found = ppt(sequence, 1.0, frequencies=PAPER_FREQUENCIES, rule="peak", taper="none", sound=SOUND)
    best = found.frequencies[np.abs(found.contrast[:, 0, 0]).argmax()]
    assert found.frequency[0, 0] == best
    assert found.depth is not None
    assert found.depth[0, 0] == pytest.approx(1.82 * np.sqrt(1 / (np.pi * best)))
    assert "f_peak" in found.estimate().note


def test_uneven_frames_need_frequencies_and_nonsense_is_refused():
    times = np.geomspace(0.01, 1, 30)
    sequence = Sequence(frames=np.ones((30, 1, 2)), times=times)
    with pytest.raises(InputError, match="give frequencies"):
        ppt(sequence)
    with pytest.raises(InputError, match="increasing"):
        ppt(sequence, frequencies=[1.0, 0.5])
    with pytest.raises(InputError, match="lowest"):
        ppt(sequence, frequencies=[1.0], highest=0.5)
    with pytest.raises(InputError, match="does not end"):
        calibrate(np.arange(1, 101) / 50, 1.0, 1.0, frequencies=[0.1])
    with pytest.raises(InputError, match="alpha"):
        ppt(slab_beside_half_space(50, 1.0)).estimate()


def test_pixels_with_gaps_are_nan_and_the_mask_of_sound_pixels_must_fit():
    sequence = slab_beside_half_space(60, 1.0)
    frames = sequence.frames.copy()
    frames[10, 0, 0] = np.nan
    found = ppt(Sequence(frames=frames, times=sequence.times), 1.0, sound=SOUND)
    assert np.isnan(found.phase[:, 0, 0]).all()
    assert np.isfinite(found.phase[:, 0, 1:]).all()
    with pytest.raises(InputError, match="shape"):
        ppt(sequence, sound=np.ones((2, 2), dtype=bool))
    with pytest.raises(InputError, match="True and False"):
        ppt(sequence, sound=SOUND.astype(int))
    with pytest.raises(InputError, match="no pixel"):
        ppt(sequence, sound=np.zeros_like(SOUND))


def test_single_missing_frames_are_interpolated():
    whole = slab_beside_half_space(400, 1.5)
    kept = np.delete(np.arange(400), [30, 31, 200])
    gappy = Sequence(frames=whole.frames[kept], times=whole.times[kept])
    depths = [over_slab(known_depth(ppt(sequence, 1.0, sound=SOUND))) for sequence in (whole, gappy)]
    np.testing.assert_allclose(depths[1], depths[0], rtol=0.01)


def known_depth(found):
    assert found.depth is not None
    return found.depth
