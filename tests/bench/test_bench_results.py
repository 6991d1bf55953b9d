import json

import numpy as np

from nefty.bench import formats
from nefty.bench.results import Column, Results, Table

TABLE = Table(
    "Times",
    (Column("name", "method"), Column("s", "seconds", formats.spread), Column("remark", "remark")),
    [{"name": "a", "s": [1.0, 1.2, 1.1]}, {"name": "b", "s": []}],
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


def test_three_files_carry_the_numbers_and_where_they_come_from(tmp_path):
    results = Results(
        "demo", "A title", "A lead.", [TABLE], notes=["A note."], details={"x": np.float32(1.5), "y": np.arange(2)}
    )
    paths = results.save(tmp_path / "new", command="nefty bench demo")
    assert [p.name for p in paths] == ["demo.json", "demo.md", "demo.html"]
    content = json.loads(paths[0].read_text())
    assert content["provenance"]["command"] == "nefty bench demo"
    assert {"nefty", "numpy", "processor", "cores", "created"} <= set(content["provenance"])
    assert content["tables"][0]["rows"][0]["s"] == [1.0, 1.2, 1.1]
    assert content["details"] == {"x": 1.5, "y": [0, 1]}
    assert "nefty bench demo" in paths[1].read_text()
    page = paths[2].read_text()
    assert "A title" in page
    assert "1.1 ±0.1" in page
