"""What the terminal says about a result, and the files that people open."""

import re
from dataclasses import replace

import numpy as np
import pytest

from nefty.cli.findings_text import against_truth, describe
from nefty.report.pages.findings import Findings
from nefty.report.run_files import DERIVED, are_written, listed, remove_files, write_files
from support.parts import BULK, GRID, planted
from support.weighed_parts import CALLED, weighed


@pytest.fixture(scope="module")
def rec():
    return planted()


def test_a_part_in_metres_is_told_in_millimetres(rec):
    text = describe(rec)
    assert text.startswith("One indication found, depth to the top 0.6 mm of 1.3 mm. The volume explains")
    assert "Note: Counts became kelvin" in text
    header, row = text.splitlines()[-2:]
    assert "centre x, y (mm)" in header
    assert re.search(r"2\.30, 6\.15 +20, 11 +0\.60 +0\.\d+ to 0\.\d+ ", row)
    assert not re.search(r"\b(pass|fail|accept|reject)", text, re.IGNORECASE)


def test_evidence_and_what_just_missed_are_told():
    text = describe(weighed())
    assert text.endswith("One region just missed (largest score 4.8, threshold 5.2).")
    assert "evidence (σ)" in text
    assert "just missed" not in describe(weighed(CALLED))


def test_a_sound_part_has_no_indication(rec):
    text = describe(replace(rec, alpha=np.full(GRID.shape, BULK)))
    assert text.startswith("No indication found.")
    assert "centre" not in text


def test_errors_against_the_truth_have_their_unit(rec):
    deeper = np.full(GRID.shape, BULK)
    deeper[7:10, 17:24, 6:17] = 0.04 * BULK
    text = against_truth(Findings(replace(rec, truth=deeper)))
    assert "1 of 1 true defects found" in text
    assert re.search(r"-0\.100 mm; at most 7\.7 % of the thickness", text.replace("\n", " "))


def test_all_files_are_written_listed_and_removed(rec, tmp_path):
    rec.save(tmp_path)
    assert not are_written(tmp_path)
    write_files(rec, tmp_path)
    assert are_written(tmp_path)
    for name in DERIVED:
        assert (tmp_path / name).stat().st_size > 0
        assert name in listed(tmp_path)
    assert {"cscan-depth.png", "cscan-contrast.png", "cscan-diffusivity.png"} < set(DERIVED)
    remove_files(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["result.h5"]
