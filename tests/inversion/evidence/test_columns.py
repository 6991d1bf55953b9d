"""Sheets under columns: insulation and depth from the mean of a wide one's core, strong ones too."""

import numpy as np
import pytest

from nefty.inversion.evidence.columns import INSULATIONS, Columns
from support.weak_films import SLAB, TIMES, contrast_of, disc, shown_by

LAYERS = 20


def near(insulation):
    """Within one and a half of the steps of the grid of insulations."""
    step = float(np.asarray(np.gradient(INSULATIONS))[np.abs(INSULATIONS - insulation).argmin()])
    return pytest.approx(insulation, abs=1.5 * step)


def relative(insulation, share):
    """R/(thickness/alpha) of an insulation at a depth over the thickness."""
    return share * insulation / (1 - insulation)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
@pytest.mark.parametrize("insulation", [0.2, 0.5, 0.75, 0.9])
def test_a_sheet_from_side_to_side_comes_back(rng, insulation, share):
    """All heat flows through the thickness, so it is right however strong the sheet is."""
    shape = (6, 7)
    contrast = contrast_of(shown_by(np.full(shape, relative(insulation, share)), share), rng)
    found, depth = Columns(contrast, SLAB, LAYERS)(np.ones(shape))
    assert found == near(insulation)
    assert depth == pytest.approx(share * SLAB.thickness, rel=0.12)


@pytest.mark.parametrize("insulation", [0.3, 0.8])
def test_a_wide_disc_comes_back_from_the_mean_of_its_core(rng, insulation):
    """16 mm wide at 0.9 mm."""
    shape, share = (30, 32), 0.3
    contrast = contrast_of(shown_by(relative(insulation, share) * disc(shape, (14, 15), 10), share, layers=20), rng)
    columns = Columns(contrast, SLAB, LAYERS)
    core = disc(shape, (14, 15), 6)
    found, depth = columns(core.astype(float))
    assert found == near(insulation)
    assert depth == pytest.approx(share * SLAB.thickness, rel=0.12)
    assert columns(7.0 * core) == (found, depth)  # weights are relative


def test_of_two_sheets_the_weights_choose(rng):
    """Side by side, and each wide."""
    shape = (3, 60)
    left = np.broadcast_to(np.arange(60) < 30, shape)
    shallow, deep = (relative(c, share) * where for c, share, where in ((0.6, 0.25, left), (0.4, 0.6, ~left)))
    values = shown_by(shallow, 0.25, layers=20) + shown_by(deep, 0.6, layers=20)  # far from each other
    columns = Columns(contrast_of(values, rng), SLAB, LAYERS)
    rest = np.arange(60)
    of_left, of_right = (columns(np.broadcast_to(1.0 * side, shape)) for side in (rest < 18, rest >= 42))
    assert of_left == (near(0.6), pytest.approx(0.25 * SLAB.thickness, rel=0.12))
    assert of_right == (near(0.4), pytest.approx(0.6 * SLAB.thickness, rel=0.12))


def test_where_nothing_shows_it_is_the_weakest_of_all():
    empty = contrast_of(np.zeros((len(TIMES), 4, 4)))
    insulation, depth = Columns(empty, SLAB, 10)(np.ones((4, 4)))
    assert insulation == INSULATIONS.min()
    assert 0 < depth < SLAB.thickness
