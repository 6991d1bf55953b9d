"""What the frames show, on the page, and the table with evidence."""

import re
from dataclasses import replace

import pytest

from nefty.report.figures.style import units_of
from nefty.report.pages.evidence_section import section
from nefty.report.pages.findings import NOTHING, Findings, defect_table
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.result.display_units import in_display_units
from support.parts import planted
from support.weighed_parts import CALLED, NEARLY, evidence, weighed


@pytest.fixture(scope="module")
def rec():
    return in_display_units(weighed())


def test_regions_marks_and_what_just_missed(rec):
    found = section(Findings(rec), units_of(rec))
    assert found is not None
    assert found.table is not None
    assert found.table.columns[1] == "centre x, y (mm)"
    assert [tuple(row) for row in found.table.rows] == [("1", "6.60, 1.80", "6, 33", "0.32", "4.80", "5.20")]
    assert found.figure is not None
    (marks,) = [words for trace in found.figure.data if (words := getattr(trace, "text", None))]
    assert list(marks) == ["1", "4.8"]
    assert "would show 0.05 indications" in found.shows


def test_nothing_just_missed_and_nothing_weighed(rec):
    alone = replace(rec, frame_evidence=evidence(CALLED).scaled(1e3))
    found = section(Findings(alone), units_of(alone))
    assert found is not None
    assert found.table is None
    assert "Nothing just missed" in found.shows
    assert section(Findings(planted()), units_of(planted())) is None


def test_the_table_has_evidence_where_there_is_some(rec):
    table = defect_table(Findings(rec), units_of(rec))
    (row,) = (dict(zip(table.columns, cells, strict=True)) for cells in table.rows)
    assert row["evidence (σ)"] == "21"
    assert row["R (m²K/W)"] == "0.00192"
    assert row["as air, polymer (µm)"].startswith("50, ")
    assert row["thickness (mm)"] == NOTHING
    plain = defect_table(Findings(planted()), units_of(planted()))
    assert "evidence (σ)" not in plain.columns


def test_the_page_is_whole():
    text = reconstruction_page(weighed()).render()
    assert "What the frames show" in text
    assert "polymer film" in text
    seen = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    assert not re.search(r"\{[a-zA-Z_.]+(:[^{}<]*)?\}", seen)  # a number that nobody has put in
    assert "Colours end at 2 times the threshold" in " ".join(seen.split())


def test_a_part_in_which_nothing_is_called_says_what_was_looked_at():
    text = reconstruction_page(weighed(NEARLY)).render()
    assert "Nothing stands out by 5.2 standard deviations or more" in text
    assert "No connected region of the volume" not in text
    assert "The table lists what just missed" in text
