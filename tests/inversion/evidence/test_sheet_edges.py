"""The outline of a region is that of the even sheet which explains the frames, where that is better than the fit."""

import dataclasses

import numpy as np
import pytest

from nefty.inversion.evidence.edges import sharpened
from nefty.inversion.evidence.hills import outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from support.weak_films import SLAB, contrast_of, disc, shown_by

SHAPE = (30, 30)
SETTINGS = SheetSettings(layers=10)
UNDER = disc(SHAPE, (15, 15), 3.2)
DEPTH = 0.5 * SLAB.thickness


def sheet_of(insulation):
    deep = np.full(SHAPE, DEPTH)
    return Sheet(insulation > 0, insulation, deep, deep, 0.5 * insulation / (1 - insulation), [])


@pytest.fixture(scope="module")
def fit():
    c = 0.4
    values = shown_by(0.5 * c / (1 - c) * UNDER, 0.5, layers=10)
    return SheetFit(contrast_of(values), SLAB, (1.0, 1.0), SETTINGS)


def iou(one, other):
    return (one & other).sum() / (one | other).sum()


def test_a_wide_weak_hill_becomes_the_even_sheet_that_is_there(fit):
    away = np.hypot(*(np.indices(SHAPE) - 15))
    blurred = sheet_of(0.22 * np.exp(-((away / 6) ** 2)) * (away < 12))
    (before,), (after,) = outlines(blurred, SETTINGS), outlines(found := sharpened(fit, blurred, SETTINGS), SETTINGS)
    assert iou(before, UNDER) < 0.5
    assert iou(after, UNDER) > 0.8
    assert np.median(found.insulation[after]) == pytest.approx(0.4, abs=0.06)
    assert np.median(found.resistance[after]) == pytest.approx(0.5 * 0.4 / 0.6, rel=0.25)
    assert fit.misfit(found) < 0.1 * fit.misfit(blurred)


def test_what_explains_the_frames_already_stays_as_it_is(fit):
    """An even sheet is as good at best, and one of another contour worse."""
    right = sheet_of(0.4 * UNDER + 0.0)
    uneven = dataclasses.replace(right, insulation=np.where(UNDER, 0.4, 0.0))
    assert np.array_equal(sharpened(fit, uneven, SETTINGS).insulation > 0, UNDER)
