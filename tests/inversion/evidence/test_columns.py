"""Sheets under single pixels: right in the middle of wide ones."""

import numpy as np
import pytest

from nefty.inversion.evidence.columns import INSULATIONS, by_columns
from support.weak_films import SLAB, TIMES, contrast_of, disc, shown_by

SHAPE = (20, 22)


@pytest.mark.parametrize(("insulation", "share"), [(0.2, 0.3), (0.5, 0.5), (0.3, 0.7)])
def test_a_wide_sheet_is_found_in_its_middle(rng, insulation, share):
    """From one side to the other, so that all heat flows through the thickness; on its grid of insulations."""
    relative = share * insulation / (1 - insulation)
    contrast = contrast_of(shown_by(np.full(SHAPE, relative), share, layers=40), rng)
    found, depth = by_columns(contrast, SLAB, 20)
    assert np.median(depth) == pytest.approx(share * SLAB.thickness, rel=0.12)
    step = np.gradient(INSULATIONS)[np.argmin(np.abs(INSULATIONS - insulation))]
    assert np.median(found) == pytest.approx(insulation, abs=1.5 * step)


def test_only_under_the_disc(rng):
    under = disc(SHAPE, (9, 10), 5)
    found, depth = by_columns(contrast_of(shown_by(0.3 * under, 0.3, layers=20), rng), SLAB, 20)
    assert np.median(found[disc(SHAPE, (9, 10), 3)]) > 0.25
    assert np.median(found[~disc(SHAPE, (9, 10), 8)]) < 0.07
    assert ((depth > 0) & (depth < SLAB.thickness)).all()


def test_where_nothing_shows_nothing_insulates():
    assert not by_columns(contrast_of(np.zeros((len(TIMES), *SHAPE))), SLAB, 10)[0].any()
