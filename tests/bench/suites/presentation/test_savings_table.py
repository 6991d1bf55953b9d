"""Savings against the first method, paired by specimen."""

import numpy as np
import pytest

from nefty.bench.suites.presentation.savings import savings
from support.outcomes import outcome, small_suite


def test_gains_and_savings_are_paired_means():
    suite = small_suite()
    done, expected = [], []
    for number, entry in enumerate(suite.entries()):
        first = entry.row == suite.methods[0].name
        evaluations = 100 + number if first else 40
        made = outcome(
            entry, scores={"iou": 0.5 if first else 0.5 + 0.01 * entry.task.seed}, facts={"evaluations": evaluations}
        )
        done.append((entry, made))
    known = {(e.task.kind, e.task.seed): o for e, o in done if e.row == suite.methods[0].name}
    name = suite.methods[1].name
    pairs = [(known[e.task.kind, e.task.seed], o) for e, o in done if e.row == name]
    expected = [1 - b.facts["evaluations"] / a.facts["evaluations"] for a, b in pairs]
    table, *_ = savings(suite, done)
    first, second = table.rows[0], table.rows[1]
    assert "iou_gain" not in first
    assert second["evaluations_saved"].mean == pytest.approx(np.mean(expected))
    assert second["iou_gain"].mean == pytest.approx(np.mean([0.01 * b.task.seed for _, b in pairs]))
    assert second["iou_gain"].half_width is not None


def test_specimens_that_the_first_method_lacks_do_not_count():
    suite = small_suite()
    done = [(e, outcome(e)) for e in suite.entries() if e.row != suite.methods[0].name]
    table, *_ = savings(suite, done)
    assert table.rows[1]["evaluations_saved"] is None
