import pytest

from nefty.bench.solver import efficiency
from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import Solver
from nefty.core.errors import InputError

SMALL = Case(shape=(6, 12, 12), frames=6)


def test_autograd_gets_as_many_frames_as_fit():
    case = Case()
    per_frame = 52 * 50 * case.grid.cells
    assert efficiency.frames_that_fit(case, available=1000 * per_frame) == 100
    assert efficiency.frames_that_fit(case, available=50 * per_frame) == 35
    assert efficiency.frames_that_fit(case, available=0) == 1


def test_an_unknown_solver_is_refused_before_the_reference_is_computed():
    with pytest.raises(InputError, match="Did you mean 'nefi'"):
        efficiency.run(SMALL, solvers=["nefy"])


def test_the_table_holds_errors_ratios_and_remarks(monkeypatch):
    monkeypatch.setattr(Solver, "installed", property(lambda self: self.package is None))
    results = efficiency.run(SMALL, solvers=["am", "chebyshev", "nefi"], repeats=1, patience=0)
    am, ours, nefi = results.tables[0].rows
    assert am["faster"] == pytest.approx(1) or "disturbed" in am["remark"]
    assert ours["rmse"] < 1e-3 < am["rmse"]
    assert ours["gradient_error"] < 1e-3
    assert nefi["remark"] == "not installed: pip install nefty[peers]"
    assert nefi["rmse"] is None
    assert "agrees with scipy's matrix exponential" in results.notes[0]
    assert len(results.sections) == 2
