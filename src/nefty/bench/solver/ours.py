"""nefty's own solver in all its settings, as solvers to measure. The paper's algorithm is one of them."""

from __future__ import annotations

import dataclasses
from typing import Any

import nefty
from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import Built
from nefty.core.checks import one_of

INTEGRATORS = ("chebyshev", "sdirk2", "implicit-euler")
LINEAR_SOLVERS = ("cg", "jacobi")
MEMORIES = {"stored": nefty.Stored, "checkpointed": nefty.Checkpointed, "reversed": nefty.Reversed}


def heat_model(
    case: Case,
    *,
    integrator: str = "chebyshev",
    solver: str = "cg",
    tolerance: float = 1e-6,
    sweeps: int = 50,
    time_error: float | None = None,
    kernel: str = "auto",
    dtype: str = "float32",
    derivative: str = "adjoint",
    memory: str | None = None,
) -> Built:
    """A ``nefty.HeatModel`` of ``case``.

    Args:
        case: the specimen.
        integrator: ``"chebyshev"``, ``"sdirk2"`` or ``"implicit-euler"``, the latter two with one step per frame.
        solver: ``"cg"`` or ``"jacobi"``, for the implicit integrators.
        tolerance: relative residual at which conjugate gradients stop.
        sweeps: number of Jacobi sweeps.
        time_error: of the Chebyshev expansion; nefty's default if not given.
        kernel: ``"auto"``, ``"numba"`` or ``"torch"``.
        dtype: ``"float32"`` or ``"float64"``.
        derivative: ``"adjoint"`` or ``"autograd"``.
        memory: ``"stored"``, ``"checkpointed"`` or ``"reversed"``; nefty's default if not given.
    """
    settings: dict[str, Any] = {"kernel": kernel, "dtype": dtype, "derivative": derivative}
    settings["integrator"] = _integrator(integrator, solver, tolerance, sweeps, time_error)
    if memory is not None:
        settings["memory"] = MEMORIES[one_of("memory", memory, MEMORIES)]()
    model = nefty.HeatModel(case.grid, case.times(), initial=case.initial(), **settings)
    return Built(model, counters=lambda: _counters(model.status), dtype=dtype)


def _integrator(name: str, solver: str, tolerance: float, sweeps: int, time_error: float | None):
    if one_of("integrator", name, INTEGRATORS) == "chebyshev":
        return nefty.Chebyshev() if time_error is None else nefty.Chebyshev(time_error=time_error)
    linear = (
        nefty.Jacobi(sweeps=sweeps)
        if one_of("solver", solver, LINEAR_SOLVERS) == "jacobi"
        else nefty.ConjugateGradients(tolerance=tolerance)
    )
    scheme = nefty.SDIRK2 if name == "sdirk2" else nefty.ImplicitEuler
    return scheme(steps=nefty.PerFrame(1), solver=linear)


def _counters(status: Any) -> dict[str, Any]:
    return {} if status is None else dataclasses.asdict(status)
