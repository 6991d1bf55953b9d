"""The edges of what was found tell how fast heat spreads along the part; the user's ratios are a prior."""

import numpy as np
import pytest

from nefty.inversion.evidence.ratios import refined
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import SheetFit
from support.weak_films import SLAB, contrast_of, disc, shown_by

SHAPE = (28, 28)
SETTINGS = SheetSettings(layers=10)
UNDER = disc(SHAPE, (14, 14), 5)
TRUE = (2.0, 3.0)


def fitted(stated, true=TRUE):
    values = shown_by(1.5 * UNDER, 0.4, layers=10, along=true)
    fit = SheetFit(contrast_of(values, np.random.default_rng(2)), SLAB, stated, SETTINGS)
    owner = np.zeros(SHAPE, dtype=np.int64)
    deep = np.full(SHAPE, 0.4 * SLAB.thickness)
    return fit, fit.fit(disc(SHAPE, (14, 14), 9), np.zeros(SHAPE), deep, owner)


@pytest.mark.parametrize(("wrong", "least", "most"), [(1.6, -0.35, -0.1), (0.7, 0.07, 0.3), (1.0, -0.1, 0.1)])
def test_wrong_ratios_move_towards_the_true_ones_and_right_ones_hardly(wrong, least, most):
    """Less than all the way, and both by the same factor."""
    stated = (TRUE[0] * wrong, TRUE[1] * wrong)
    moved = np.log(np.array(refined(*fitted(stated), SETTINGS)) / stated)
    assert moved[0] == pytest.approx(moved[1])
    assert least < moved[0] < most


def test_a_part_that_is_alike_in_all_directions_is_not_asked():
    assert refined(*fitted((1.0, 1.0), true=(1.0, 1.0)), SETTINGS) == (1.0, 1.0)
