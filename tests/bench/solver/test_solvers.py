import pytest

from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import EFFICIENCY_TABLE, SOLVERS, Solver, solver
from nefty.core.errors import InputError, MissingExtraError


def test_an_unknown_solver_gets_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'chebyshev'"):
        solver("chebychev")


def test_the_efficiency_table_names_existing_solvers():
    assert set(EFFICIENCY_TABLE) <= set(SOLVERS)


def test_a_missing_library_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(Solver, "installed", property(lambda self: self.package is None))
    peer = solver("phiflow-explicit")
    assert not peer.installed
    with pytest.raises(MissingExtraError, match=r"pip install nefty\[phiflow\]"):
        peer.build(Case())


@pytest.mark.filterwarnings("ignore")  # PhiFlow's own deprecations, at import
@pytest.mark.parametrize("name", ["phiflow-explicit", "phiflow-implicit", "nefi"])
def test_peers_solve_the_same_problem(name):
    """Within the error in time of their first-order schemes; skipped where they are not installed."""
    import numpy as np
    import torch

    from nefty.bench.solver.reference import converged

    peer = solver(name)
    if not peer.installed:
        pytest.skip(peer.remedy)
    case = Case(shape=(6, 8, 8), frames=20, dt=0.02)
    frames = peer.build(case).forward(torch.from_numpy(case.alpha()).float()).detach().numpy()
    right = converged(case).frames
    assert np.abs(frames[-1] - right[-1]).max() < 0.01 * np.abs(right).max()
