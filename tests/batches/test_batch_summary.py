"""The summary of a batch: page, tables, JSON."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re

import pytest

from nefty.batches.outcome import Found, Outcome, Seen
from nefty.batches.summary import write_summary

FOUND = Found(1, 0.71, 0.6, 0.85, 4.0, 3.0, 6, 8, 6.2, 2.8, 9.5)
SURE = dataclasses.replace(FOUND, level=0.9, diameter_low=2.1, diameter_high=3.4, resistance=3e-4)
SEEN = (Seen("an air gap", 0.4, 0.61), Seen("an air gap", 1.7, math.nan), Seen("a film", 0.4, 0.9))
SOME = [
    Outcome(
        *("plate 1.tif", "a"),
        level="explained",
        worked=True,
        seconds=4.0,
        unit="mm",
        visible=80.0,
        misfit=0.98,
        seen=SEEN,
    ),
    Outcome("sub/<b>.tif", "b", level="explained", seconds=5.0, indications=(SURE,), unit="mm", serial="=7"),
    Outcome("noisy.tif", "c", level="too noisy", seconds=2.0, indications=(FOUND,), unit="mm"),
    Outcome("=broken.tif", "d", reason="it is cut off; copy it again.", lasting=True),
]


@pytest.fixture
def folder(tmp_path):
    write_summary(tmp_path, SOME, ["later.tif"])
    return tmp_path


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_tables_have_a_line_each_and_no_formula(folder):
    table = rows(folder / "summary.csv")
    assert [row["recording"] for row in table] == ["plate 1.tif", "sub/<b>.tif", "noisy.tif", "'=broken.tif"]
    assert [row["indications"] for row in table] == ["0", "1", "1", ""]
    assert (table[1]["shallowest"], table[1]["serial"]) == ("0.71", "'=7")
    assert table[3]["why there is no result"] == "it is cut off; copy it again."
    assert table[1]["report"] == "runs/sub/<b>.tif/report.html"
    found = rows(folder / "indications.csv")
    assert len(found) == 2
    assert (found[0]["depth_low"], found[0]["depth_high"], found[0]["unit of length"]) == ("0.6", "0.85", "mm")
    assert (found[0]["diameter_low"], found[0]["diameter_high"], found[0]["level"]) == ("2.1", "3.4", "0.9")
    assert (found[1]["diameter_low"], found[1]["level"]) == ("", "")  # a band alone, without a probability
    seen = [row["would have been seen"] for row in table]
    assert seen == ["an air gap: from 0.61 mm at 0.4 mm; none at 1.7 mm", "", "", ""]


def test_json_holds_all_of_it(folder):
    content = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert content["waiting"] == ["later.tif"]
    assert [one["name"] for one in content["recordings"]] == [one.name for one in SOME]
    assert content["recordings"][1]["indications"][0]["depth"] == 0.71
    assert content["recordings"][0]["threshold"] is None
    assert content["recordings"][0]["seen"][1] == {"what": "an air gap", "depth": 1.7, "diameter": None}


def test_an_outcome_is_read_as_it_was_written_and_an_older_one_without_what_is_new(tmp_path):
    for one in SOME:
        again = Outcome.load(one.save(tmp_path / "one.json"))
        assert again is not None
        assert again.as_dict() == one.as_dict()
    old = SOME[1].as_dict()
    del old["seen"], old["indications"][0]["diameter_low"]
    (tmp_path / "old.json").write_text(json.dumps(old))
    again = Outcome.load(tmp_path / "old.json")
    assert again is not None
    assert again.seen == ()
    assert math.isnan(again.indications[0].diameter_low)


def test_the_page_is_offline_escaped_and_assesses_nothing(folder):
    page = (folder / "summary.html").read_text(encoding="utf-8")
    visible = re.sub(r"(?s)<(script|style)>.*?</\1>", "", page)
    assert "sub/&lt;b&gt;.tif" in visible
    assert "<b>" not in visible
    assert 'href="./runs/sub/%3Cb%3E.tif/report.html"' in visible
    assert "Indications in 1 of 2 recordings" in visible  # of the noisy one nothing is claimed
    assert "it is cut off; copy it again." in visible
    assert "later.tif" in visible
    assert "2.1 to 3.4\u00a0mm" in visible
    assert "from 0.61\u00a0mm at 0.4\u00a0mm; none at 1.7\u00a0mm" in visible
    assert visible.count("not worked out") == 2
    assert not re.search(r"https?://|src=\"(?!data:)", visible)
    assert not re.search(r"\b(pass|fail|reject|accept)\w*", visible, re.IGNORECASE)


def test_a_page_without_figures_needs_no_script(tmp_path):
    write_summary(tmp_path, SOME[:1])
    page = (tmp_path / "summary.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert len(page) < 40_000
    assert math.isnan(SOME[0].threshold)
