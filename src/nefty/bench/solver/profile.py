"""``nefty bench run profile``: where the time of one forward run and one gradient goes, and what bounds it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
    tell("profile", "whole runs")
    whole = _whole_runs(case, repeats)
    tell("profile", "each part alone")
    fields = [_random(case.shape, seed) for seed in range(3)]
    array = fields[0].nbytes
    parts = _operator_parts(case, whole.terms, fields) + _other_parts(case, whole.terms, repeats)
    rows = [_row(part, whole.both, array) for part in parts]
    launch = _launch_seconds()
    return Results(
        name="profile",
        title="Where the time goes",
        lead=f"{' x '.join(str(n) for n in reversed(case.shape))} cells, {case.frames} frames, float32, "
        f"{whole.terms} terms.",
        tables=[
            Table(
                "Parts of one forward run and one gradient",
                COLUMNS,
                [*rows, *_sums(rows, whole), _comparison(fields, whole.both)],
            )
        ],
        notes=[
            f"An application of the operator on 16 cells takes {1e6 * launch:.1f} µs: the price of Python and of "
            "starting the threads.",
            f"An application moves six arrays of {array / 2**20:.2g} MiB; GB/s counts each of them once.",
        ],
        settings={"shape": case.shape, "frames": case.frames, "repeats": repeats},
        details={"launch_s": launch},
    )


@dataclass(frozen=True)
class Whole:
    """Seconds of a ``forward`` run, of ``both`` it and the gradient, and the ``terms`` of its expansion."""

    forward: float
    both: float
    terms: int


@dataclass(frozen=True)
class Part:
    """An operation: how many ``calls`` a gradient needs, ``seconds`` of one, ``arrays`` of a field's size it moves."""

    name: str
    calls: int
    seconds: float
    arrays: int | None = None


def _whole_runs(case: Case, repeats: int) -> Whole:
    built, alpha = heat_model(case), torch.from_numpy(case.alpha()).float()
    leaf = alpha.clone().requires_grad_()

    def forward() -> torch.Tensor:
        return built.forward(alpha)

    def both() -> None:
        leaf.grad = None
        (0.5 * built.forward(leaf).square().sum()).backward()

    seconds = _median(forward, repeats), _median(both, repeats)
    forward()
    return Whole(*seconds, built.counters()["applications"])


def _operator_parts(case: Case, terms: int, fields: Sequence[np.ndarray]) -> list[Part]:
    """What is done once per term of the expansion."""
    kernel, (faces, sinks) = NumbaKernel(), _conductances(case)
    op = kernel.operator(faces.numpy(), sinks.numpy())
    gradient = kernel.operator(np.zeros_like(op.faces), np.zeros_like(op.sinks))
    u, v, out = fields
    apply = _median(lambda: kernel.combine(op, u, 2, v, -1, 0.1, out), 300)
    accumulate = _median(lambda: kernel.accumulate(gradient, u, v, 0.1), 300)
    return [
        Part("apply the operator, 2w - v + qLw", 3 * terms, apply, 6),
        Part("accumulate the gradient", terms, accumulate, 8),
    ]


def _other_parts(case: Case, terms: int, repeats: int) -> list[Part]:
    """What is done once per run."""
    kernel, (faces, sinks) = NumbaKernel(), _conductances(case)
    face = (1, *case.shape[1:])
    coefficients = _random((case.frames, terms + 1), 3)
    planes, frames = _random((terms + 1, *face), 4), _random((case.frames, *face), 5)
    leaf = torch.from_numpy(case.alpha()).float().requires_grad_()

    def conductances_and_back() -> None:
        leaf.grad = None
        face_conductances(leaf, case.grid, "periodic", "harmonic", (1.0, 1.0)).backward(faces)

    calls: dict[str, Callable[[], object]] = {
        "frames from coefficients": lambda: kernel.contract(coefficients, planes),
        "coefficients' adjoint": lambda: kernel.contract(coefficients.T, frames),
        "conductances and their derivative": conductances_and_back,
        "spectral bound": lambda: spectral_bound(faces, sinks),
    }
    return [Part(name, 1, _median(call, repeats)) for name, call in calls.items()]


def _conductances(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the faces between cells, and of front and back, which lose nothing."""
    alpha = torch.from_numpy(case.alpha()).float()
    faces = face_conductances(alpha, case.grid, "periodic", "harmonic", (1.0, 1.0))
    return faces, torch.zeros((2, *case.shape[1:]))


def _sums(rows: Sequence[dict[str, Any]], whole: Whole) -> list[dict[str, Any]]:
    """What the parts do not explain, and the whole runs."""
    rest = 1e3 * whole.both - sum(row["milliseconds"] for row in rows)
    return [
        {
            "part": "the rest: Python, copies of surface rows, the misfit",
            "milliseconds": rest,
            "share": rest / (1e3 * whole.both),
        },
        _row(Part("forward and gradient, measured whole", 1, whole.both), whole.both),
        _row(Part("forward alone, measured whole", 1, whole.forward), whole.both),
    ]


def _comparison(fields: Sequence[np.ndarray], whole: float) -> dict[str, Any]:
    u, v, out = fields
    triad = Part("triad out = u + b v, for comparison", 1, _median(lambda: _triad(u, v, out), 300), 3)
    return {**_row(triad, whole, u.nbytes), "share": None, "milliseconds": None}


def _launch_seconds() -> float:
    """Of an application of the operator on 16 cells."""
    kernel, small = NumbaKernel(), np.zeros((2, 2, 4), np.float32)
    empty = kernel.operator(np.zeros((3, 2, 2, 4), np.float32), small)
    return _median(lambda: kernel.combine(empty, small, 2, small, -1, 0.1, np.empty_like(small)), 300)


def _random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def _row(part: Part, whole: float, array: int = 0) -> dict[str, Any]:
    """Of the table; ``whole`` are the seconds of a gradient, ``array`` the bytes of a field."""
    return {
        "part": part.name,
        "calls": part.calls,
        "microseconds": 1e6 * part.seconds,
        "milliseconds": 1e3 * part.seconds * part.calls,
        "share": part.seconds * part.calls / whole,
        "gigabytes": part.arrays and part.arrays * array / part.seconds / 1e9,
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
