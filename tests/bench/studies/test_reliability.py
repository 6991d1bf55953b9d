"""Stated against observed, on one small part, and gone on with."""

import json

import numpy as np

from nefty.bench.studies import reliability
from nefty.bench.studies.reliability import BINS, Counts, run, true_cells
from nefty.bench.suites.experiments import EXPERIMENTS
from nefty.data.facts import Window
from nefty.synth.parts.recorded import TrueDefect, Truth
from support.parts import FACTS, GRID, planted


def test_cells_are_counted_by_what_is_stated():
    counts = Counts.of(np.array([0.0, 0.05, 0.95, 1.0]), np.array([False, False, True, True]))
    assert counts.cells == (2, *[0] * (BINS - 2), 2)
    assert counts.anomalous == (0, *[0] * (BINS - 2), 2)
    assert sum(counts.stated) == 2.0


def test_the_cell_of_a_top_and_all_below_a_hole():
    labels = np.zeros((30, 44), dtype=np.int32)
    labels[4:6, 4:8], labels[10:12, 4:8] = 1, 2
    depth = np.where(labels > 0, 0.55e-3, np.nan)
    film, hole = (TrueDefect(n, kind, 0.55e-3, 3.0, 9.0, 1e-3) for n, kind in ((1, "film"), (2, "hole")))
    true = true_cells(planted(), Truth(labels, depth, (film, hole)))
    assert true[:, 4, 4].nonzero()[0].tolist() == [5]
    assert true[:, 10, 4].nonzero()[0].tolist() == list(range(5, GRID.shape[0]))
    assert not true[:, 0].any()
    moved = planted(facts=FACTS.replaced(window=Window(top=4, left=4)))
    assert true_cells(moved, Truth(labels, depth, (film, hole)))[5, 0, 0]


def test_a_part_is_counted_once(tmp_path, monkeypatch):
    quick = EXPERIMENTS["reliability"].quick
    results = run(seeds="0:1", kind="flawed", pixels=24, members=2, root=str(tmp_path))
    (table,) = results.tables
    assert len(table.rows) == BINS
    assert sum(row["cells"] for row in table.rows) == 24 * 24 * 24
    assert quick["members"] >= 2
    (file,) = tmp_path.rglob("*.json")
    assert sum(json.loads(file.read_text())["cells"]) == 24 * 24 * 24
    monkeypatch.setattr(reliability, "reconstruct", None)  # not called again
    assert run(seeds="0:1", kind="flawed", pixels=24, members=2, root=str(tmp_path)).tables[0].rows == table.rows
