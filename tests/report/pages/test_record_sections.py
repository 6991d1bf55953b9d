"""The record of the inspection in the report and in other files, and a record that changes after the run."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from nefty.data.record.record import InspectionRecord
from nefty.report.figures.style import units_of
from nefty.report.pages.findings import Findings
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.report.pages.record_sections import sections
from nefty.result.display_units import in_display_units
from nefty.result.reconstruction import Reconstruction
from support.parts import planted

KNOWN = InspectionRecord(
    part="Skin <script>", serial="=1+1", date="2026-11-17", inspector="A^B", depth_of_interest="5 mm", ambient="21 °C"
)


@pytest.fixture
def rec():
    found = planted()
    return replace(found, facts=found.facts.replaced(record=KNOWN))


def rows_of(rec: Reconstruction, number: int = 0) -> dict[str, str]:
    shown = in_display_units(rec)
    table = sections(Findings(shown), units_of(shown))[number].table
    assert table is not None
    return {row[0]: " ".join(row[1:]).replace("\u00a0", " ") for row in table.rows}


def test_what_is_recorded_and_what_is_not_stands_in_the_report(rec):
    rows = rows_of(rec)
    assert rows["serial"] == "=1+1"
    assert "camera calibration" in rows["not recorded"]
    assert "serial" not in rows["not recorded"].split(", ")
    assert "too short. Nothing is said" in rows["long enough?"]
    html = reconstruction_page(rec).render()
    assert "Skin &lt;script&gt;" in html
    assert "Skin <script>" not in html
    visible = re.sub(r"(?s)<script>.*?</script>", "", html)
    assert not re.search(r"\bpass(ed|es)?\b", visible, re.IGNORECASE)


def test_a_real_part_without_a_record_is_told_so_and_a_simulation_is_not():
    rows = rows_of(planted())
    assert rows["not recorded"].startswith("part, serial, drawing")
    simulated = replace(planted(), facts=planted().facts.replaced(units=type(planted().facts.units)()))
    assert sections(Findings(simulated), units_of(simulated)) == []


def test_the_reference_stands_beside_or_it_is_said_why_not(rec, tmp_path):
    planted().save(tmp_path / "reference")
    named = replace(
        rec, facts=rec.facts.replaced(record=KNOWN.model_copy(update={"reference_run": str(tmp_path / "reference")}))
    )
    rows = rows_of(named, 1)
    assert rows["frames"].split() == [str(len(rec.times)), str(len(rec.times)), "1"]
    assert "diffusivity" in rows
    gone = KNOWN.model_copy(update={"reference_run": str(tmp_path / "nowhere")})
    shown = in_display_units(replace(rec, facts=rec.facts.replaced(record=gone)))
    assert "cannot be read, so nothing is compared" in sections(Findings(shown), units_of(shown))[1].shows


def test_other_files_carry_it(rec, tmp_path):
    again = Reconstruction.load(rec.save(tmp_path))
    assert again.facts.record == KNOWN
    np.testing.assert_array_equal(again.alpha, rec.alpha)
    rows = list(csv.DictReader(io.StringIO(rec.export(tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert rows
    assert {row["serial"] for row in rows} == {"'=1+1"}  # no formula
    content = json.loads(rec.export(tmp_path / "t.json").read_text(encoding="utf-8"))
    assert content["record"]["inspector"] == "A^B"
    assert "drawing" in content["not recorded"]
    assert content["depth of interest"]["long_enough"] is False
    assert len(content["indications"]) == len(rows)
    assert content["indications"][0]["depth_to_top (mm)"] == pytest.approx(float(rows[0]["depth_to_top (mm)"]))
    pydicom = pytest.importorskip("pydicom")
    dicom = pydicom.dcmread(rec.export(tmp_path / "t.dcm"))
    assert str(dicom.PatientName) == "Skin <script>"
    assert (dicom.PatientID, str(dicom.OperatorsName), dicom.StudyDate) == ("=1+1", "A B", "20261117")
    assert "depth of interest: 5 mm" in dicom.PatientComments
