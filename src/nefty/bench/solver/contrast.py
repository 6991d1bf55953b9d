"""``nefty bench run solver-contrast``: does the solver stall when defects insulate ever better?

The paper works at 1 : 20 because its solver stalls at the 1 : 1000 of air in a solid (appendix E.1, limitations).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nefty.bench.solver.case import Case
from nefty.bench.solver.columns import FORWARD, GRADIENT_ERROR, ITERATIONS, REMARK, RMSE, SOLVER, common
from nefty.bench.solver.measure import Measurement, measure
from nefty.bench.solver.reference import converged, matrix_exponential, relative_error, surface_rmse
from nefty.bench.solver.solvers import SOLVERS, solver
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing

CONTRASTS = (20.0, 100.0, 1e3, 1e4, 1e6)

COLUMNS = (
    SOLVER,
    Column("contrast", "1 : contrast", formats.whole),
    Column("applications", "operator applications", formats.whole),
    ITERATIONS,
    Column("growth", f"against {CONTRASTS[0]:g}", formats.times),
    Column("worst_residual", "worst residual", formats.error),
    FORWARD,
    RMSE,
    GRADIENT_ERROR,
    REMARK,
)


def run(
    contrasts: Sequence[float] = CONTRASTS,
    *,
    shape: tuple[int, int, int] = (16, 64, 64),
    frames: int = 100,
    solvers: Sequence[str] = ("chebyshev", "sdirk2", "am"),
    repeats: int = 1,
    patience: float = 60.0,
    tell: Tell = say_nothing,
) -> Results:
    """Iterations, residuals and error of ``solvers`` at rising contrast.

    Args:
        contrasts: bulk diffusivity over the defects'.
        shape: cells along (z, y, x).
        frames: number of frames.
        solvers: names out of ``nefty.bench.solver.solvers``.
        repeats: timed runs of each.
        patience: seconds per measurement to wait for other programs.
        tell: hears the stages.
    """
    for name in solvers:
        solver(name)
    rows, details = [], []
    data = converged(Case(shape=shape, frames=frames, contrast=1.0)).frames
    for contrast in contrasts:
        case = Case(shape=shape, frames=frames, contrast=contrast)
        tell(f"1 : {contrast:g}, reference", "scipy's matrix exponential")
        exact, right = matrix_exponential(case), converged(case, data)
        for name in solvers:
            task = f"1 : {contrast:g}, {SOLVERS[name].title}"
            tell(task, "starting a process")
            m = measure(name, case, repeats=repeats, patience=patience, data=data, tell=lambda _, d, t=task: tell(t, d))
            errors = {
                "rmse": surface_rmse(m.frames, exact),
                "gradient_error": relative_error(m.gradient, right.gradient),
            }
            rows.append({**_row(m, contrast), **errors})
            details.append({"contrast": contrast, **m.plain()})
    rows = _compare(rows, solvers)
    return Results(
        name="contrast",
        title="Contrast of the defects",
        lead=f"{' x '.join(str(n) for n in reversed(shape))} cells, {frames} frames; the defects' diffusivity falls.",
        tables=[Table("Work and error by contrast", COLUMNS, rows)],
        notes=[
            "Operator applications and iterations are those of the forward run; the worst residual is over all linear "
            "solves of forward run and gradient.",
            "Errors are against scipy's matrix exponential (frames) and nefty in float64 with an error in time "
            "below 1e-12 (gradient). The one of SDIRK2 and implicit Euler is their error in time.",
        ],
        settings={"contrasts": list(contrasts), "shape": shape, "frames": frames, "solvers": list(solvers)},
        details={"measurements": details},
        sections=_sections(rows),
    )


def _row(m: Measurement, contrast: float) -> dict[str, Any]:
    counters, both = m.counters, m.counters_with_gradient
    solves = counters.get("solves")
    return {
        **common(m),
        "contrast": contrast,
        "applications": counters.get("applications"),
        "iterations": counters.get("iterations") if solves else None,
        "worst_residual": both.get("worst_residual") if solves else None,
        "remark": m.remark or ("" if both.get("converged", True) else "says that it did not converge"),
    }


def _compare(rows: Sequence[dict[str, Any]], solvers: Sequence[str]) -> list[dict[str, Any]]:
    """Rows by solver, with the work over that at the lowest contrast."""
    ordered = [row for name in solvers for row in rows if row["solver"] == name]
    first: dict[str, float] = {}
    for row in ordered:
        work = row["iterations"] or row["applications"]
        base = first.setdefault(row["solver"], work) if work else None
        row["growth"] = work / base if work and base else None
    return ordered


def _sections(rows: Sequence[dict[str, Any]]) -> list:
    from nefty.bench.tables.figures import curves
    from nefty.report.pages.page import Section

    names = dict.fromkeys(row["title"] for row in rows)
    picked = {n: [r for r in rows if r["title"] == n and r["growth"]] for n in names}
    work = {n: ([r["contrast"] for r in rs], [r["growth"] for r in rs]) for n, rs in picked.items()}
    error = {n: ([r["contrast"] for r in rs], [r["rmse"] for r in rs]) for n, rs in picked.items()}
    return [
        Section(
            "Work",
            "Iterations (or operator applications) over those at the lowest contrast.",
            good="A flat line.",
            figure=curves(work, "contrast 1 : x", "work", log_y=False),
        ),
        Section(
            "Error", "Surface RMSE against the exact solution.", figure=curves(error, "contrast 1 : x", "surface RMSE")
        ),
    ]
