"""Two runs of one part: moved, grown, new, gone, and what was not looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.stopping import FINISHED, Stopped, StopReason
from nefty.data.facts import Facts, Units, Window
from nefty.metrics.run_comparison import Change, compare_runs
from nefty.result.reconstruction import Reconstruction

Box = tuple[int, int, int]  # row, column, width


def run(boxes: Sequence[Box], *, facts: Facts | None = None, face=(48, 60), stopped: Stopped = FINISHED, hidden=None):
    grid = Grid((10, *face), (1.0, face[0] / 10, face[1] / 10))
    alpha = np.ones(grid.shape)
    for row, column, width in boxes:
        alpha[3:6, row : row + width, column : column + width] = 0.05
    times = np.linspace(0.1, 1, 5)
    fitted = np.ones((5, *face))
    measured = fitted + np.random.default_rng(0).normal(0, 0.1, fitted.shape)
    if hidden is not None:
        measured[:, hidden[0], hidden[1]] = np.nan
    return Reconstruction(
        grid, alpha, np.ones(10), times, measured, fitted, noise=0.1, stopped=stopped, facts=facts or Facts()
    )


def changes(found):
    return [row.change for row in found.rows]


def test_a_run_equals_itself():
    rec = run([(5, 5, 8), (30, 40, 6)])
    found = compare_runs(rec, rec)
    assert changes(found) == [Change.SAME, Change.SAME]
    assert found.shift == (0, 0)
    assert all(row.wider == row.deeper == 0 for row in found.rows)
    assert found.cautions == ()


def test_grown_new_and_gone_are_told_apart():
    found = compare_runs(run([(5, 5, 8), (30, 40, 6), (30, 8, 6)]), run([(3, 3, 12), (30, 40, 6), (8, 44, 6)]))
    by_change = {row.change: row for row in found.rows}
    assert set(by_change) == {Change.GROWN, Change.SAME, Change.GONE, Change.NEW}
    assert by_change[Change.GROWN].wider == pytest.approx(0.4 * np.sqrt(4 / np.pi), rel=0.05)
    assert by_change[Change.NEW].place == pytest.approx((1.1, 4.7), abs=0.05)
    back = compare_runs(run([(3, 3, 12), (30, 40, 6)]), run([(5, 5, 8), (30, 40, 6)]))
    assert Change.SMALLER in changes(back)


def test_intervals_say_whether_each_run_alone_tells_the_change(monkeypatch):
    before, after = run([(5, 5, 8), (30, 40, 6)]), run([(3, 3, 12), (30, 40, 6)])
    assert [row.apart for row in compare_runs(before, after).rows] == [None, None]  # none was measured for these
    plain = Reconstruction.evidence

    def sure(rec, *arguments):
        found = {d.label: d.diameter for d in rec.indications()}
        return [
            dataclasses.replace(one, diameter_low=0.85 * found[one.label], diameter_high=1.15 * found[one.label])
            for one in plain(rec, *arguments)
        ]

    monkeypatch.setattr(Reconstruction, "evidence", sure)
    by_change = {row.change: row.apart for row in compare_runs(before, after).rows}
    assert by_change == {Change.GROWN: True, Change.SAME: False}


def test_the_part_lay_elsewhere_under_the_camera():
    boxes = [(5, 5, 6), (30, 40, 6), (12, 30, 5)]
    moved = [(row + 7, column + 9, width) for row, column, width in boxes]
    found = compare_runs(run(boxes), run(moved))
    assert found.shift == pytest.approx((-0.7, -0.9), abs=0.02)
    assert found.agreeing == 3
    assert changes(found) == [Change.SAME] * 3


def test_one_indication_alone_moves_nothing():
    found = compare_runs(run([(5, 5, 6)]), run([(20, 20, 6)]))
    assert found.agreeing == 0
    assert changes(found) == [Change.GONE, Change.NEW]
    given = compare_runs(run([(5, 5, 6)]), run([(20, 20, 6)]), shift=(-1.5, -1.5))
    assert changes(given) == [Change.SAME]


def test_cut_runs_lie_where_their_windows_are_and_outside_is_not_gone():
    whole = run([(5, 5, 6), (30, 40, 6)])
    cut = run([(0, 10, 6)], facts=Facts(window=Window(top=30, left=30)), face=(18, 30))
    found = compare_runs(whole, cut)
    assert sorted(change.value for change in changes(found)) == ["no change", "not inspected after"]
    back = compare_runs(cut, whole)
    assert sorted(change.value for change in changes(back)) == ["no change", "not inspected before"]


def test_what_lies_where_one_run_did_not_look_has_not_grown():
    """An indication that the edge of the first run's region cuts."""
    whole = run([(20, 20, 16)])
    cut = run([(0, 0, 12)], facts=Facts(window=Window(top=24, left=24)), face=(20, 30))  # its lower right corner
    for one, other in ((cut, whole), (whole, cut)):
        (row,) = compare_runs(one, other).rows
        assert row.change is Change.SAME
        assert row.wider == pytest.approx(0, abs=0.02)
    grown = run([(20, 20, 20)])  # also where the first run looked
    (row,) = compare_runs(cut, grown).rows
    assert row.change is Change.GROWN


def test_a_masked_place_is_not_gone():
    hidden = (slice(28, 40), slice(36, 52))
    found = compare_runs(run([(5, 5, 6), (30, 40, 6)]), run([(5, 5, 6)], hidden=hidden))
    assert changes(found) == [Change.SAME, Change.NOT_AFTER]


def test_what_speaks_against_it_is_said():
    half = run([(5, 5, 6)], stopped=Stopped(StopReason.INTERRUPTED, "stopped"))
    thick = dataclasses.replace(half, grid=Grid(half.grid.shape, (2.0, *half.grid.size[1:])), stopped=FINISHED)
    said = compare_runs(half, thick).cautions
    assert "first run claims nothing" in said[0]
    assert "thickness is 1 in the first run and 2" in said[1]
    with pytest.raises(InputError, match="one run is in metres"):
        compare_runs(half, run([(5, 5, 6)], facts=Facts(units=Units(length="m"))))
