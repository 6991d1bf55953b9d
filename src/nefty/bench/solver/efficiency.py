"""``nefty bench run solver``: the paper's efficiency table on this machine, in one run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nefty.bench.solver.case import Case
from nefty.bench.solver.columns import BACKWARD, FORWARD, GRADIENT_ERROR, PEAK, PROCESSOR, REMARK, RMSE, SOLVER, common
from nefty.bench.solver.measure import Measurement, measure
from nefty.bench.solver.reference import (
    Reference,
    converged,
    explicit,
    extrapolated_explicit,
    matrix_exponential,
    relative_error,
    surface_rmse,
)
from nefty.bench.solver.solvers import EFFICIENCY_TABLE, SOLVERS, solver
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.machine import free_memory
from nefty.core.tell import Tell, say_nothing

YARDSTICK = "am"
OURS = "chebyshev"

COLUMNS = (
    SOLVER,
    Column("frames", "frames", formats.whole),
    FORWARD,
    BACKWARD,
    PROCESSOR,
    PEAK,
    RMSE,
    GRADIENT_ERROR,
    Column("faster", "total, AM / this", formats.times),
    REMARK,
)


def run(
    case: Case | None = None,
    *,
    solvers: Sequence[str] = EFFICIENCY_TABLE,
    repeats: int = 5,
    patience: float = 60.0,
    tell: Tell = say_nothing,
) -> Results:
    """Measure ``solvers`` one after the other, each in its own process, on one specimen.

    The misfit whose gradient is taken compares the specimen's frames with those of the sound slab, so that the adjoint
    has something to carry back. Simulation error is the surface RMSE against a time-converged solution on the
    same cells; gradient error is relative to that solution's gradient.

    Args:
        case: the specimen; the paper's size if not given.
        solvers: names out of ``nefty.bench.solver.solvers``.
        repeats: timed runs of each.
        patience: seconds per solver to wait for other programs.
        tell: hears the stages.
    """
    case = case or Case()
    for name in solvers:
        solver(name)
    tell("reference", "time-converged frames and gradient")
    data = converged(case.sound()).frames
    right = converged(case, data)
    checks = _cross_check(case, right, tell)

    found = [_measure(name, case, data, repeats, patience, tell) for name in solvers]
    yardstick = next((m for m, c in found if m.solver == YARDSTICK and c == case), None)
    rows = [_row(m, c, data, right, case, yardstick) for m, c in found]
    return Results(
        name="solver",
        title="Solver efficiency",
        lead=_lead(case),
        tables=[Table("One forward run and one gradient", COLUMNS, rows)],
        notes=[
            *checks,
            *_same_problem([m for m, c in found if c == case], case),
            *_against_ours([m for m, c in found if c == case]),
            *_notes([m for m, _ in found]),
        ],
        settings={"case": dataclasses.asdict(case), "solvers": list(solvers), "repeats": repeats},
        details={"measurements": [m.plain() for m, _ in found]},
        sections=_sections(rows),
    )


def _measure(
    name: str, case: Case, data: np.ndarray, repeats: int, patience: float, tell: Tell
) -> tuple[Measurement, Case]:
    """Measure on ``case``, or on its first frames where autograd would not fit into memory."""
    if name == "ad":
        case = replace(case, frames=frames_that_fit(case))
    tell(solver(name).title, "starting a process")
    return measure(name, case, repeats=repeats, data=data[: case.frames], patience=patience, tell=tell), case


def frames_that_fit(case: Case, sweeps: int = 50, available: int | None = None) -> int:
    """Frames whose graph autograd can keep in 70 % of the free memory: about 52 bytes per cell, frame and sweep."""
    available = free_memory() if available is None else available
    if available is None:
        return case.frames
    per_frame = 52 * sweeps * case.grid.cells
    return max(1, min(case.frames, int(0.7 * available / per_frame)))


def _cross_check(case: Case, right: Reference, tell: Tell) -> list[str]:
    tell("reference", "checked by scipy's matrix exponential")
    exact = surface_rmse(matrix_exponential(case), right.frames)
    tell("reference", "checked by the explicit simulator")
    explicit = surface_rmse(extrapolated_explicit(case), right.frames)
    return [
        "Reference: nefty in float64, error in time below 1e-12. It agrees with scipy's matrix exponential of an "
        f"independently assembled matrix to a surface RMSE of {exact:.1e}, and with the explicit simulator (forward "
        f"Euler, two step sizes, extrapolated) to {explicit:.1e}."
    ]


def _same_problem(measurements: Sequence[Measurement], case: Case) -> list[str]:
    """How far a peer is from our solution by the same scheme; what is left is rounding and its linear solver."""
    found = {m.solver: m.frames for m in measurements if m.frames is not None}
    said = []
    if YARDSTICK in found:
        apart = [
            f"{SOLVERS[name].title} {surface_rmse(found[name], found[YARDSTICK].astype(np.float64)):.1e}"
            for name in ("phiflow-implicit", "nefi", "nefi-chebyshev")
            if name in found
        ]
        if apart:
            said.append(f"Same problem: surface RMSE against AM, also implicit Euler: {', '.join(apart)}.")
    if "phiflow-explicit" in found:
        substeps = next(m.counters["substeps"] for m in measurements if m.solver == "phiflow-explicit")
        rmse = surface_rmse(found["phiflow-explicit"], explicit(case, substeps))
        said.append(
            f"Same problem: PhiFlow explicit and nefty's explicit simulator, both with {substeps} substeps per frame: "
            f"surface RMSE {rmse:.1e}."
        )
    return said


def _against_ours(measurements: Sequence[Measurement]) -> list[str]:
    """What forward run and gradient of the others take, as multiples of ours."""
    ours = next((m for m in measurements if m.solver == OURS), None)
    if ours is None or not (total := ours.total) or not (cpu := ours.cpu):
        return []
    said = [
        f"{SOLVERS[m.solver].title} {m.total / total:.3g} and {m.cpu / cpu:.3g}"
        for m in measurements
        if m is not ours and m.total and m.cpu
    ]
    title, threads = SOLVERS[OURS].title, ours.threads
    text = f"Forward run and gradient over those of {title}, on the clock and by processor time, {threads} thread(s): "
    return [text + "; ".join(said) + "."] if said else []


def _row(
    m: Measurement, used: Case, data: np.ndarray, right: Reference, case: Case, yardstick: Measurement | None
) -> dict[str, Any]:
    whole = used == case
    if not whole and m.gradient is not None:
        right = converged(used, data[: used.frames])
    fair = yardstick is not None and yardstick.quiet and m.quiet and whole
    total, base = m.total, yardstick.total if yardstick and fair else None
    return {
        **common(m),
        "frames": used.frames,
        "total": total,
        "rmse": surface_rmse(m.frames, right.frames),
        "gradient_error": relative_error(m.gradient, right.gradient),
        "faster": base / total if base and total else None,
        "remark": _remark(m, whole),
        "counters": m.counters,
    }


def _remark(m: Measurement, whole: bool) -> str:
    fewer = "" if whole else "fewer frames: the graph of all would not fit into memory"
    return "; ".join(filter(None, (m.remark, fewer)))


def _lead(case: Case) -> str:
    nz, ny, nx = case.shape
    return (
        f"{nx} x {ny} x {nz} cells, {case.frames} frames, two ellipsoidal defects at a contrast of 1 : "
        f"{case.contrast:g}. Medians ± half the range of warmed-up runs, each solver in a fresh process that may use "
        "all cores; peak memory is the growth of the resident set over the warmed-up process."
    )


def _notes(measurements: Sequence[Measurement]) -> list[str]:
    sources = sorted({m.memory_source for m in measurements if m.memory_source})
    notes = [f"{SOLVERS[m.solver].title}: {SOLVERS[m.solver].note}." for m in measurements if not m.failed]
    left_out = sum(m.left_out for m in measurements)
    if left_out:
        notes.append(f"{left_out} runs were left out because other programs used the processor meanwhile.")
    if sources:
        notes.append(f"Peak memory from {', '.join(sources)}.")
    return notes


def _sections(rows: Sequence[dict[str, Any]]) -> list:
    from nefty.bench.tables.figures import accuracy_against_cost, bars
    from nefty.report.pages.page import Section

    done = [row for row in rows if row["total"] and row["rmse"]]
    if not done:
        return []
    names = [row["title"] for row in done]
    return [
        Section(
            "Accuracy against cost",
            "Each solver by the seconds of a forward run with its gradient and by its simulation error.",
            good="Down is accurate, left is fast.",
            figure=accuracy_against_cost(names, [r["total"] for r in done], [r["rmse"] for r in done]),
        ),
        Section(
            "Peak memory",
            "Growth of the resident set during one forward run with its gradient.",
            figure=bars(names, [r["peak_bytes"] / 2**20 for r in done], "MiB"),
        ),
    ]
