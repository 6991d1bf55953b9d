"""The process in which one solver is measured, alone: ``python -m nefty.bench.solver.worker``.

It reads one request (JSON) from stdin, says its stages on stdout, and writes what it found to files. A process of
its own means that no solver inherits another's memory, threads or compiled code.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from nefty.bench.solver.case import Case
from nefty.bench.solver.disturbance import Disturbance, wait_for_quiet
from nefty.bench.solver.measure import STAGE
from nefty.bench.solver.solvers import Built, solver
from nefty.core.errors import NeftyError
from nefty.core.resident_memory import PeakMemory
from nefty.core.storage.files import write_atomic

WARM_UPS = 3  # TorchScript, under PhiFlow, optimises at its second and third call


@dataclass(frozen=True)
class Request:
    """What to measure.

    Args:
        solver: name of the solver.
        case: keyword arguments of the ``Case``.
        repeats: timed runs.
        folder: where ``result.json``, ``frames.npy`` and ``gradient.npy`` go.
        gradient: measure the derivative too.
        patience: seconds to spend on waiting for other programs.
        data: file with the frames (t, y, x) that the misfit compares with; zero if not given.
        changes: settings of the solver that differ from its own.
    """

    solver: str
    case: dict[str, Any]
    repeats: int
    folder: str
    gradient: bool = True
    patience: float = 0.0
    data: str | None = None
    changes: dict[str, Any] = field(default_factory=dict)


class Seconds(NamedTuple):
    """Of one run: forwards and backwards on the clock, and both together of processor time."""

    forward: float
    backward: float
    cpu: float


class Bench:
    """Forward and gradient of J = 1/2 sum (frames - data)^2, one at a time and timed.

    The backward run starts from dJ/dframes = frames - data, so that no graph of the misfit itself is measured.

    Args:
        built: the solver.
        alpha: diffusivity (z, y, x).
        data: frames (t, y, x); zero if None.
        gradient: whether a derivative is wanted.
    """

    def __init__(self, built: Built, alpha: torch.Tensor, data: torch.Tensor | None, gradient: bool) -> None:
        self._built, self._alpha, self._data, self._gradient = built, alpha, data, gradient
        self.frames = self.gradient = None
        self.forward_counters: dict[str, Any] = {}

    def run(self) -> Seconds:
        """One forward and one backward pass."""
        self.frames = self.gradient = None
        alpha = self._alpha.clone().requires_grad_(self._gradient)
        start, cpu = time.perf_counter(), time.process_time()
        frames = self._built.forward(alpha)
        forward = time.perf_counter() - start
        self.forward_counters = self._built.counters()
        start = time.perf_counter()
        if self._gradient:
            residual = frames.detach() if self._data is None else frames.detach() - self._data
            frames.backward(residual)
        backward, cpu = time.perf_counter() - start, time.process_time() - cpu
        self.frames, self.gradient = frames.detach(), alpha.grad
        return Seconds(forward, backward, cpu)


def measure(request: Request, stage: Callable[[str], None]) -> dict[str, Any]:
    """Warm up, take the memory of a first full run, then time the others; returns what ``result.json`` holds."""
    chosen = solver(request.solver)
    case = Case(**request.case)

    stage("warming up")
    tiny = case.tiny()
    built = chosen.build(tiny, **request.changes)
    dtype = getattr(torch, built.dtype)
    bench = Bench(built, torch.from_numpy(tiny.alpha()).to(dtype), None, request.gradient)
    for _ in range(WARM_UPS):
        bench.run()
    del built, bench

    alpha = torch.from_numpy(case.alpha()).to(dtype)
    data = None if request.data is None else torch.from_numpy(np.load(request.data)).to(dtype)

    stage("first full run, for the memory")
    memory = PeakMemory()
    with memory:
        start = time.perf_counter()
        built = chosen.build(case, **request.changes)
        build_s = time.perf_counter() - start
        bench = Bench(built, alpha, data, request.gradient)
        first = bench.run()

    runs, disturbed = _timed_runs(bench, request.repeats, request.patience, stage)
    counted = runs or disturbed

    folder = Path(request.folder)
    for name in ("frames", "gradient"):
        array = getattr(bench, name)
        if array is not None:
            np.save(folder / f"{name}.npy", array.numpy())
    return {
        "build_s": build_s,
        "first_s": first.forward + first.backward,
        "forward_s": [run.forward for run in counted],
        "backward_s": [run.backward for run in counted] if request.gradient else [],
        "cpu_s": [run.cpu for run in counted],
        "quiet": bool(runs),
        "left_out": len(disturbed) if runs else 0,
        "peak_bytes": memory.peak,
        "memory_source": memory.source,
        "counters": bench.forward_counters,
        "counters_with_gradient": built.counters(),
        "threads": torch.get_num_threads(),
    }


Runs = list[Seconds]


def _timed_runs(bench: Bench, repeats: int, patience: float, stage: Callable[[str], None]) -> tuple[Runs, Runs]:
    """``repeats`` undisturbed runs, and those during which others used the processor.

    A disturbed run is made again for as long as ``patience`` lasts; after that it takes the place of a good one. The
    choice looks at the others' processor time, never at the result.
    """
    good, disturbed, given_up = [], [], 0
    end = time.perf_counter() + patience
    while len(good) + given_up < repeats:
        stage(f"run {len(good) + given_up + 1} of {repeats}")
        with Disturbance() as others:
            seconds = bench.run()
        if not others.noticeable:
            good.append(seconds)
            continue
        disturbed.append(seconds)
        left = end - time.perf_counter()
        if left > 0:
            stage("waiting for other programs to finish")
            wait_for_quiet(left)
        else:
            given_up += 1
    return good, disturbed


def _die_first() -> None:
    """Where memory runs out, let the kernel end this process rather than the user's others."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    """Answer the request on stdin."""
    request = Request(**json.load(sys.stdin))
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    _die_first()
    try:
        result = measure(request, lambda text: print(STAGE + text, flush=True))
    except NeftyError as error:
        result = {"failed": str(error)}
    write_atomic(Path(request.folder) / "result.json", json.dumps(result))


if __name__ == "__main__":
    main()
