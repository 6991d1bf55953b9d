"""The losses of PINNs as a figure."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nefty.bench.suites.presentation.training_figures import training
from support.outcomes import outcome, small_suite

LOSSES = {name: np.geomspace(1.0, end, 50) for name, end in (("data", 1e-5), ("pde", 0.1), ("ic", 1e-3))}


@pytest.fixture
def suite():
    return small_suite()


def finished(suite, soft=("grid",)):
    """Outcomes in which some methods are PINNs."""
    found = []
    for entry in suite.entries():
        made = outcome(entry, facts={"relative_noise": 1e-3})
        found.append((entry, replace(made, history=LOSSES) if entry.task.method in soft else made))
    return found


def test_a_panel_has_the_three_losses_and_the_data_loss_of_the_hard_constraint(suite):
    section, *_ = training(suite, finished(suite))
    assert section.figure is not None
    every: list[Any] = list(section.figure.select_traces())
    traces = {trace.name: trace for trace in every}
    assert set(traces) == {"data", "equation", "initial temperature", "data, nefty fast"}
    assert traces["equation"].y[-1] == pytest.approx(0.1)
    shown = next(o for e, o in finished(suite) if e.task.method == "fast")
    assert traces["data, nefty fast"].y[-1] == pytest.approx(1e-6 * shown.history["misfit"][-1])
    assert section.good
    assert section.bad
    assert section.do


def test_all_panels_have_one_scale(suite):
    section, *_ = training(suite, finished(suite, soft=("grid", "fast")))
    assert section.figure is not None
    ranges = {axis.range for axis in section.figure.select_yaxes()}
    assert len(ranges) == 1
    assert len(list(section.figure.select_yaxes())) == 2


def test_without_pinns_there_is_no_figure(suite):
    assert training(suite, finished(suite, soft=())) == []
    assert training(suite, []) == []
