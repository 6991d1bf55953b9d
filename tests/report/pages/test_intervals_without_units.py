"""Intervals of a volume that has no units: in the table, on the page and in the CSV, without a word of metres."""

import csv
import math

import numpy as np
import pytest

from nefty.core.stopping import Stopped, StopReason
from nefty.data.facts import Facts, Units
from nefty.report.figures.style import units_of
from nefty.report.pages.findings import Findings, defect_table
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.result.exports.export import defect_table as csv_table
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence
from nefty.result.indications.intervals import Factors, Group
from support.parts import COLUMNS, FACTS, GRID, LAYERS, ROWS, planted

FACTORS = Factors(
    *("fast", "xyz", "by a test", 9),
    (Group(math.inf, 50, (0.8, 1.25), (0.9, 1.2), (0.5, 2.0), 0.1),),
    unitless=True,
)


def volume(facts=None, **changes):
    """A finished volume of ``fast`` with one region that is called."""
    labels = np.zeros(GRID.shape, dtype=np.int32)
    labels[LAYERS, ROWS, COLUMNS] = 1
    weighed = FrameEvidence(labels, (RegionEvidence(30.0),), 5.2, 0.05, np.zeros(GRID.shape[1:]), 2)
    provenance = {"recipe": "fast", "code of indications": "xyz"}
    known = Facts() if facts is None else facts
    values = {"frame_evidence": weighed, "recipe": {"rule": "evidence"}, "provenance": provenance, "facts": known}
    return planted(**(values | changes))


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    monkeypatch.setattr("nefty.result.indications.intervals.stored_factors", lambda: {"fast": FACTORS})


def test_every_number_has_its_interval():
    rec = volume()
    (one,), (sure,) = rec.indications(), rec.evidence()
    assert sure.level == 0.9
    assert (sure.depth_low, sure.depth_high) == pytest.approx((0.8 * one.depth_to_top, 1.25 * one.depth_to_top))
    assert (sure.diameter_low, sure.diameter_high) == pytest.approx((0.9 * one.diameter, 1.2 * one.diameter))
    assert (sure.resistance_low, sure.resistance_high) == pytest.approx((0.5 * one.resistance, 2 * one.resistance))
    assert sure.offset == pytest.approx(0.1 * one.diameter)


def test_the_report_has_them_and_no_metres():
    rec = volume()
    table = defect_table(Findings(rec), units_of(rec))
    (row,) = (dict(zip(table.columns, cells, strict=True)) for cells in table.rows)
    (one,) = rec.indications()
    assert row["R"] == f"{one.resistance:.3g} ({one.resistance / 2:.2g} to {2 * one.resistance:.2g})"
    assert {"90 % interval", "diameter, 90 %"} <= row.keys()
    assert not [heading for heading in table.columns if "m²" in heading or "mm" in heading or "µm" in heading]
    text = reconstruction_page(rec).render()
    assert "measured on 9 simulated specimens without units" in text
    assert "exact facts" in text
    assert "K/W" not in text
    assert "has no stated probability" not in text


def test_the_csv_says_the_unit_of_a_resistance():
    (header, cells) = csv.reader(csv_table(volume()).splitlines())
    row = dict(zip(header, cells, strict=True))
    assert float(row["resistance_high (time unit/length unit)"]) == pytest.approx(
        4 * float(row["resistance_low (time unit/length unit)"])
    )
    assert row["level (1)"] == "0.9"
    assert "resistance (m2K/W)" in next(csv.reader(csv_table(volume(FACTS)).splitlines()))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"facts": FACTS}, "for parts in metres use real"),
        ({"facts": Facts(units=Units(length="mm"))}, "for parts in metres use real"),
        ({"stopped": Stopped(StopReason.OUT_OF_TIME)}, "stopped before its end"),
        ({"recipe": {"rule": "default"}}, "by evidence"),
        ({"provenance": {"recipe": "fast", "code of indications": "old"}}, "another version"),
        ({"provenance": {"recipe": "neural"}}, "not for neural"),
    ],
)
def test_where_they_do_not_hold_there_is_the_band_and_the_reason(changes, why):
    rec = volume(**changes)
    assert math.isnan(rec.evidence()[0].level)
    text = reconstruction_page(rec).render()
    assert why in text
    assert "has no stated probability" in text
