"""Indications of sheets: place, size and thickness are those of their pixels and of the sheet."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nefty.result.reach import Reach
from support.parts import BULK, GRID
from support.weighed_parts import CALLED, weighed


def test_size_and_area_agree_whatever_the_volume_shows():
    speckled = BULK * np.exp(np.random.default_rng(3).normal(0, 0.5, GRID.shape))
    rec = weighed(alpha=speckled)
    (one,), (beside,) = rec.indications(), rec.evidence()
    assert one.area == pytest.approx(2.1e-3 * 2.2e-3)
    assert (one.size_y, one.size_x) == pytest.approx((2.1e-3, 2.2e-3))
    assert one.centre[1:] == pytest.approx((6.15e-3, 2.3e-3))
    assert math.pi / 4 * beside.fwhm_long * beside.fwhm_short == pytest.approx(one.area)
    assert beside.fwhm_area == pytest.approx(one.area)
    assert beside.fwhm_long / beside.fwhm_short == pytest.approx(2.2 / 2.1, rel=1e-3)
    assert (beside.row, beside.column) == (20, 11)


def test_a_sheet_has_no_thickness_and_a_hole_the_rest_of_the_part():
    (sheet,) = weighed(CALLED).indications()
    assert math.isnan(sheet.thickness)
    assert not sheet.reaches_back
    (hole,) = weighed(replace(CALLED, insulation=0.97, open_to_back=True)).indications()
    assert hole.thickness == pytest.approx(1.3e-3 - 0.61e-3)
    assert hole.reaches_back
    assert math.isnan(hole.resistance)


def test_a_sheet_at_the_end_of_the_reach_is_at_its_rim():
    assert weighed(CALLED, reach=Reach(0.0, 0.6e-3)).evidence()[0].at_rim
    assert not weighed(CALLED, reach=Reach(0.0, 1.2e-3)).evidence()[0].at_rim
