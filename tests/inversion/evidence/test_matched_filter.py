"""Filters of weak discs: linear, of known scatter, and a planted disc shows its strength."""

import numpy as np
import pytest

from nefty.inversion.evidence.bank import WIDEST, bank
from nefty.inversion.evidence.matched_filter import MatchedFilter
from nefty.inversion.evidence.settings import EvidenceSettings
from support.weak_films import PIXEL, SLAB, SPREAD, TIMES, contrast_of, shown_by

SHAPE = (36, 40)
EMPTY = np.zeros((len(TIMES), *SHAPE))
SETTINGS = EvidenceSettings(depths=(0.2, 0.4, 0.7), widths=(1.3, 3.0))


def bank_of(contrast, shallowest=0.0, settings=SETTINGS):
    return bank(contrast, SLAB, (SLAB.alpha, SLAB.alpha), shallowest, settings)


@pytest.fixture(scope="module")
def templates():
    return bank_of(contrast_of(EMPTY))


@pytest.fixture(scope="module")
def filters(templates):
    return MatchedFilter(contrast_of(EMPTY), templates)


def planted(template, at, strength):
    """Values that are a template of that strength at a pixel."""
    white = np.tensordot(template.courses.T, template.images, axes=1)
    moved = np.roll(white, at, axis=(1, 2))[:, : SHAPE[0], : SHAPE[1]]
    return strength * SPREAD[:, None, None] * moved


def test_the_bank_holds_discs_that_the_frames_can_tell_about(templates):
    for template in templates:
        assert 1.5 * max(PIXEL) <= template.diameter <= WIDEST * min(36 * PIXEL[0], 40 * PIXEL[1])
        np.testing.assert_allclose(template.courses @ template.courses.T, np.eye(3), atol=1e-9)
    assert {round(t.depth / SLAB.thickness, 3) for t in templates} == {0.2, 0.4, 0.7}
    deep = bank_of(contrast_of(EMPTY), shallowest=0.3 * SLAB.thickness)
    assert {round(t.depth / SLAB.thickness, 3) for t in deep} == {0.4, 0.7}


def test_a_template_is_what_a_weak_disc_shows(templates):
    """To first order, a template being that of a disc whose resistance times its area is that of one pixel."""
    wide = max((t for t in templates if round(t.depth / SLAB.thickness, 3) == 0.4), key=lambda t: t.diameter)
    resistance = 1e-3
    rows, columns = np.indices(SHAPE)
    under = np.hypot((rows - 18) * PIXEL[0], (columns - 20) * PIXEL[1]) < wide.diameter / 2
    contrast = contrast_of(shown_by(resistance * under, 0.4))
    white = contrast.whitened(contrast.values)
    seen = np.tensordot(wide.courses, white, axes=1) / (resistance * under.sum())
    sums = wide.images.sum(axis=(1, 2))
    np.testing.assert_allclose(seen.sum(axis=(1, 2)), sums, atol=0.01 * np.abs(sums).max())
    expected = np.roll(wide.images, (18, 20), axis=(1, 2))[:, : SHAPE[0], : SHAPE[1]]
    assert np.abs(seen - expected).max() < 0.17 * np.abs(expected).max()  # of pixels, not of a disc


def test_it_is_linear(filters, rng):
    one, other = rng.standard_normal((2, *EMPTY.shape))
    np.testing.assert_allclose(filters(2 * one - 3 * other), 2 * filters(one) - 3 * filters(other), atol=1e-8)


def test_white_scatter_gives_scores_of_about_1_and_no_more(filters, rng):
    """Slightly below: the window that frees a plane around a place weighs its middle more."""
    scores = np.stack([filters(contrast_of(EMPTY, rng).values) for _ in range(10)])
    inside = scores[:, :, 10:-10, 10:-10]
    spreads = inside.std(axis=(0, 2, 3))
    assert (spreads > 0.75).all()
    assert (spreads < 1.1).all()
    assert np.abs(inside.mean()) < 0.05
    assert scores[:, :, :2].std(axis=(0, 2, 3)).max() < 1.1  # nor at the edge


@pytest.mark.parametrize("at", [(18, 20), (1, 20), (30, 3)])
def test_a_planted_template_gives_its_strength(templates, filters, at):
    information = filters.information
    for number, template in enumerate(templates):
        if information[number][at] > 0:
            score = filters(planted(template, at, 0.3))[number]
            assert score[at] / information[number][at] == pytest.approx(0.3, rel=1e-6)
            assert np.unravel_index(score.argmax(), SHAPE) == at or information[number][at] < 0.8 * information.max()


def test_planes_of_a_frame_show_nothing(filters, rng):
    rows, columns = np.indices(SHAPE)
    a, b, c = rng.standard_normal((3, len(TIMES), 1, 1))
    plane = SPREAD[:, None, None] * (a + b * rows / 10 + c * columns / 10)
    assert np.abs(filters(plane)).max() < 1e-2 * np.abs(filters(SPREAD[:, None, None] * a * rows**2 / 100)).max()


def test_pixels_that_do_not_count_do_not_matter(templates, rng):
    weight = np.ones(SHAPE)
    weight[5:12, 6:20] = 0
    contrast = contrast_of(EMPTY, rng, weight)
    filters = MatchedFilter(contrast, templates)
    values = contrast.values.copy()
    before = filters(values)
    values[:, weight == 0] = 1e3
    np.testing.assert_allclose(filters(values), before, atol=1e-6)
    assert not filters.information[:, weight == 0].any()
    assert np.isfinite(before).all()


def test_at_edges_less_is_known_and_at_corners_nothing_is_said_where_too_little_is(filters):
    middle, edge, corner = (filters.information[(slice(None), *at)] for at in ((18, 20), (0, 20), (0, 0)))
    assert (edge < 0.9 * middle).all()
    assert ((corner < edge) | (corner == 0)).all()
    assert (filters.information[:, 12:-12, 12:-12] > 0.9 * middle[:, None, None]).all()
