import csv
import io
import json
import math

import numpy as np
import pytest

from nefty.bench.tables import formats
from nefty.bench.tables.results import Results
from nefty.bench.tables.table import Column, Interval, Share, Table, interval, latex_text

TABLE = Table(
    "Times",
    (Column("name", "method"), Column("s", "seconds", formats.spread), Column("remark", "remark")),
    [{"name": "a", "s": [1.0, 1.2, 1.1]}, {"name": "b", "s": []}],
)
MARKED = Table(
    "Marks & more",
    (
        Column("name", "method"),
        Column("iou", "IoU", interval(2), "high"),
        Column("iou_paper", "IoU, paper", interval(2), quiet=True),
        Column("mse", "MSE (1e-4)", interval(1, scale=1e4), "low"),
        Column("found", "found"),
    ),
    [
        {"name": "first|one", "iou": Interval(0.501, 0.02, 5), "mse": Interval(-2e-4), "found": Share(3, 4)},
        {"name": "under_score", "iou": Interval(0.498, 0.04, 4), "iou_paper": Interval(0.9), "mse": Interval(1e-4)},
        {"name": "theirs", "iou_paper": Interval(0.95, 0.01)},
        {"name": "worse", "iou": Interval(0.1)},
    ],
    name="Marks 1",
    shows="What it shows.",
    quiet=[2],
)


def test_markdown_has_one_line_per_row_and_leaves_empty_columns_out():
    lines = TABLE.markdown().splitlines()
    assert lines[0] == "**Times**"
    assert lines[2:] == ["| method | seconds |", "| --- | ---: |", "| a | 1.1 ±0.1 |", "| b | - |"]


def test_numbers_are_written_the_same_way_everywhere():
    assert formats.size(21.9 * 2**20) == "21.9 MiB"
    assert formats.size(5 * 2**30) == "5 GiB"
    assert formats.error(0.261) == "2.6e-01"
    assert formats.seconds(0.02134) == "0.0213"
    assert formats.seconds(1234.5) == "1234"
    assert formats.whole(65536) == "65,536"
    assert formats.times(None) == "-"
    assert formats.spread([2.0]) == "2"


def test_an_interval_is_of_the_values_that_are_defined():
    found = Interval.of([1.0, None, 3.0, math.inf, math.nan])
    assert found is not None
    assert (found.mean, found.n) == (2.0, 2)
    assert found.half_width == pytest.approx(12.7062047, rel=1e-6)  # t(0.975, 1) s / sqrt(2), s = sqrt(2)
    assert Interval.of([5.0]) == Interval(5.0, None, 1)
    assert Interval.of([None]) is None


def test_intervals_are_written_with_the_scale_of_their_heading():
    assert interval(2, scale=1e4)(Interval(3.66e-4, 1.31e-4)) == "3.66 ± 1.31"
    assert interval(1, signed=True)(Interval(0.25)) == "+0.2"
    assert interval(1)(Interval(-0.04, 0.01)) == "0.0 ± 0.0"
    assert interval(1)(None) == "-"


def test_the_best_value_is_marked_and_equal_as_written_is_equal():
    assert MARKED.best() == {(0, 1), (1, 1), (0, 3)}


def test_rows_compete_only_within_their_contest_and_one_alone_wins_nothing():
    columns = (Column("name", "name"), Column("x", "x", interval(1), "high"), Column("k", "k", formats.short, "low"))
    rows = [{"name": i, "x": Interval(v), "k": v} for i, v in enumerate([1.0, 2.0, 9.0, 3.0])]
    assert Table("t", columns, rows, contests=[[0, 1], [2]]).best() == {(1, 1), (0, 2)}
    assert Table("t", columns, rows, quiet=[2]).best() == {(3, 1), (0, 2)}
    assert Table("t", columns, [{"x": None}, {"x": Interval(1.0)}]).best() == set()


def test_equal_shares_are_equally_good():
    rows = [{"found": Share(17, 17)}, {"found": Share(15, 15)}, {"found": Share(16, 17)}]
    assert Table("t", (Column("found", "found", best="high"),), rows).best() == {(0, 0), (1, 0)}


def test_markdown_marks_the_best_and_sets_apart_what_others_measured():
    lines = MARKED.markdown().splitlines()
    assert lines[:3] == ["**Marks & more**", "", "What it shows."]
    assert lines[6] == "| first\\|one | **0.50 ± 0.02** | - | **-2.0** | 3 of 4 |"
    assert lines[7] == "| under_score | **0.50 ± 0.04** | 0.90 | 1.0 | - |"
    assert lines[8] == "| *theirs* | - | *0.95 ± 0.01* | - | - |"


def test_latex_has_rules_bold_and_escaped_text():
    text = MARKED.latex("tab:x")
    lines = text.splitlines()
    assert r"\caption{Marks \& more. What it shows.}" in lines
    assert r"\label{tab:x}" in lines
    assert r"first$|$one & \textbf{0.50 $\pm$ 0.02} & - & \textbf{$-$2.0} & 3 of 4 \\" in lines
    assert r"under\_score & \textbf{0.50 $\pm$ 0.04} & 0.90 & 1.0 & - \\" in lines
    assert r"\textit{theirs} & - & \textit{0.95 $\pm$ 0.01} & - & - \\" in lines
    assert [line for line in lines if line.endswith("rule")] == [r"\toprule", *[r"\midrule"] * 2, r"\bottomrule"]
    assert all(line.count("&") - line.count(r"\&") == 4 for line in lines if line.endswith(r"\\"))
    assert text.count("{") == text.count("}")


def test_latex_text_is_shown_literally():
    assert latex_text("50 % of a_b {c} #1 $ \\ ~ ^") == (
        r"50 \% of a\_b \{c\} \#1 \$ \textbackslash{} \textasciitilde{} \textasciicircum{}"
    )
    assert latex_text("-0.24 ± 0.06, 1e-4, 0-7") == r"$-$0.24 $\pm$ 0.06, 1e-4, 0-7"


def test_csv_keeps_plain_numbers_with_the_parts_of_an_interval_apart():
    rows = list(csv.DictReader(io.StringIO(MARKED.csv())))
    assert list(rows[0]) == [
        "name",
        "iou",
        "iou_half_width",
        "iou_n",
        "iou_paper",
        "iou_paper_half_width",
        "mse",
        "found",
        "found_of",
    ]
    assert [row["name"] for row in rows] == ["first|one", "under_score", "theirs", "worse"]
    assert (float(rows[0]["iou"]), float(rows[0]["iou_half_width"]), rows[0]["iou_n"]) == (0.501, 0.02, "5")
    assert (rows[0]["mse"], rows[0]["found"], rows[0]["found_of"]) == ("-0.0002", "3", "4")
    assert rows[2]["iou"] == rows[2]["iou_half_width"] == ""
    assert rows[3]["iou_half_width"] == ""


def test_csv_of_lists_is_json():
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows == [["name", "s"], ["a", "[1.0, 1.2, 1.1]"], ["b", "[]"]]


def test_the_files_carry_the_numbers_and_where_they_come_from(tmp_path):
    results = Results(
        "demo",
        "A title",
        "A lead.",
        [TABLE, MARKED, MARKED],
        notes=["A note."],
        details={"x": np.float32(1.5), "y": np.arange(2)},
    )
    paths = results.save(tmp_path / "new", command="nefty bench demo")
    tables = ["demo-times.csv", "demo-marks-1.csv", "demo-marks-1-2.csv"]
    assert [p.name for p in paths] == ["demo.json", "demo.md", "demo.html", "demo.tex", *tables]
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == sorted(p.name for p in paths)
    content = json.loads(paths[0].read_text())
    assert content["provenance"]["command"] == "nefty bench demo"
    assert {"nefty", "numpy", "processor", "cores", "created"} <= set(content["provenance"])
    assert content["tables"][0]["rows"][0]["s"] == [1.0, 1.2, 1.1]
    assert content["tables"][1]["rows"][0]["iou"] == {"mean": 0.501, "half_width": 0.02, "n": 5}
    assert content["details"] == {"x": 1.5, "y": [0, 1]}
    assert "nefty bench demo" in paths[1].read_text()
    page = paths[2].read_text()
    assert "A title" in page
    assert "1.1 ±0.1" in page
    assert '<td class="best">0.50 ± 0.02</td>' in page
    assert "What it shows." in page
    latex = paths[3].read_text()
    assert latex.startswith("% A title: A lead.\n% Made by: nefty bench demo\n% A note.\n")
    assert latex.count(r"\begin{table}") == 3
    assert r"\label{tab:demo-marks-1-2}" in latex


def test_no_value_is_a_dash_however_the_column_writes():
    table = Table("Depths", (Column("depth", "depth", lambda v: f"{v:.2f}"),), [{"depth": 1.0}, {"depth": None}, {}])
    assert table.cells() == [["1.00"], ["-"], ["-"]]
