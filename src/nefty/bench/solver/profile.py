"""``nefty bench profile``: where the time of one forward run and one gradient goes, and what bounds it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
from numba import njit, prange

from nefty.bench.solver.case import Case
from nefty.bench.solver.ours import heat_model
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing
from nefty.physics.conductance import face_conductances, spectral_bound
from nefty.physics.kernels.numba_kernel import NumbaKernel

COLUMNS = (
    Column("part", "part"),
    Column("calls", "calls", formats.whole),
    Column("microseconds", "µs each", formats.short),
    Column("milliseconds", "ms in all", formats.short),
    Column("share", "share", lambda s: formats.DASH if s is None else f"{100 * s:.0f} %"),
    Column("gigabytes", "GB/s", formats.short),
)


def run(case: Case | None = None, *, repeats: int = 30, tell: Tell = say_nothing) -> Results:
    """Time each operation of the default solver alone, and multiply by how often a gradient needs it.

    Beside it stands a triad (out = u + b v, nothing else) on arrays of the same size: the rate at which this machine
    moves such arrays at all. A stencil that reads and writes its six arrays at a similar rate is bound by memory.

    Args:
        case: the specimen; the paper's size if not given.
        repeats: timed calls of each part; the median counts.
        tell: hears the stages.
    """
    case = case or Case()
    grid, kernel = case.grid, NumbaKernel()
    alpha = torch.from_numpy(case.alpha()).float()
    faces = face_conductances(alpha, grid, "periodic", "harmonic", (1.0, 1.0))
    sinks = torch.zeros((2, *case.shape[1:]))
    op = kernel.operator(faces.numpy(), sinks.numpy())
    gradient = kernel.operator(np.zeros_like(op.faces), np.zeros_like(op.sinks))
    rng = np.random.default_rng(0)
    u, v, out = (rng.normal(size=case.shape).astype(np.float32) for _ in range(3))

    tell("profile", "whole runs")
    built = heat_model(case)
    leaf = alpha.clone().requires_grad_()

    def forward() -> torch.Tensor:
        return built.forward(alpha)

    def both() -> None:
        leaf.grad = None
        (0.5 * built.forward(leaf).square().sum()).backward()

    whole_forward, whole_both = _median(forward, repeats), _median(both, repeats)
    forward()
    terms = built.counters()["applications"]
    coefficients = rng.normal(size=(case.frames, terms + 1)).astype(np.float32)
    planes = rng.normal(size=(terms + 1, 1, *case.shape[1:])).astype(np.float32)
    frames = rng.normal(size=(case.frames, 1, *case.shape[1:])).astype(np.float32)

    def conductances_and_back() -> None:
        leaf.grad = None
        face_conductances(leaf, grid, "periodic", "harmonic", (1.0, 1.0)).backward(faces)

    tell("profile", "each part alone")
    array = u.nbytes
    parts: Sequence[tuple[str, int, float, int | None]] = (
        (
            "apply the operator, 2w - v + qLw",
            3 * terms,
            _median(lambda: kernel.combine(op, u, 2, v, -1, 0.1, out), 300),
            6,
        ),
        ("accumulate the gradient", terms, _median(lambda: kernel.accumulate(gradient, u, v, 0.1), 300), 8),
        ("frames from coefficients", 1, _median(lambda: kernel.contract(coefficients, planes), repeats), None),
        ("coefficients' adjoint", 1, _median(lambda: kernel.contract(coefficients.T, frames), repeats), None),
        ("conductances and their derivative", 1, _median(conductances_and_back, repeats), None),
        ("spectral bound", 1, _median(lambda: spectral_bound(faces, sinks), repeats), None),
    )
    rows = [_row(part, calls, seconds, whole_both, arrays and arrays * array) for part, calls, seconds, arrays in parts]
    known = sum(row["milliseconds"] for row in rows)
    rows.append(
        {"part": "the rest: Python, copies of surface rows, the misfit", "milliseconds": 1e3 * whole_both - known}
    )
    rows[-1]["share"] = rows[-1]["milliseconds"] / (1e3 * whole_both)
    rows.append(_row("forward and gradient, measured whole", 1, whole_both, whole_both, None))
    rows.append(_row("forward alone, measured whole", 1, whole_forward, whole_both, None))
    triad = _row(
        "triad out = u + b v, for comparison", 1, _median(lambda: _triad(u, v, out), 300), whole_both, 3 * array
    )
    rows.append({**triad, "share": None, "milliseconds": None})
    empty = NumbaKernel().operator(np.zeros((3, 2, 2, 4), np.float32), np.zeros((2, 2, 4), np.float32))
    small = np.zeros((2, 2, 4), np.float32)
    launch = _median(lambda: kernel.combine(empty, small, 2, small, -1, 0.1, np.empty_like(small)), 300)
    return Results(
        name="profile",
        title="Where the time goes",
        lead=f"{' x '.join(str(n) for n in reversed(case.shape))} cells, {case.frames} frames, float32, {terms} terms.",
        tables=[Table("Parts of one forward run and one gradient", COLUMNS, rows)],
        notes=[
            f"An application of the operator on 16 cells takes {1e6 * launch:.1f} µs: the price of Python and of "
            "starting the threads.",
            f"An application moves six arrays of {array / 2**20:.2g} MiB; GB/s counts each of them once.",
        ],
        settings={"shape": case.shape, "frames": case.frames, "repeats": repeats},
        details={"launch_s": launch},
    )


def _row(part: str, calls: int, seconds: float, whole: float, moved: int | None) -> dict[str, Any]:
    return {
        "part": part,
        "calls": calls,
        "microseconds": 1e6 * seconds,
        "milliseconds": 1e3 * seconds * calls,
        "share": seconds * calls / whole,
        "gigabytes": moved and moved / seconds / 1e9,
    }


def _median(call: Callable[[], object], repeats: int) -> float:
    """Median seconds of ``repeats`` calls, after three to warm up."""
    for _ in range(3):
        call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return median(seconds)


@njit(parallel=True, fastmath=True, cache=True)
def _triad(u, v, out):
    for k in prange(u.shape[0]):
        for j in range(u.shape[1]):
            for i in range(u.shape[2]):
                out[k, j, i] = u[k, j, i] + np.float32(0.5) * v[k, j, i]
