"""What the clear regions hid is found by a look at what they leave; where nothing is left, nothing is added."""

import numpy as np
import pytest

from nefty.inversion.evidence.hills import outlines
from nefty.inversion.evidence.second_look import second_look
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weighing import SoundPart, Weighing
from support.weak_films import PIXEL, SLAB, contrast_of, disc, shown_by

SHAPE = (32, 34)
WHOLE = (slice(0, SHAPE[0]), slice(0, SHAPE[1]))
SETTINGS = EvidenceSettings()
STRONG, WEAK = disc(SHAPE, (9, 9), 4), disc(SHAPE, (22, 24), 4.5)


def looked(values):
    """The sheet before, which has the strong film only, and after the second look."""
    contrast = contrast_of(values, np.random.default_rng(4))
    fit = SheetFit(contrast, SLAB, (1.0, 1.0), SETTINGS.sheet)
    depth = np.full(SHAPE, 0.3 * SLAB.thickness)
    resistance = 0.5 * STRONG
    before = Sheet(STRONG, resistance / (resistance + 0.3), depth, depth, resistance, [], np.zeros(SHAPE))
    weighing = Weighing(SoundPart(contrast, SLAB, (1.0, 1.0), 0.0), SETTINGS)
    return before, second_look(fit, before, weighing, fit.explained, WHOLE, SETTINGS.sheet)


@pytest.fixture(scope="module")
def strong():
    return shown_by(0.5 * STRONG, 0.3, layers=20)


def test_a_film_that_the_sheet_does_not_have_is_added_at_its_depth(strong):
    before, after = looked(strong + shown_by(0.12 * WEAK, 0.5, layers=20))
    masks = outlines(after, SETTINGS.sheet)
    assert len(outlines(before, SETTINGS.sheet)) == 1
    added = max(masks, key=lambda mask: (mask & WEAK).sum())
    assert (added & WEAK).sum() / (added | WEAK).sum() > 0.5
    assert np.median(after.depth[added]) == pytest.approx(0.5 * SLAB.thickness, rel=0.15)
    assert np.array_equal(after.insulation[STRONG], before.insulation[STRONG])


def test_where_all_is_explained_nothing_is_added(strong):
    before, after = looked(strong)
    assert np.array_equal(after.insulation, before.insulation)


def test_what_is_added_stays_apart_from_a_region_as_far_as_that_is_deep(strong):
    """A strong film that the sheet has too small: what it leaves beside itself is its own error, no second region."""
    smaller = disc(SHAPE, (9, 9), 3)
    contrast = contrast_of(strong + shown_by(0.12 * WEAK, 0.5, layers=20))
    fit = SheetFit(contrast, SLAB, (1.0, 1.0), SETTINGS.sheet)
    depth = np.full(SHAPE, 0.3 * SLAB.thickness)
    resistance = 0.5 * smaller
    before = Sheet(smaller, resistance / (resistance + 0.3), depth, depth, resistance, [], np.zeros(SHAPE))
    weighing = Weighing(SoundPart(contrast, SLAB, (1.0, 1.0), 0.0), SETTINGS)
    after = second_look(fit, before, weighing, fit.explained, WHOLE, SETTINGS.sheet)
    rows, columns = np.nonzero(smaller)
    far = np.indices(SHAPE).astype(float) * np.array(PIXEL)[:, None, None]
    apart = np.min(
        [np.hypot(far[0] - far[0][r, c], far[1] - far[1][r, c]) for r, c in zip(rows, columns, strict=True)], axis=0
    )
    changed = after.insulation != before.insulation
    assert changed.any()  # the weak film, far away
    assert apart[changed].min() > 0.3 * SLAB.thickness
