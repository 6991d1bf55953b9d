"""``nefty bench run growth``: how cost and memory grow with the grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nefty.bench.solver.case import Case
from nefty.bench.solver.columns import BACKWARD, FORWARD, ITERATIONS, PEAK, REMARK, SOLVER, common
from nefty.bench.solver.measure import Measurement, measure
from nefty.bench.solver.solvers import SOLVERS, solver
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.checks import one_of
from nefty.core.tell import Tell, say_nothing

SHAPES = ((8, 32, 32), (16, 64, 64), (32, 128, 128), (32, 256, 256), (64, 256, 256))
LARGE = 1_000_000  # cells from which one timed run is enough
BOXES = ("fixed", "grows")
YARDSTICK = (16, 64, 64)

COLUMNS = (
    Column("grid", "cells (x, y, z)"),
    SOLVER,
    FORWARD,
    BACKWARD,
    PEAK,
    Column("steps", "steps", formats.whole),
    ITERATIONS,
    Column("ns_per_frame", "ns / cell / frame", formats.short),
    Column("ns_per_step", "ns / cell / step", formats.short),
    Column("growth", "against 64 x 64 x 16", formats.times),
    Column("ns_per_iteration", "ns / cell / iteration", formats.short),
    Column("ns_per_step_backward", "backward ns / cell / step", formats.short),
    REMARK,
)


def run(
    shapes: Sequence[tuple[int, int, int]] = SHAPES,
    *,
    solvers: Sequence[str] = ("chebyshev", "sdirk2"),
    frames: int = 200,
    repeats: int = 3,
    box: str = "fixed",
    patience: float = 60.0,
    tell: Tell = say_nothing,
) -> Results:
    """Measure ``solvers`` on grids of growing size.

    Args:
        shapes: cells along (z, y, x).
        solvers: names out of ``nefty.bench.solver.solvers``.
        frames: number of frames.
        repeats: timed runs; one for grids above a million cells.
        box: ``"fixed"`` resolves one and the same slab ever finer, so the problem gets stiffer too; ``"grows"`` keeps
            the cells of 64 x 64 x 16 and makes the slab larger.
        patience: seconds per measurement to wait for other programs.
        tell: hears the stages.
    """
    one_of("box", box, BOXES)
    for name in solvers:
        solver(name)
    rows, details = [], []
    for shape in shapes:
        case = Case(shape=shape, size=_size(shape, box), frames=frames)
        for name in solvers:
            task = f"{_grid(shape)}, {SOLVERS[name].title}"
            tell(task, "starting a process")
            often = 1 if case.grid.cells > LARGE else repeats
            m = measure(name, case, repeats=often, patience=patience, tell=lambda _, d, t=task: tell(t, d))
            rows.append(_row(m, case))
            details.append({"shape": shape, **m.plain()})
    _compare(rows)
    return Results(
        name="growth" if box == "fixed" else "growth-box",
        title="Growth with the grid",
        lead=f"{frames} frames of a slab {_BOX_WORDS[box]}; forward run and gradient.",
        tables=[Table("Cost and memory by grid", COLUMNS, rows)],
        notes=[
            "A step is one application of the operator for Chebyshev and one time step (two linear solves) for SDIRK2.",
            "Forward figures include what the derivative needs to keep. Times are medians ± half the range.",
        ],
        settings={"shapes": list(shapes), "solvers": list(solvers), "frames": frames, "repeats": repeats, "box": box},
        details={"measurements": details},
        sections=_sections(rows),
    )


_BOX_WORDS = {"fixed": "of fixed size that is resolved ever finer", "grows": "that grows with the number of cells"}


def _grid(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in reversed(shape))


def _size(shape: tuple[int, int, int], box: str) -> tuple[float, float, float]:
    if box == "fixed":
        return (1.0, 10.0, 10.0)
    nz, ny, nx = (n / m for n, m in zip(shape, YARDSTICK, strict=True))
    return (nz, 10 * ny, 10 * nx)


def _row(m: Measurement, case: Case) -> dict[str, Any]:
    cells, counters = case.grid.cells, m.counters
    steps = case.frames if counters.get("solves") else counters.get("applications")
    iterations = counters.get("iterations") or None
    per = 1e9 / cells
    return {
        "grid": _grid(case.shape),
        "shape": case.shape,
        "cells": cells,
        **common(m),
        "steps": steps,
        "iterations": iterations,
        "ns_per_frame": m.forward and m.forward * per / case.frames,
        "ns_per_step": m.forward and steps and m.forward * per / steps,
        "ns_per_iteration": m.forward and iterations and m.forward * per / iterations,
        "ns_per_step_backward": m.backward and steps and m.backward * per / steps,
    }


def _compare(rows: list[dict[str, Any]]) -> None:
    """Add the cost per cell and step over that of the same solver on the yardstick's grid."""
    base = {row["solver"]: row["ns_per_step"] for row in rows if row["shape"] == YARDSTICK}
    for row in rows:
        start = base.get(row["solver"])
        row["growth"] = row["ns_per_step"] / start if start and row["ns_per_step"] else None


def _sections(rows: Sequence[dict[str, Any]]) -> list:
    from nefty.bench.tables.figures import curves
    from nefty.report.pages.page import Section

    def series(key: str, scale: float = 1.0):
        names = dict.fromkeys(row["title"] for row in rows)
        picked = {n: [r for r in rows if r["title"] == n and r[key]] for n in names}
        return {n: ([r["cells"] for r in rs], [scale * r[key] for r in rs]) for n, rs in picked.items()}

    return [
        Section(
            "Cost per cell and step",
            "Nanoseconds of the forward run per cell and step, over the number of cells.",
            good="A flat line: cost in proportion to the work.",
            bad="A rise where the fields leave the processor's cache.",
            figure=curves(series("ns_per_step"), "cells", "ns per cell and step", log_y=False),
        ),
        Section(
            "Peak memory",
            "Growth of the resident set during one forward run with its gradient.",
            figure=curves(series("peak_bytes", 1 / 2**20), "cells", "MiB"),
        ),
    ]
