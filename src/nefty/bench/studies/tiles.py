"""``nefty bench run tiles``: large parts in tiles, by pixels and by worker processes."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from nefty.bench.studies.panel import places_of_films
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.cluster.place import Place, connected
from nefty.core.tell import Tell, say_nothing
from nefty.data.sequence import Sequence as Recording
from nefty.inversion.reconstruct import Watch
from nefty.inversion.tiles.layout import MOST
from nefty.inversion.tiles.run import reconstruct_tiles

FULL = 640 * 512
SIMULATE = (
    "import sys; from nefty.bench.studies.panel import simulated_panel; z, y, x, frames = map(int, sys.argv[1:5]); "
    "simulated_panel((z, y, x), frames).save(sys.argv[5])"
)
SOLVE = "Solve the tiles"
COLUMNS = (
    Column("pixels", "pixels"),
    Column("layers", "layers", formats.whole),
    Column("tiles", "tiles", formats.whole),
    Column("workers", "workers", formats.whole),
    Column("overview_s", "overview s", formats.seconds),
    Column("tiles_s", "tiles s", formats.seconds),
    Column("join_s", "cut and join s", formats.seconds),
    Column("cpu_s", "processor s", formats.seconds),
    Column("per_pixel", "processor ms per pixel", lambda v: f"{v:.2f}"),
    Column("speed", "speed of the tiles over one worker", lambda v: formats.DASH if v is None else f"{v:.2f}"),
    Column("peak_bytes", "peak memory of a worker", formats.size),
    Column("all_bytes", "of all processes", formats.size),
    Column("films", "films", formats.whole),
    Column("found", "indications", formats.whole),
)


@dataclass(frozen=True)
class Timed:
    """One part in tiles: seconds on the clock of each stage, of processors, and memory."""

    shape: tuple[int, int, int]
    workers: int
    tiles: int
    stages: dict[str, float]
    cpu_s: float
    peak_bytes: int
    all_bytes: int
    found: int


def run(
    *,
    shapes: Sequence[tuple[int, int, int]] = ((24, 128, 160), (24, 192, 256), (24, 256, 320), (24, 512, 640)),
    workers: Sequence[int] = (1, 2),
    compared: int = 192 * 256,
    frames: int = 60,
    pixels: int = MOST,
    iterations: int | None = None,
    tell: Tell = say_nothing,
) -> Results:
    """Reconstruct panels in tiles on external workers.

    Args:
        shapes: cells (z, y, x), the smallest first.
        workers: numbers of processes, one thread each.
        compared: pixels of the largest panel that is solved with each number of workers; larger ones with the most.
        frames: of each recording.
        pixels: of a tile with its rims, at most.
        iterations: of each stage of the recipe; as it is if not given.
        tell: hears the stages.
    """
    found = [
        _timed(shape, n, frames, pixels, iterations, tell)
        for shape in shapes
        for n in (workers if shape[1] * shape[2] <= compared else [max(workers)])
    ]
    return Results(
        name="tiles",
        title="Large parts in tiles",
        lead="Panels of glass fibre, 3 mm thick, in pixels of 0.5 mm, one film per 64 x 64 pixels, recipe real; "
        "calibrated on an overview of joined pixels, solved in tiles by external Dask workers of one thread.",
        tables=[Table("Large parts in tiles", COLUMNS, list(_rows(found)), contests=())],
        notes=[
            "Seconds on the clock depend on what else the machine does; processor seconds hardly do. They are of the "
            "workers, overview included. Speed: of the tiles alone, over the run of the same part by one worker.",
            "Peak memory is the whole resident set of the largest worker, interpreter and libraries included. Of all "
            "processes: the peaks of the workers and of the client, added as if they came at once.",
            *_extrapolated(found),
        ],
        settings={"shapes": list(shapes), "workers": list(workers), "frames": frames, "pixels of a tile": pixels},
        details={"runs": [asdict(one) for one in found]},
    )


def _timed(
    shape: tuple[int, int, int], workers: int, frames: int, pixels: int, iterations: int | None, tell: Tell
) -> Timed:
    task = f"{_face(shape)} pixels, {workers} workers"
    overrides: dict[str, Any] = {"model.layers": shape[0]}
    if iterations is not None:
        overrides |= {f"stages.{stage}.iterations": iterations for stage in (0, 1)}
    began: list[tuple[str, float]] = []
    counts = [0]

    def stage(name: str) -> None:
        began.append((name, time.perf_counter()))
        tell(task, name)

    def progress(name: str, done: int, total: int, misfit: float) -> None:
        counts[0] = total
        tell(task, f"{name}, {done} of {total}")

    with tempfile.TemporaryDirectory(prefix="nefty-bench-") as folder, connected(Place(workers=workers), workers) as at:
        tell(task, "simulating")
        panel = _simulated(shape, frames, Path(folder) / "panel.h5")
        _forget_peak()
        client: Any = at
        place = Place(scheduler=client.scheduler.address)
        before = sum(_spent(client.run(_usage)))
        rec = reconstruct_tiles(
            panel,
            run=Path(folder) / "run",
            overrides=overrides,
            place=place,
            pixels=pixels,
            watch=Watch(stage, progress),
        )
        began.append(("", time.perf_counter()))
        used = client.run(_usage)
        together = _usage()[1] + sum(memory for _, memory in used.values())
    stages = {name: end - start for (name, start), (_, end) in itertools.pairwise(began)}
    cpu = sum(_spent(used)) - before
    peak = max(memory for _, memory in used.values())
    return Timed(shape, workers, counts[0], stages, cpu, peak, together, len(rec.indications()))


def _simulated(shape: tuple[int, int, int], frames: int, file: Path) -> Recording:
    """The panel, simulated in a process of its own: what that needs is no memory of a reconstruction."""
    words = [sys.executable, "-c", SIMULATE, *map(str, (*shape, frames)), str(file)]
    subprocess.run(words, check=True)
    return Recording.load(file)


def _forget_peak() -> None:
    """Let the peak of this process begin anew, where the system can; else it is that of all that it did."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _usage() -> tuple[float, int]:
    """On a worker: seconds of processors so far, and bytes of its resident set at its highest."""
    import resource  # not on Windows

    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status")
    if not status.exists():
        return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    peak = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return used.ru_utime + used.ru_stime, peak * 1024  # ru_maxrss begins with that of the process that forked it


def _spent(used: dict[str, tuple[float, int]]) -> list[float]:
    return [seconds for seconds, _ in used.values()]


def _rows(found: Sequence[Timed]) -> list[dict[str, Any]]:
    rows = []
    for one in found:
        alone = next((other for other in found if other.shape == one.shape and other.workers == 1), None)
        tiles = one.stages[SOLVE]
        rows.append(
            {
                "pixels": _face(one.shape),
                "layers": one.shape[0],
                "tiles": one.tiles,
                "workers": one.workers,
                "overview_s": one.stages["Solve the overview"],
                "tiles_s": tiles,
                "join_s": one.stages["Cut the recording"] + one.stages["Join the tiles"],
                "cpu_s": one.cpu_s,
                "per_pixel": 1e3 * one.cpu_s / (one.shape[1] * one.shape[2]),
                "speed": None if alone is None or alone is one else alone.stages[SOLVE] / tiles,
                "peak_bytes": one.peak_bytes,
                "all_bytes": one.all_bytes,
                "films": len(places_of_films(one.shape[1:])),
                "found": one.found,
            }
        )
    return rows


def _extrapolated(found: Sequence[Timed]) -> list[str]:
    """What the largest part says of a panel of 640 x 512 pixels, where that was not run."""
    largest = max(found, key=lambda one: one.shape[1] * one.shape[2])
    if largest.shape[1] * largest.shape[2] >= FULL:
        return []
    seconds = largest.cpu_s / (largest.shape[1] * largest.shape[2]) * FULL
    return [
        f"Extrapolated, not run: at the processor time per pixel of {_face(largest.shape)}, a panel of 640 x 512 "
        f"pixels takes {seconds / 60:.0f} minutes of one processor."
    ]


def _face(shape: Sequence[int]) -> str:
    return f"{shape[2]} x {shape[1]}"
