import numpy as np
import pytest

from nefty.classical.peak_slope import FOURIER, peak_slope
from nefty.core.errors import InputError
from nefty.data.sequence import Sequence
from nefty.physics.slab.reference_decay import reference_decay
from support.classical_slabs import PIXELS, SOUND, over_half_space, over_slab, slab_beside_half_space


def test_the_constant_is_that_of_the_exact_contrast():
    fo = np.linspace(0.2, 0.6, 4001)
    slope = np.gradient(reference_decay(fo, 1.0, 1.0) - reference_decay(fo, 1.0), fo)
    peak = fo[slope.argmax()]
    assert pytest.approx(peak, rel=2e-3) == FOURIER


@pytest.mark.parametrize(("frames", "end"), [(100, 0.7), (100, 1.5), (400, 1.0), (1000, 3.0)])
def test_the_depth_of_a_slab_is_within_three_percent(frames, end):
    found = peak_slope(slab_beside_half_space(frames, end), 1.0, sound=SOUND)
    assert found.depth is not None
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=0.03)
    assert np.isnan(over_half_space(found.depth)).all()
    np.testing.assert_array_equal(found.estimate().mask, ~SOUND)


def test_noise_scatters_the_depth_and_makes_few_in_sound_pixels():
    found = peak_slope(slab_beside_half_space(400, 1.0, noise=5e-3, seed=4), 1.0, sound=SOUND)
    assert found.depth is not None
    depths = over_slab(found.depth)
    # One pixel scatters by about 2.5 %; four standard errors of the mean of 24, and 1.5 % of bias.
    assert depths.mean() == pytest.approx(1.0, abs=4 * depths.std() / np.sqrt(PIXELS) + 0.015)
    assert np.isnan(over_half_space(found.depth)).mean() > 0.9


def test_gains_are_taken_out_by_the_early_frames():
    sequence = slab_beside_half_space(400, 1.5)
    gains = np.linspace(0.9, 1.1, sequence.shape[2])
    uneven = Sequence(frames=sequence.frames * gains, times=sequence.times)
    found = peak_slope(uneven, 1.0, sound=SOUND, early_frames=5)
    assert found.depth is not None
    np.testing.assert_allclose(over_slab(found.depth), 1.0, rtol=0.03)


def test_a_recording_that_ends_too_early_has_no_peak():
    found = peak_slope(slab_beside_half_space(200, 0.25), 1.0, sound=SOUND)
    assert found.depth is not None
    assert np.isnan(found.depth).all()


def test_what_is_missing_is_said():
    sequence = slab_beside_half_space(100, 1.0)
    with pytest.raises(InputError, match="give alpha"):
        peak_slope(sequence).estimate()
    with pytest.raises(InputError, match="width"):
        peak_slope(sequence, width=0.0)
