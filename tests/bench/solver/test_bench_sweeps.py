"""The sub-benchmarks over grids, memories and contrasts, with measurements made up: their arithmetic and tables."""

import numpy as np
import pytest

from nefty.bench.solver import contrast, growth, memory
from nefty.bench.solver.measure import Measurement
from nefty.core.errors import InputError


def _fake(name, case, *, repeats=1, tell=None, data=None, patience=0.0, gradient=True, **changes):
    counters = {"applications": 50, "solves": 0, "iterations": 0, "worst_residual": 0.0, "converged": True}
    if name != "chebyshev":
        counters |= {"solves": 2 * case.frames, "iterations": 7 * case.frames, "worst_residual": 1e-7}
    seconds = 1e-9 * case.grid.cells * 100
    peak = {"ad": 2**33, "am": 2**25}.get(name, 2**24)
    peak = {"checkpointed": 2**22, "reversed": 2**21}.get(changes.get("memory", ""), peak) if gradient else 2**20
    found = np.ones(case.shape, dtype=np.float32)
    if changes.get("memory") == "reversed":
        found *= 1 + 1e-3
    return Measurement(
        name,
        changes,
        forward_s=[seconds] * repeats,
        backward_s=[2 * seconds] * repeats,
        peak_bytes=peak,
        counters=counters,
        counters_with_gradient=counters,
        frames=np.zeros((case.frames, *case.shape[1:]), dtype=np.float32),
        gradient=found if gradient else None,
    )


def test_growth_divides_by_cells_and_steps(monkeypatch):
    monkeypatch.setattr(growth, "measure", _fake)
    results = growth.run([(8, 32, 32), (16, 64, 64)], frames=20)
    first = results.tables[0].rows[0]
    assert first["grid"] == "32 x 32 x 8"
    assert first["steps"] == 50
    assert first["ns_per_step"] == pytest.approx(2)
    assert first["ns_per_frame"] == pytest.approx(5)
    assert [row["growth"] for row in results.tables[0].rows] == pytest.approx([1, 1, 1, 1])
    assert results.tables[0].rows[1]["steps"] == 20


def test_growth_of_the_box_keeps_the_cells(monkeypatch):
    seen = []
    monkeypatch.setattr(growth, "measure", lambda name, case, **kw: seen.append(case) or _fake(name, case))
    growth.run([(32, 128, 128)], solvers=["chebyshev"], box="grows")
    assert seen[0].grid.spacing == (0.0625, 0.15625, 0.15625)
    with pytest.raises(InputError, match="Did you mean 'grows'"):
        growth.run(box="grow")


def test_memory_compares_with_autograd_and_with_stored(monkeypatch):
    monkeypatch.setattr(memory, "measure", _fake)
    results = memory.run((4, 8, 8), steps=5, frames=10)
    derivatives, policies = (table.rows for table in results.tables)
    assert derivatives[1]["less"] == 2**8
    assert policies[0]["policy"] == "none: no gradient"
    assert [row["gradient"] for row in policies[1:3]] == ["yardstick", "bit-equal"]
    assert policies[2]["for_gradient"] == 2**22 - 2**20
    assert policies[2]["of_stored"] == pytest.approx(0.2)
    assert policies[2]["of_trajectory"] == (2**22 - 2**20) / (4 * 4 * 8 * 8 * 10)
    assert policies[-1]["gradient"] == "differs by 1.0e-03"


def test_contrast_counts_iterations_where_there_are_solves(monkeypatch):
    monkeypatch.setattr(contrast, "measure", _fake)
    results = contrast.run([20.0, 1e4], shape=(4, 8, 8), frames=4, solvers=["chebyshev", "sdirk2"])
    rows = results.tables[0].rows
    assert [row["solver"] for row in rows] == ["chebyshev", "chebyshev", "sdirk2", "sdirk2"]
    assert [row["growth"] for row in rows] == [1, 1, 1, 1]
    assert rows[0]["iterations"] is None
    assert rows[2]["iterations"] == 28
    assert rows[3]["worst_residual"] == 1e-7
    assert "| 10,000 |" in results.tables[0].markdown()
