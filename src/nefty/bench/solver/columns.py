"""Columns that the tables of solvers share; their keys are those of ``common``."""

from __future__ import annotations

from typing import Any

from nefty.bench.solver.measure import Measurement
from nefty.bench.solver.solvers import SOLVERS
from nefty.bench.tables import formats
from nefty.bench.tables.table import Column

SOLVER = Column("title", "solver")
FORWARD = Column("forward_s", "forward s", formats.spread)
BACKWARD = Column("backward_s", "backward s", formats.spread)
PROCESSOR = Column("cpu_s", "processor s, both", formats.spread)
PEAK = Column("peak_bytes", "peak memory", formats.size)
ITERATIONS = Column("iterations", "iterations", formats.whole)
RMSE = Column("rmse", "surface RMSE", formats.error)
GRADIENT_ERROR = Column("gradient_error", "gradient error", formats.error)
REMARK = Column("remark", "remark")


def common(m: Measurement) -> dict[str, Any]:
    """What every row says of a measurement."""
    return {
        "solver": m.solver,
        "title": SOLVERS[m.solver].title,
        "forward_s": m.forward_s,
        "backward_s": m.backward_s,
        "cpu_s": m.cpu_s,
        "peak_bytes": m.peak_bytes,
        "remark": m.remark,
    }
