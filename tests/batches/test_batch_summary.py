"""The summary of a batch: page, tables, JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest

from nefty.batches.outcome import Found, Outcome
from nefty.batches.summary import write_summary

FOUND = Found(1, 0.71, 0.6, 0.85, 4.0, 3.0, 6, 8, 6.2, 2.8, 9.5)
SOME = [
    Outcome("plate 1.tif", "a", level="explained", worked=True, seconds=4.0, unit="mm", visible=80.0, misfit=0.98),
    Outcome("sub/<b>.tif", "b", level="explained", seconds=5.0, indications=(FOUND,), unit="mm", serial="=7"),
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


def test_json_holds_all_of_it(folder):
    content = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert content["waiting"] == ["later.tif"]
    assert [one["name"] for one in content["recordings"]] == [one.name for one in SOME]
    assert content["recordings"][1]["indications"][0]["depth"] == 0.71
    assert content["recordings"][0]["threshold"] is None


def test_the_page_is_offline_escaped_and_assesses_nothing(folder):
    page = (folder / "summary.html").read_text(encoding="utf-8")
    visible = re.sub(r"(?s)<(script|style)>.*?</\1>", "", page)
    assert "sub/&lt;b&gt;.tif" in visible
    assert "<b>" not in visible
    assert 'href="./runs/sub/%3Cb%3E.tif/report.html"' in visible
    assert "Indications in 1 of 2 recordings" in visible  # of the noisy one nothing is claimed
    assert "it is cut off; copy it again." in visible
    assert "later.tif" in visible
    assert not re.search(r"https?://|src=\"(?!data:)", visible)
    assert not re.search(r"\b(pass|fail|reject|accept)\w*", visible, re.IGNORECASE)


def test_a_page_without_figures_needs_no_script(tmp_path):
    write_summary(tmp_path, SOME[:1])
    page = (tmp_path / "summary.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert len(page) < 40_000
    assert math.isnan(SOME[0].threshold)
