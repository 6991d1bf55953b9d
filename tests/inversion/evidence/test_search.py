"""How much a template stands out is told by the other places of the same recording."""

import numpy as np
import pytest

from nefty.inversion.evidence.bank import Template
from nefty.inversion.evidence.search import FEWEST_PLACES, look, zones
from support.weak_films import PIXEL, TIMES, contrast_of, disc

SHAPE = (40, 44)
CONTRAST = contrast_of(np.zeros((len(TIMES), *SHAPE)))
FRAME = min(n * d for n, d in zip(SHAPE, PIXEL, strict=True))
EVERYWHERE = [CONTRAST.counted]


def felt_over(*spans):
    """Templates that are felt over those shares of the frame."""
    nothing = np.zeros((0, 0))
    return [Template(float(depth), 1.0, nothing, nothing, span * FRAME / 2) for depth, span in enumerate(spans, 1)]


def test_the_scatter_of_the_recording_is_taken_out_template_by_template(rng):
    raw = rng.standard_normal((2, *SHAPE)) * np.array([3.0, 1.5])[:, None, None] + 0.7
    looks = look(raw, CONTRAST, felt_over(0.2, 0.2), EVERYWHERE)
    np.testing.assert_allclose(looks.scores.std(axis=(1, 2)), 1, rtol=0.05)
    np.testing.assert_allclose(np.median(looks.scores, axis=(1, 2)), 0, atol=1e-9)
    assert looks.map.shape == SHAPE
    assert looks.coldest == pytest.approx(-looks.scores.min())


def test_the_depth_at_a_place_is_that_of_the_template_that_stands_out_most(rng):
    raw = rng.standard_normal((3, *SHAPE))
    raw[1, 20, 20] += 50
    looks = look(raw, CONTRAST, felt_over(0.2, 0.2, 0.2), EVERYWHERE)
    assert looks.depth.shape == SHAPE
    assert looks.depth[20, 20] == 2.0
    assert looks.map[20, 20] == looks.scores[1, 20, 20]


def test_a_strong_defect_does_not_hide_itself(rng):
    raw = 2.0 * rng.standard_normal((1, *SHAPE))
    under = disc(SHAPE, (15, 20), 9)
    plain = look(raw, CONTRAST, felt_over(0.2), EVERYWHERE)
    strong = look(raw + 200 * under, CONTRAST, felt_over(0.2), EVERYWHERE)
    np.testing.assert_allclose(strong.scatter.spread, plain.scatter.spread, rtol=0.1)
    np.testing.assert_allclose(strong.scatter.middle, plain.scatter.middle, atol=0.3)
    assert strong.map[under].min() > 80


def test_what_is_not_sound_does_not_tell_the_scatter(rng):
    """Though it takes most of the frame."""
    raw = rng.standard_normal((1, *SHAPE))
    loud = np.indices(SHAPE)[0] < 30
    raw[0, loud] *= 6
    looks = look(raw, CONTRAST, felt_over(0.2), EVERYWHERE, ~loud)
    np.testing.assert_allclose(looks.scatter.spread, 1, rtol=0.1)
    assert look(raw, CONTRAST, felt_over(0.2), EVERYWHERE).scatter.spread.min() > 2.5


def test_a_recording_calmer_than_its_noise_does_not_make_scores_larger(rng):
    raw = 0.1 * rng.standard_normal((1, *SHAPE))
    assert np.abs(look(raw, CONTRAST, felt_over(0.2), EVERYWHERE).scores).max() < 1


def test_the_strip_along_the_edge_has_a_scatter_of_its_own(rng):
    raw = rng.standard_normal((1, *SHAPE))
    edge = np.ones(SHAPE, dtype=bool)
    edge[4:-4, 4:-4] = False
    raw[0, edge] *= 5
    looks = look(raw, CONTRAST, felt_over(0.2), zones(CONTRAST, 4 * max(PIXEL)))
    assert looks.scatter.spread[0, 0, 20] == pytest.approx(5, rel=0.2)
    assert looks.scatter.spread[0, 20, 20] == pytest.approx(1, rel=0.1)


def test_places_that_are_not_looked_at_stand_out_by_nothing(rng):
    raw = 5 + rng.standard_normal((1, *SHAPE))
    raw[0, :3] = 0
    assert not look(raw, CONTRAST, felt_over(0.2), EVERYWHERE).scores[0, :3].any()


def planted(rng, spans, large):
    """White scatter of many narrow templates and a wide one, and of a large defect that most places of it show."""
    raw = rng.standard_normal((len(spans), *SHAPE))
    raw[-1] += large * np.clip(1.2 - np.hypot(*(np.indices(SHAPE) - np.array([[[20]], [[22]]]))) / 22, 0, 1)
    return raw


def test_one_large_defect_does_not_become_the_scatter_of_the_wide_template_that_shows_it(rng):
    spans = (0.1,) * 7 + (0.9,)
    looks = look(planted(rng, spans, 400.0), CONTRAST, felt_over(*spans), EVERYWHERE)
    alone = look(planted(rng, spans, 400.0)[-1:], CONTRAST, felt_over(0.9), EVERYWHERE)
    assert alone.scores.max() < 4  # by its own places only, it is hidden
    assert looks.scores[-1].max() > 15
    assert np.unravel_index(looks.scores[-1].argmax(), SHAPE) == pytest.approx((20, 22), abs=2)
    assert looks.scatter.spread[-1].max() < 0.3 * alone.scatter.spread.max()


def test_narrow_templates_are_untouched_by_wide_ones(rng):
    spans = (0.1,) * 7 + (0.9,)
    raw = planted(rng, spans, 400.0)
    of_all = look(raw, CONTRAST, felt_over(*spans), EVERYWHERE)
    of_narrow = look(raw[:-1], CONTRAST, felt_over(*spans[:-1]), EVERYWHERE)
    np.testing.assert_array_equal(of_all.scores[:-1], of_narrow.scores)
    np.testing.assert_array_equal(of_all.scatter.spread[:-1], of_narrow.scatter.spread)


def test_a_scatter_within_what_its_width_allows_is_kept(rng):
    """Wide templates do scatter more on sound parts."""
    spans = (0.1,) * 7 + (0.9,)
    raw = rng.standard_normal((8, *SHAPE))
    raw[-1] *= 3
    looks = look(raw, CONTRAST, felt_over(*spans), EVERYWHERE)
    assert looks.scatter.spread[-1].max() == pytest.approx(3, rel=0.1)


@pytest.mark.parametrize("edge", [1.5, 3.2])
def test_zones_are_the_inside_and_the_strip_along_the_edge(edge):
    middle, strip = zones(CONTRAST, edge * max(PIXEL))
    assert not (middle & strip).any()
    assert (middle | strip).all()
    y, x = (np.minimum(np.arange(n) + 1, n - np.arange(n)) * d for n, d in zip(SHAPE, PIXEL, strict=True))
    np.testing.assert_array_equal(strip, np.minimum(y[:, None], x) <= edge * max(PIXEL))


def test_the_edge_of_what_counts_is_an_edge_and_what_does_not_count_is_in_no_zone():
    weight = np.ones(SHAPE)
    weight[:, :10] = 0
    contrast = contrast_of(np.zeros((len(TIMES), *SHAPE)), weight=weight)
    middle, strip = zones(contrast, 2.5 * max(PIXEL))
    np.testing.assert_array_equal(middle | strip, weight > 0)
    assert strip[20, 10:12].all()
    assert middle[20, 20]


@pytest.mark.parametrize("edge", [0.0, 1.0])
def test_zones_that_are_too_small_are_one(edge):
    """No strip at all, or one that leaves no inside."""
    (zone,) = zones(CONTRAST, edge)
    np.testing.assert_array_equal(zone, CONTRAST.counted)
    assert zone.sum() >= FEWEST_PLACES
