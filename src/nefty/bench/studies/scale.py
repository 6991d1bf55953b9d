"""``nefty bench run scale``: whole reconstructions on growing grids, of specimens of one kind."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from nefty.bench.solver.measure import run_worker
from nefty.bench.studies.scale_worker import Finding, Request
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.bench.tables.table import Interval, interval
from nefty.core.provenance import usable_cores
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing

WORKER = "nefty.bench.studies.scale_worker"
COLUMNS = (
    Column("grid", "cells (x, y, z)"),
    Column("frames", "frames", formats.whole),
    Column("kind", "specimens"),
    Column("n", "n", formats.whole),
    Column("iou", "IoU", interval(3), best="high"),
    Column("change", "IoU against the first grid", lambda v: formats.DASH if v is None else f"{v:+.3f}"),
    Column("psnr", "PSNR dB", interval(1), best="high"),
    Column("missed", "missed", formats.whole),
    Column("false", "false", formats.whole),
    Column("evaluations", "gradients", formats.whole),
    Column("wall_s", "seconds", formats.seconds),
    Column("cpu_s", "processor seconds", formats.seconds),
    Column("peak_bytes", "peak memory", formats.size),
    Column("remark", "remark"),
)


@dataclass(frozen=True)
class Run:
    """One reconstruction: what was asked for, and what came of it or why nothing did."""

    shape: tuple[int, int, int]
    frames: int
    kind: str
    seed: int
    found: Finding | None
    failed: str = ""


def run(
    *,
    recipe: str = "fast",
    kinds: Sequence[str] = ("homogeneous", "layered"),
    seeds: str = "700:702",
    shapes: Sequence[tuple[int, int, int]] = ((16, 64, 64), (24, 128, 128), (32, 256, 256)),
    frames: int = 100,
    more_frames: int = 400,
    iterations: int | None = None,
    tell: Tell = say_nothing,
) -> Results:
    """Reconstruct the same specimens on every grid, each in a process of its own.

    Args:
        recipe: by name.
        kinds: of specimens.
        seeds: a range such as "700:702".
        shapes: cells (z, y, x); differences are to the first.
        frames: of each recording.
        more_frames: once more on the first grid with so many; 0 leaves it out.
        iterations: of the recipe at most; all of them if not given.
        tell: hears the stages.
    """
    cases = [(shape, frames) for shape in shapes] + ([(shapes[0], more_frames)] if more_frames else [])
    runs = [
        _alone(Request("", recipe, kind, seed, shape, count, iterations), tell)
        for shape, count in cases
        for kind in kinds
        for seed in parse_seeds(seeds)
    ]
    return Results(
        name="scale",
        title="Whole reconstructions by grid",
        lead=(
            f"Recipe {recipe}: specimens of the paper's kind on a slab 10 x 10 x 1, the same seeds in finer cells, "
            "simulated by the independent explicit simulator without noise."
        ),
        tables=[Table("Whole reconstructions", COLUMNS, list(_rows(runs)), contests=())],
        notes=[
            "Seconds and memory are those of calibration, iterations and evidence, not of the simulation; medians over "
            f"the specimens, memory the highest. Each ran in a process of its own with {usable_cores()} threads.",
            "Processor seconds are of all threads together, and do not count the time that other programs had.",
            "Peak memory is the whole resident set, interpreter, libraries and recording included.",
        ],
        settings={"recipe": recipe, "seeds": seeds, "shapes": list(shapes), "frames": frames, "iterations": iterations},
        details={"runs": [asdict(one) for one in runs]},
    )


def _alone(request: Request, tell: Tell) -> Run:
    """The reconstruction that is asked for, in a process of its own."""
    task = f"{_grid(request.shape)}, {request.frames} frames, {request.kind} {request.seed}"
    about = (request.shape, request.frames, request.kind, request.seed)
    with tempfile.TemporaryDirectory(prefix="nefty-bench-") as folder:
        asked = {**asdict(request), "folder": folder}
        failure = run_worker(WORKER, asked, Path(folder) / "errors.txt", lambda detail: tell(task, detail))
        if failure is not None:
            return Run(*about, None, failure)
        found: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
    return Run(*about, None, found["failed"]) if "failed" in found else Run(*about, Finding(**found))


def _rows(runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    """A row for each grid, number of frames and kind."""
    groups: dict[tuple[Any, ...], list[Run]] = {}
    for one in runs:
        groups.setdefault((one.shape, one.frames, one.kind), []).append(one)
    first: dict[str, Interval] = {}
    for (shape, frames, kind), of in groups.items():
        found = [one.found for one in of if one.found is not None]
        row: dict[str, Any] = {"grid": _grid(shape), "frames": frames, "kind": kind, "n": len(found)}
        row["remark"] = "; ".join(dict.fromkeys(one.failed for one in of if one.failed))
        iou = Interval.of(one.iou for one in found)
        if iou is not None:
            base = first.setdefault(kind, iou)
            row |= {"iou": iou, "change": None if iou is base else iou.mean - base.mean}
            row |= {"psnr": Interval.of(one.psnr for one in found)}
            row |= {"missed": sum(one.missed for one in found), "false": sum(one.false_indications for one in found)}
            row |= {name: median(getattr(one, name) for one in found) for name in ("evaluations", "wall_s", "cpu_s")}
            row |= {"peak_bytes": max(one.peak_bytes for one in found)}
        yield row


def _grid(shape: Sequence[int]) -> str:
    return " x ".join(str(n) for n in reversed(shape))
