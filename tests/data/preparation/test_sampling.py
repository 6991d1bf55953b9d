import numpy as np
import pytest

from nefty.data.preparation.sampling import frame_levels, sampled


def test_a_sample_is_small_and_spread(rng):
    frames = rng.random((7, 200, 300))
    some = sampled(frames)
    assert some.shape[0] == 7
    assert 1500 < some.shape[1] < 3000
    assert some.mean() == pytest.approx(0.5, abs=0.02)
    assert sampled(frames[:, :3, :2]).shape == (7, 6)
    some[:] = 0
    assert frames.max() > 0.9  # a copy


@pytest.mark.parametrize("face", [(1, 20_000), (20_000, 1), (2, 10_000)])
def test_a_line_of_pixels_is_sampled_too(rng, face):
    assert 1500 < sampled(rng.random((5, *face))).shape[1] < 10_000


def test_a_level_does_not_mind_extremes(rng):
    sample = 5 + 0.1 * rng.standard_normal((3, 1000))
    sample[0, :10] = 1e6
    sample[1, :500] = np.nan
    sample[2] = np.nan
    levels = frame_levels(sample)
    np.testing.assert_allclose(levels[:2], 5, atol=0.02)
    assert np.isnan(levels[2])
