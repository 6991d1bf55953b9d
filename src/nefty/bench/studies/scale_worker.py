"""The process in which one recording is reconstructed, alone: ``python -m nefty.bench.studies.scale_worker``.

It reads one request (JSON) from stdin, says its stages on stdout, and writes what it found to a file. A process of its
own means that its peak of memory is that of this reconstruction.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nefty.bench.solver.measure import STAGE
from nefty.bench.tasks.simulated import SLAB, Simulated
from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.core.resident_memory import PeakMemory
from nefty.core.storage.files import write_atomic

PAPER_GRID = (16, 64, 64)


@dataclass(frozen=True)
class Request:
    """What to reconstruct.

    Args:
        folder: where ``result.json`` goes.
        recipe: by name.
        kind: of the specimen.
        seed: of it.
        shape: cells (z, y, x).
        frames: of the recording.
        iterations: of the recipe at most; all of them if not given.
    """

    folder: str
    recipe: str
    kind: str
    seed: int
    shape: tuple[int, int, int]
    frames: int
    iterations: int | None = None


@dataclass(frozen=True)
class Finding:
    """What one reconstruction took and returned.

    Args:
        wall_s: seconds on the clock, calibration and evidence included, the simulation not.
        cpu_s: of processor time, over all threads.
        peak_bytes: of the process's resident set at its highest, interpreter and recording included.
        evaluations: of the objective.
        misfit: over the noise floor.
        iou: of the defects, alpha < 0.03.
        psnr: dB.
        false_indications: that belong to no true defect.
        missed: true defects without an indication.
    """

    wall_s: float
    cpu_s: float
    peak_bytes: int
    evaluations: int
    misfit: float
    iou: float
    psnr: float
    false_indications: int
    missed: int


def safety(shape: tuple[int, int, int]) -> float:
    """Of the explicit time step, so that the step is the same on every grid; what is stable is 1/(2 alpha sum 1/d^2).

    16 on the paper's grid and coarser ones, as the simulator has it: an error in time of 0.003 % of the peak there.
    """
    rates = [sum(1 / d**2 for d in Grid(cells, SLAB).spacing) for cells in (PAPER_GRID, shape)]
    return max(2.0, 16.0 * min(1.0, rates[0] / rates[1]))


def answer(request: Request, stage: Callable[[str], None]) -> Finding:
    """Simulate the recording, reconstruct it, and compare with the truth."""
    from nefty.inversion.recipe import limited, load_recipe
    from nefty.inversion.reconstruct import Watch, reconstruct
    from nefty.metrics.pairing import paired_with_truth
    from nefty.metrics.volume import iou, psnr

    stage("simulating")
    recorded = Simulated(shape=request.shape, frames=request.frames, safety=safety(request.shape))
    sequence = recorded.sequence(request.kind, request.seed)
    assert sequence.truth is not None
    recipe = load_recipe(request.recipe, {"model.layers": request.shape[0]})
    recipe = recipe if request.iterations is None else limited(recipe, request.iterations)
    watch = Watch(stage, lambda name, done, total, misfit: stage(f"{name}, {done} of {total} iterations"))
    memory = PeakMemory()
    wall, cpu = time.perf_counter(), time.process_time()
    with memory:
        found = reconstruct(sequence, recipe=recipe, watch=watch)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    pairs = paired_with_truth(found)
    return Finding(
        wall_s=wall,
        cpu_s=cpu,
        peak_bytes=memory.highest,
        evaluations=found.effort.evaluations,
        misfit=float(found.history["misfit"][-1]),
        iou=iou(found.alpha, sequence.truth),
        psnr=psnr(found.alpha, sequence.truth),
        false_indications=sum(true is None for _, true in pairs),
        missed=sum(seen is None for seen, _ in pairs),
    )


def main() -> None:
    """Answer the request on stdin."""
    given: dict[str, Any] = json.load(sys.stdin)
    request = Request(**{**given, "shape": tuple(given["shape"])})
    try:
        result = asdict(answer(request, lambda text: print(STAGE + text, flush=True)))
    except NeftyError as error:
        result = {"failed": str(error)}
    write_atomic(Path(request.folder) / "result.json", json.dumps(result))


if __name__ == "__main__":
    main()
