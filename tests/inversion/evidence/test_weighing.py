"""Regions are judged by what they add to what all others explain, over what stays unexplained."""

from typing import Any

import numpy as np
import pytest

from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.weighing import Judge, SoundPart, Weighing
from support.weak_films import PIXEL, SLAB, TIMES, contrast_of, disc, shown_by

SHAPE = (32, 34)
SETTINGS = EvidenceSettings(depths=(0.25, 0.5), widths=(1.3, 4.0))
ONE, OTHER = disc(SHAPE, (9, 9), 4), disc(SHAPE, (22, 24), 4)
FAR = disc(SHAPE, (25, 6), 0.5)
WIDELY = (1e3, 1e3)  # pixels over which errors are alike: all of them
NOTHING = np.zeros((len(TIMES), *SHAPE))


@pytest.fixture(scope="module")
def shown():
    """What each of two films shows, and both."""
    one, other = shown_by(0.1 * ONE, 0.25, layers=12), shown_by(0.3 * OTHER, 0.5, layers=12)
    return one, other, one + other


@pytest.fixture(scope="module")
def weighing(shown):
    contrast = contrast_of(shown[2], np.random.default_rng(4))
    return Weighing(SoundPart(contrast, SLAB, (1.0, 1.0), 0.0), SETTINGS)


def test_a_region_that_is_there_stands_out_and_its_place_beside_it_does_not(shown, weighing):
    judge = weighing.after(shown[2])
    assert judge(ONE, shown[1])[0] > 2 * weighing.threshold
    assert judge(OTHER, shown[0])[0] > 2 * weighing.threshold
    assert judge(disc(SHAPE, (24, 6), 3), shown[2])[0] < weighing.threshold


def test_what_the_others_explain_is_no_score_of_its_own(shown, weighing):
    """All of it by another region; without noise exactly none."""
    judge = weighing.after(shown[2])
    assert judge(ONE, shown[2])[0] < 0.3 * judge(ONE, shown[1])[0]
    calm = Weighing(SoundPart(contrast_of(shown[2]), SLAB, (1.0, 1.0), 0.0), SETTINGS).after(shown[2])
    assert calm(ONE, shown[2])[0] == pytest.approx(0, abs=1e-9)
    assert calm(ONE, shown[1])[0] > 10


def test_an_outline_is_known_to_half_a_pixel_so_what_its_shift_leaves_is_no_region(monkeypatch):
    """A strong film, explained 0.4 pixels beside where it is, and a ghost along its edge that makes up for it."""
    strong, ghost = disc(SHAPE, (16, 14), 5), disc(SHAPE, (16, 20), 1.2)
    shifted = 0.6 * strong + 0.4 * disc(SHAPE, (16, 13), 5)
    there, said = (shown_by(2.0 * mask, 0.3, layers=12) for mask in (strong, shifted))
    weighing = Weighing(SoundPart(contrast_of(there), SLAB, (1.0, 1.0), 0.0), SETTINGS)
    assert weighing.after(there)(ghost, said)[0] < weighing.threshold
    assert weighing.after(there)(strong, NOTHING)[0] > 2 * weighing.threshold
    monkeypatch.setattr("nefty.inversion.evidence.weighing.OUTLINE", 0.0)
    assert weighing.after(there)(ghost, said)[0] > weighing.threshold


def test_a_score_falls_when_what_stays_unexplained_grows(shown, weighing, rng):
    """The same frames and region; explained less and less well, at other places."""
    patches = sum((-1) ** n * disc(SHAPE, rng.uniform(4, 28, 2), 4).astype(float) for n in range(14)) * ~ONE * ~OTHER
    wrong = shown_by(np.full((1, 1), 0.1), 0.3)[:, :1] * patches
    scores = [weighing.after(shown[2] + size * wrong)(ONE, shown[1])[0] for size in (0.0, 0.5, 1.0, 2.0)]
    assert (np.diff(scores) < 0).all()
    assert scores[-1] < 0.5 * scores[0]


def test_a_residual_below_the_noise_does_not_make_a_score_larger(shown, weighing):
    """As if a fit had followed the noise: what is left scatters less than it can."""
    contrast = contrast_of(shown[2], np.random.default_rng(4))
    followed = weighing.after(contrast.values)
    assert followed(ONE, shown[1])[0] < 1.5 * weighing.after(shown[2])(ONE, shown[1])[0]


class Plain:
    """Filters that show the first frame itself."""

    information = np.ones((1, *SHAPE))

    def __call__(self, values):
        return values[:1]


PLAIN: Any = Plain()


def test_the_score_is_what_is_left_over_its_scatter_and_the_doubt(rng):
    """By its formula, for filters that show the frame itself."""
    noise, zone = 3 * rng.standard_normal((1, *SHAPE)), np.ones(SHAPE, dtype=bool)
    own, others = 40.0 * ONE[None], 30.0 * np.ones((1, *SHAPE))
    scores = [
        Judge(noise + own + others, PLAIN, own + others, [zone], WIDELY, doubt, 9.0)(ONE, others)[0]
        for doubt in (0.0, 0.2)
    ]
    middle = np.median(noise)
    spread = np.sqrt(((noise - middle) ** 2).mean())
    most = (noise + own)[0, ONE].max() - middle
    np.testing.assert_allclose(scores, [most / spread, most / np.hypot(spread, 6.0)], rtol=1e-9)


def test_zones_have_scatters_of_their_own(rng):
    left = np.indices(SHAPE)[1] < 17
    noise = np.where(left, 2.0, 8.0) * rng.standard_normal((1, *SHAPE))
    own = 60.0 * (ONE | OTHER)[None]
    judge = Judge(noise + own, PLAIN, own, [left, ~left], (2.0, 2.0), 0.0, 9.0)
    nothing = np.zeros((1, *SHAPE))
    assert 2.5 < judge(ONE, nothing)[0] / judge(OTHER, nothing)[0] < 4.5


def test_what_is_colder_than_a_threshold_is_an_error_that_the_scale_has(rng):
    """A cold place twice as far out as a region may be makes every score half as large, and a warm one does not."""
    noise, zone = rng.standard_normal((1, *SHAPE)), [np.ones(SHAPE, dtype=bool)]
    own, nothing = 40.0 * ONE[None], np.zeros((1, *SHAPE))
    plain, cold, warm = (
        Judge(noise + error + own, PLAIN, own, zone, WIDELY, 0.0, 5.0)
        for error in (nothing, -30.0 * FAR[None], 30.0 * FAR[None])
    )
    left = (noise - 30.0 * FAR)[0]
    spread = np.sqrt(((left - np.median(left)) ** 2).mean())
    coldest = (np.median(left) - left.min()) / spread
    assert coldest > 10
    expected = ((noise + own)[0, ONE].max() - np.median(left)) / spread / (coldest / 5.0)
    np.testing.assert_allclose(cold(ONE, nothing)[0], expected, rtol=1e-4)
    assert warm(ONE, nothing)[0] > 1.5 * cold(ONE, nothing)[0]
    assert plain(ONE, nothing)[0] > warm(ONE, nothing)[0]


def test_what_is_left_over_is_at_most_what_was_seen(shown, weighing):
    looks = weighing.looks
    none, one, both = (weighing.after(e).left_over(looks) for e in (NOTHING, shown[1], shown[2]))
    np.testing.assert_allclose(none, looks.scores, atol=1e-9)
    for left in (one, both):
        assert (np.abs(left) <= np.abs(looks.scores) + 1e-9).all()
        assert (left * looks.scores >= 0).all()
    assert one[:, OTHER].max() < 0.5 * none[:, OTHER].max()
    assert one[:, ONE].max() > 0.9 * none[:, ONE].max()
    assert both.max() < weighing.threshold < one.max()


def test_the_strength_of_a_weak_disc_is_its_resistance():
    """Of the template of its depth and width, to first order; a disc of few pixels has not quite its area."""
    weak = 1e-3
    templates = Weighing(SoundPart(contrast_of(NOTHING), SLAB, (1.0, 1.0), 0.0), SETTINGS).looks.templates
    wide = [n for n, template in enumerate(templates) if template.diameter > 3.5 * max(PIXEL)]
    assert len(wide) >= 2
    rows, columns = np.indices(SHAPE)
    for which in wide:
        depth, radius = templates[which].depth / SLAB.thickness, templates[which].diameter / 2
        under = np.hypot((rows - 16) * PIXEL[0], (columns - 17) * PIXEL[1]) < radius
        seen = contrast_of(shown_by(weak * under, depth, layers=20))
        weighing = Weighing(SoundPart(seen, SLAB, (1.0, 1.0), 0.0), SETTINGS)
        assert weighing.strength(which, under) == pytest.approx(weak, rel=0.15)
        assert weighing.strength(which, np.zeros(SHAPE, dtype=bool)) == 0


def test_beside_what_is_badly_explained_a_region_has_to_stand_out_more(rng):
    """The same region, and the same error of the model beside it and far away."""
    noise, zone = rng.standard_normal((1, *SHAPE)), [np.ones(SHAPE, dtype=bool)]
    own, nothing = 40.0 * ONE[None], np.zeros((1, *SHAPE))
    rows, columns = np.indices(SHAPE)
    ripple = 8.0 * np.where((rows + columns) % 2, 1.0, -1.0)
    ring = (disc(SHAPE, (9, 9), 6) & ~ONE, disc(SHAPE, (22, 24), 6) & ~OTHER)
    beside, away = (
        Judge(noise + own + ripple * r, PLAIN, own, zone, (2.0, 2.0), 0.0, 99.0)(ONE, nothing)[0] for r in ring
    )
    assert beside < 0.7 * away
