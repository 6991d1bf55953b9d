"""How much a template stands out is told by the other places of the same recording."""

import numpy as np
import pytest

from nefty.inversion.evidence.search import look
from support.weak_films import PIXEL, TIMES, contrast_of, disc

SHAPE = (40, 44)
CONTRAST = contrast_of(np.zeros((len(TIMES), *SHAPE)))


def test_the_scatter_of_the_recording_is_taken_out_template_by_template(rng):
    raw = rng.standard_normal((2, *SHAPE)) * np.array([3.0, 1.5])[:, None, None] + 0.7
    looks = look(raw, CONTRAST, [], 0.0)
    np.testing.assert_allclose(looks.scores.std(axis=(1, 2)), 1, rtol=0.05)
    np.testing.assert_allclose(np.median(looks.scores, axis=(1, 2)), 0, atol=1e-9)
    assert looks.map.shape == SHAPE
    assert looks.coldest == pytest.approx(-looks.scores.min())


def test_a_strong_defect_does_not_hide_itself(rng):
    raw = 2.0 * rng.standard_normal((1, *SHAPE))
    under = disc(SHAPE, (15, 20), 9)
    plain = look(raw, CONTRAST, [], 0.0)
    strong = look(raw + 200 * under, CONTRAST, [], 0.0)
    np.testing.assert_allclose(strong.scatter.spread, plain.scatter.spread, rtol=0.1)
    np.testing.assert_allclose(strong.scatter.middle, plain.scatter.middle, atol=0.3)
    assert strong.map[under].min() > 80


def test_a_recording_calmer_than_its_noise_does_not_make_scores_larger(rng):
    raw = 0.1 * rng.standard_normal((1, *SHAPE))
    assert np.abs(look(raw, CONTRAST, [], 0.0).scores).max() < 1


def test_the_strip_along_the_edge_has_a_scatter_of_its_own(rng):
    raw = rng.standard_normal((1, *SHAPE))
    edge = np.ones(SHAPE, dtype=bool)
    edge[4:-4, 4:-4] = False
    raw[0, edge] *= 5
    looks = look(raw, CONTRAST, [], 4 * max(PIXEL))
    assert looks.scatter.spread[0, 0, 20] == pytest.approx(5, rel=0.2)
    assert looks.scatter.spread[0, 20, 20] == pytest.approx(1, rel=0.1)


def test_places_that_are_not_looked_at_stand_out_by_nothing(rng):
    raw = 5 + rng.standard_normal((1, *SHAPE))
    raw[0, :3] = 0
    assert not look(raw, CONTRAST, [], 0.0).scores[0, :3].any()
