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

import nefty
from nefty.bench.solver.case import Case
from nefty.bench.solver.ours import heat_model
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.tell import Tell, say_nothing
from nefty.fields.heads import LogBox
from nefty.fields.voxel import VoxelField
from nefty.inversion.lbfgs import ProjectedLBFGS
from nefty.inversion.objective import Objective
from nefty.inversion.observation import Observation
from nefty.inversion.penalties import TotalVariation, VoidWell, WeightedPenalty
from nefty.physics.kernels.chebyshev_sweep import ChebyshevSweep
from nefty.physics.kernels.harmonic_faces import gershgorin, harmonic_faces
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
    """Time each part of the default solver alone, and then one iteration of ``fast`` by the same means.

    Beside it stands a triad (out = u + b v, nothing else) on arrays of the same size: the rate at which this machine
    moves such arrays at all. A stencil that reads and writes its arrays at a similar rate is bound by memory.

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
    parts = _sweep_parts(case, whole.terms, repeats) + _other_parts(case, whole.terms, repeats)
    rows = [_row(part, whole.both, array) for part in parts]
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
            ),
            Table("Parts of one iteration of the recipe fast", COLUMNS[:5], _iteration_rows(case, repeats)),
        ],
        notes=[
            f"A term forwards moves six arrays of {array / 2**20:.2g} MiB, one backwards fifteen; GB/s counts each.",
        ],
        settings={"shape": case.shape, "frames": case.frames, "repeats": repeats},
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


def _sweep_parts(case: Case, terms: int, repeats: int) -> list[Part]:
    """What is done for all terms of the expansion in one call each; arrays read or written count once per term."""
    faces, sinks = (t.numpy() for t in _conductances(case))
    start, q = case.initial().astype(np.float32), 4 / gershgorin(*_conductances(case))
    said = _random((terms + 1, 1, *case.shape[1:]), 6)
    sweep = ChebyshevSweep(faces, sinks, q, start, terms, (0,))
    forwards = _median(lambda: ChebyshevSweep(faces, sinks, q, start, terms, (0,)), repeats)
    backwards = _median(lambda: sweep.backward([said]), repeats)
    return [
        Part("all terms forwards, 2w - v + qLw", 1, forwards, 6 * terms),
        Part("all terms backwards, with the adjoint and the gradient", 1, backwards, 15 * terms),
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
        harmonic_faces(leaf, case.grid, "periodic", (1.0, 1.0)).backward(faces)

    calls: dict[str, Callable[[], object]] = {
        "frames from coefficients": lambda: kernel.contract(coefficients, planes),
        "coefficients' adjoint": lambda: kernel.contract(coefficients.T, frames),
        "conductances and their derivative": conductances_and_back,
        "spectral bound": lambda: gershgorin(faces, sinks),
    }
    return [Part(name, 1, _median(call, repeats)) for name, call in calls.items()]


def _iteration_rows(case: Case, repeats: int) -> list[dict[str, Any]]:
    """One iteration of quasi-Newton steps in voxels under all penalties of ``fast``, beside one gradient."""
    model = nefty.HeatModel(case.grid, case.times(), initial=case.initial())
    alpha = case.alpha()
    with torch.no_grad():
        frames = model(alpha).double().numpy()
    seen = Observation(case.grid, case.times(), frames, np.ones(frames.shape, dtype=bool), 1e-3 * frames.max())
    background = np.full(case.shape[0], case.bulk)
    penalties = [WeightedPenalty(TotalVariation(smoothing=0.1, back="sound"), 2.0), WeightedPenalty(VoidWell(), 40.0)]
    objective = Objective(model, seen, background, penalties)
    field = VoxelField(case.grid, LogBox(0.018, 1.02), background=background)
    low, high = (torch.full((field.unknowns,), b) for b in field.head.box)
    optimiser = ProjectedLBFGS(field.unknown.detach().reshape(-1), low, high)
    calls = 0

    def evaluate(x: torch.Tensor) -> tuple[float, torch.Tensor]:
        nonlocal calls
        calls += 1
        with torch.no_grad():
            field.unknown.copy_(x.view(case.shape))
        field.unknown.grad = None
        terms = objective(field)
        terms.value.backward()
        assert field.unknown.grad is not None
        return float(terms.value.detach()), field.unknown.grad.reshape(-1).clone()

    for _ in range(optimiser.memory):
        optimiser.step(evaluate)
    leaf, cotangent = torch.from_numpy(alpha).float().requires_grad_(), torch.ones(frames.shape)

    def gradient() -> None:
        leaf.grad = None
        model(leaf).backward(cotangent)

    before = calls
    iteration = _median(lambda: optimiser.step(evaluate), repeats)
    each = (calls - before) / (repeats + 3)
    once, alone = _median(lambda: evaluate(optimiser.x), repeats), _median(gradient, repeats)
    parts = [
        Part("forward and gradient of the heat model", 1, alone),
        Part("the objective besides: head, misfit, penalties", 1, once - alone),
        Part("quasi-Newton step besides", 1, iteration - each * once),
        Part(f"iteration, measured whole, {each:.2f} evaluations", 1, iteration),
    ]
    return [_row(part, iteration) for part in parts]


def _conductances(case: Case) -> tuple[torch.Tensor, torch.Tensor]:
    """Of the faces between cells, and of front and back, which lose nothing."""
    alpha = torch.from_numpy(case.alpha()).float()
    faces = harmonic_faces(alpha, case.grid, "periodic", (1.0, 1.0))
    return faces, torch.zeros((2, *case.shape[1:]))


def _sums(rows: Sequence[dict[str, Any]], whole: Whole) -> list[dict[str, Any]]:
    """What the parts do not explain, and the whole runs."""
    rest = 1e3 * whole.both - sum(row["milliseconds"] for row in rows)
    return [
        {
            "part": "the rest: torch around it, the misfit",
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
