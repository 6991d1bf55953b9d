"""What the frames show: what is called, what just missed, and the same in other units."""

import dataclasses

import numpy as np
import pytest

from nefty.data.facts import Units
from nefty.metrics.pairing import true_part
from nefty.result.display_units import in_display_units
from nefty.result.frame_evidence import FrameEvidence
from support.parts import BULK, COLUMNS, GRID, ROWS
from support.weighed_parts import CALLED, GAP, NEARLY, NOTHING, evidence, weighed


def test_near_the_threshold_is_just_missed_and_far_below_is_nothing():
    shown = evidence(NOTHING, CALLED, NEARLY)
    assert (shown.called, shown.missed, shown.just_missed) == ((2,), (3, 1), (3,))


def test_footprints_of_sheets_and_of_cells():
    flat = evidence(CALLED)
    deep = np.stack([flat.labels, np.zeros_like(flat.labels)])
    solid = FrameEvidence(deep, flat.regions, 5.2, 0.05, flat.score_map, 0.0)
    assert flat.of_sheets
    assert not solid.of_sheets
    np.testing.assert_array_equal(flat.footprint(1), solid.footprint(1))
    assert flat.footprint(1)[ROWS, COLUMNS].all()
    assert flat.footprint(1).sum() == 7 * 11


def test_a_record_comes_back():
    shown = evidence(CALLED, NEARLY)
    again = FrameEvidence.from_record(shown.record())
    assert again.regions == shown.regions
    np.testing.assert_array_equal(again.labels, shown.labels)


def test_shown_in_millimetres_it_is_the_same_part():
    rec = weighed()
    (one,), (shown,) = rec.indications(), in_display_units(rec).indications()
    assert shown.depth_to_top == pytest.approx(1e3 * one.depth_to_top) == pytest.approx(0.61)
    assert shown.area == pytest.approx(1e6 * one.area)
    for name in ("evidence", "resistance", "gap_air", "gap_polymer"):  # in their own units
        assert getattr(shown, name) == pytest.approx(getattr(one, name))
    assert one.gap_air == pytest.approx(GAP)
    np.testing.assert_allclose(in_display_units(rec).depth_map(), 1e3 * rec.depth_map())


def test_gaps_need_a_known_unit():
    rec = weighed()
    (one,) = weighed(facts=rec.facts.replaced(units=Units())).indications()
    assert one.resistance == CALLED.resistance  # time over length
    assert np.isnan([one.gap_air, one.gap_polymer]).all()
    (other,) = weighed(facts=rec.facts.replaced(units=Units(length="ell"))).indications()
    assert np.isnan([other.resistance, other.gap_air, other.gap_polymer]).all()
    assert one.evidence == CALLED.score


def test_the_truth_is_not_what_was_found():
    rec = weighed(truth=np.full(GRID.shape, BULK))
    true = true_part(rec)
    assert true is not None
    assert true.indications() == []
    assert len(rec.indications()) == 1


def test_what_stands_out_without_being_called_is_no_all_clear():
    shown = evidence(NEARLY)
    assert shown.unresolved is None
    bright = dataclasses.replace(shown, score_map=np.where(shown.labels > 0, 3 * shown.threshold, 0.0))
    assert bright.unresolved is not None
    assert bright.labels[bright.unresolved] == 1
    rec = dataclasses.replace(weighed(NEARLY), frame_evidence=bright)
    verdict = rec.verdict()
    assert verdict.text.startswith("Something stands out")
    assert verdict.level != "explained"
    called = evidence(CALLED, NEARLY)
    assert dataclasses.replace(called, score_map=bright.score_map).unresolved is None
