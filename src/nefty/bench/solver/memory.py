"""``nefty bench run memory``: what a gradient needs to keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nefty.bench.solver.case import Case
from nefty.bench.solver.columns import BACKWARD, FORWARD, PEAK, REMARK, SOLVER, common
from nefty.bench.solver.measure import Measurement, measure
from nefty.bench.solver.reference import relative_error
from nefty.bench.solver.solvers import SOLVERS
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing

DERIVATIVES = ("ad", "am", "sdirk2", "chebyshev")
POLICIES = {"sdirk2": ("stored", "checkpointed"), "chebyshev": ("stored", "checkpointed", "reversed")}
NO_GRADIENT = "none: no gradient"

DERIVATIVE_COLUMNS = (
    SOLVER,
    PEAK,
    Column("less", "AD / this", formats.times),
    FORWARD,
    BACKWARD,
    REMARK,
)
POLICY_COLUMNS = (
    SOLVER,
    Column("policy", "states kept"),
    PEAK,
    Column("for_gradient", "for the gradient", formats.size),
    Column("states_held", "volumes held", formats.whole),
    Column("of_stored", "against stored", formats.short),
    Column("of_trajectory", "against the trajectory", formats.short),
    FORWARD,
    BACKWARD,
    Column("gradient", "gradient"),
    REMARK,
)


def run(
    shape: tuple[int, int, int] = (16, 64, 64),
    *,
    steps: int = 50,
    frames: int = 400,
    repeats: int = 3,
    patience: float = 60.0,
    tell: Tell = say_nothing,
) -> Results:
    """Peak memory of autograd and adjoint, and of the ways an adjoint gets its states back.

    Args:
        shape: cells along (z, y, x).
        steps: time steps of the first comparison; the paper's table has 50.
        frames: frames of the second one.
        repeats: timed runs of each.
        patience: seconds per measurement to wait for other programs.
        tell: hears the stages.
    """
    short = Case(shape=shape, frames=steps)
    long = replace(short, frames=frames)
    common: dict[str, Any] = {"repeats": repeats, "patience": patience}
    derivatives = []
    for name in DERIVATIVES:
        tell(SOLVERS[name].title, "starting a process")
        derivatives.append(measure(name, short, tell=tell, **common))
    policies = []
    for name, kept in POLICIES.items():
        tell(f"{SOLVERS[name].title}, forward only", "starting a process")
        policies.append(measure(name, long, gradient=False, **common))
        for policy in kept:
            tell(f"{SOLVERS[name].title}, {policy}", "starting a process")
            policies.append(measure(name, long, memory=policy, **common))
    tables = [
        Table(f"Autograd against adjoint, {steps} steps", DERIVATIVE_COLUMNS, _derivative_rows(derivatives)),
        Table(f"Stored, recomputed or reversed, {frames} frames", POLICY_COLUMNS, _policy_rows(policies, long)),
    ]
    return Results(
        name="memory",
        title="Memory of a gradient",
        lead=f"{' x '.join(str(n) for n in reversed(shape))} cells, float32. Peak memory is the growth of the resident "
        "set over the warmed-up process during one forward run with its gradient, all work space included.",
        tables=tables,
        notes=[
            f"The trajectory, the volumes of all {frames} frames with one float32 per cell, is "
            f"{formats.size(trajectory_bytes(long))}: what an adjoint of one step per frame has to have. A recording, "
            f"the front layer of all frames, is {formats.size(trajectory_bytes(long) / shape[0])}.",
            '"For the gradient" is the peak beyond that of the forward run without one: states, derivatives of the '
            "conductances, and copies of the recording.",
            '"Volumes held" counts the volumes of the trajectory that were held at once, at the most.',
            "Chebyshev keeps its polynomial vectors, not frames; their number grows with the square root of the time.",
        ],
        settings={"shape": shape, "steps": steps, "frames": frames, "repeats": repeats},
        details={"derivatives": [m.plain() for m in derivatives], "policies": [m.plain() for m in policies]},
        sections=_sections(tables),
    )


def trajectory_bytes(case: Case) -> int:
    """Size of the volumes of all frames in float32."""
    return 4 * case.grid.cells * case.frames


def _derivative_rows(found: Sequence[Measurement]) -> list[dict[str, Any]]:
    most = next((m.peak_bytes for m in found if m.solver == "ad"), None)
    return [{**common(m), "less": most / m.peak_bytes if most and m.peak_bytes else None} for m in found]


def _policy_rows(found: Sequence[Measurement], case: Case) -> list[dict[str, Any]]:
    """Rows with the memory beyond a run without gradient, over that of ``"stored"`` and over the trajectory."""
    floor = {m.solver: m.peak_bytes for m in found if "memory" not in m.changes}
    stored = {m.solver: m for m in found if m.changes.get("memory") == "stored"}
    rows = []
    for m in found:
        row = {**common(m), "policy": m.changes.get("memory", NO_GRADIENT)}
        base, least = stored[m.solver], floor[m.solver]
        if "memory" in m.changes and m.peak_bytes and base.peak_bytes and least:
            extra = m.peak_bytes - least
            row |= {
                "for_gradient": extra,
                "states_held": m.counters_with_gradient.get("states_held"),
                "of_stored": extra / (base.peak_bytes - least),
                "of_trajectory": extra / trajectory_bytes(case),
                "gradient": _agreement(m, base),
            }
        rows.append(row)
    return rows


def _agreement(m: Measurement, stored: Measurement) -> str | None:
    if m.gradient is None or stored.gradient is None:
        return None
    if m is stored:
        return "yardstick"
    if np.array_equal(m.gradient, stored.gradient):
        return "bit-equal"
    return f"differs by {relative_error(m.gradient, stored.gradient.astype(np.float64)):.1e}"


def _sections(tables: Sequence[Table]) -> list:
    from nefty.bench.tables.figures import bars
    from nefty.report.pages.page import Section

    sections = []
    for table in tables:
        rows = [row for row in table.rows if row["peak_bytes"]]
        if not rows:
            continue
        names = [", ".join(filter(None, (row["title"], row.get("policy")))) for row in rows]
        values = [row["peak_bytes"] / 2**20 for row in rows]
        sections.append(Section(table.title, "Peak memory of each.", figure=bars(names, values, "MiB")))
    return sections
