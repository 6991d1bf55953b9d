"""Measure one solver in a process of its own and bring back seconds, bytes, frames and gradient."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import solver
from nefty.core.provenance import usable_cores
from nefty.core.tell import Tell, say_nothing

THREAD_SETTINGS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
WORKER = "nefty.bench.solver.worker"
STAGE = "stage "  # begins the lines by which a worker tells where it is


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a solver took and what it returned.

    Attributes:
        solver: its name.
        changes: settings that differ from the solver's own.
        failed: why there are no numbers, or None.
        build_s: seconds to set the model up, once.
        first_s: seconds of the first forward and backward run, compilation for this size included.
        forward_s: seconds of each timed forward run, with everything kept that the derivative needs.
        backward_s: seconds of each timed backward run.
        cpu_s: processor seconds of each timed forward and backward run together, over all threads; other programs do
            not count, though they make them more by what they push out of the caches.
        peak_bytes: growth of resident memory during the first run, over the warmed-up process.
        memory_source: where that figure comes from.
        counters: operator applications, iterations, residuals of a forward run, as far as the solver tells.
        counters_with_gradient: the same after the backward run.
        threads: threads it could use.
        quiet: False where other programs used the processor during every run: the seconds are too many.
        left_out: runs that were timed but do not count, because other programs used the processor.
        frames: (t, y, x).
        gradient: (z, y, x).
    """

    solver: str
    changes: dict[str, Any] = field(default_factory=dict)
    failed: str | None = None
    build_s: float | None = None
    first_s: float | None = None
    forward_s: list[float] = field(default_factory=list)
    backward_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    peak_bytes: int | None = None
    memory_source: str | None = None
    counters: dict[str, Any] = field(default_factory=dict)
    counters_with_gradient: dict[str, Any] = field(default_factory=dict)
    threads: int | None = None
    quiet: bool = True
    left_out: int = 0
    frames: np.ndarray | None = None
    gradient: np.ndarray | None = None

    @property
    def forward(self) -> float | None:
        """Median seconds of the forward run."""
        return median(self.forward_s) if self.forward_s else None

    @property
    def backward(self) -> float | None:
        """Median seconds of the backward run."""
        return median(self.backward_s) if self.backward_s else None

    @property
    def total(self) -> float | None:
        """Median seconds of a forward run with its backward run."""
        pairs = [f + b for f, b in zip(self.forward_s, self.backward_s, strict=False)]
        return median(pairs) if pairs else None

    @property
    def cpu(self) -> float | None:
        """Median processor seconds of a forward run with its backward run."""
        return median(self.cpu_s) if self.cpu_s else None

    @property
    def remark(self) -> str:
        """What the reader of a table has to know about this row."""
        if self.failed:
            return self.failed
        return "" if self.quiet else "disturbed by other programs: too slow"

    def plain(self) -> dict[str, Any]:
        """Everything but the arrays, for JSON."""
        return {k: v for k, v in self.__dict__.items() if k not in ("frames", "gradient")}


def measure(
    name: str,
    case: Case,
    *,
    repeats: int = 3,
    gradient: bool = True,
    data: np.ndarray | None = None,
    patience: float = 60.0,
    tell: Tell = say_nothing,
    **changes: Any,
) -> Measurement:
    """Measure the solver ``name`` on ``case`` in a fresh process that may use all cores.

    Args:
        name: the solver; see ``nefty.bench.solver.solvers``.
        case: the specimen.
        repeats: timed runs, after a warm-up on a tiny case and one full run for the memory.
        gradient: measure the derivative of the misfit for alpha too.
        data: frames (t, y, x) of the misfit; zero if not given.
        patience: seconds that may be spent on waiting for other programs to leave the processor alone.
        tell: hears the stages.
        **changes: settings of the solver to change.
    """
    chosen = solver(name)
    if not chosen.installed:
        return Measurement(name, changes, failed=chosen.remedy)
    with tempfile.TemporaryDirectory(prefix="nefty-bench-") as folder:
        request: dict[str, Any] = {
            "solver": name,
            "case": asdict(case),
            "repeats": repeats,
            "gradient": gradient,
            "patience": patience,
            "folder": folder,
            "changes": changes,
        }
        if data is not None:
            request["data"] = str(Path(folder) / "data.npy")
            np.save(request["data"], data)
        failure = run_worker(WORKER, request, Path(folder) / "errors.txt", lambda detail: tell(chosen.title, detail))
        if failure is not None:
            return Measurement(name, changes, failed=failure)
        found = json.loads((Path(folder) / "result.json").read_text())
        arrays = {
            key: np.load(Path(folder) / f"{key}.npy")
            for key in ("frames", "gradient")
            if (Path(folder) / f"{key}.npy").exists()
        }
    return Measurement(name, changes, **found, **arrays)


def run_worker(module: str, request: Mapping[str, Any], errors: Path, hear: Callable[[str], None]) -> str | None:
    """Run a worker to its end, in a process of its own that may use all cores; returns why it failed, or None.

    Args:
        module: that is run; it reads the request as JSON from stdin.
        request: what it is to do.
        errors: file for what it says on stderr.
        hear: told of its stages.
    """
    threads = str(usable_cores())
    environment = {**os.environ, **dict.fromkeys(THREAD_SETTINGS, threads), "PYTHONSAFEPATH": "1"}
    with errors.open("w") as stderr:
        worker = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env=environment,
        )
        try:
            assert worker.stdin is not None
            assert worker.stdout is not None
            worker.stdin.write(json.dumps(request))
            worker.stdin.close()
            for line in worker.stdout:
                if line.startswith(STAGE):
                    hear(line[len(STAGE) :].strip())
            worker.wait()
        finally:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            if worker.stdout is not None:
                worker.stdout.close()
    if worker.returncode == -9:
        return "killed by the system, most likely for lack of memory: take fewer frames or a smaller grid"
    if worker.returncode != 0:
        said = errors.read_text().strip().splitlines()
        return f"stopped with code {worker.returncode}: {said[-1] if said else 'no message'}"
    return None
