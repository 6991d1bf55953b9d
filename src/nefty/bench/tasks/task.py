"""One task of a suite: take a recording, recover the volume by one method, judge it. Its outcome is a file."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.recording import TrialPart
from nefty.bench.plates.recording import PlateRecording
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import method, method_code
from nefty.bench.tasks.simulated import Simulated
from nefty.core.code_version import code_version
from nefty.core.errors import InputError
from nefty.core.provenance import provenance
from nefty.core.resident_memory import PeakMemory
from nefty.core.storage.hdf5 import digest, read_hdf5, write_hdf5

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.result.reconstruction import Reconstruction

KIND = "outcome"
#: Where recordings come from.
SOURCES: dict[str, type[Simulated | PlateRecording | TrialPart]] = {
    "simulated": Simulated,
    "plates": PlateRecording,
    "parts": TrialPart,
}


@dataclass(frozen=True)
class Task:
    """A recording, a method and a budget; plain values, so that it travels to other machines as JSON.

    Args:
        recording: how the data are made, or where they are.
        kind: of specimen, plate or part.
        seed: of the specimen or part, or number of the plate.
        method: name.
        settings: all of the method's, resolved.
        budget: of the reconstruction.
        threads: that it may use.
    """

    recording: Simulated | PlateRecording | TrialPart
    kind: str
    seed: int
    method: str
    settings: Mapping[str, Any]
    budget: Budget = field(default_factory=Budget)
    threads: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Plain values; see ``from_dict``."""
        source = next(name for name, kind in SOURCES.items() if isinstance(self.recording, kind))
        return {"source": source, **dataclasses.asdict(self)}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Task:
        """The task that ``values`` were taken of."""
        given = {key: value for key, value in values.items() if key != "source"}
        recording = SOURCES[values["source"]].from_dict(values["recording"])
        return Task(**{**given, "recording": recording, "budget": Budget(**values["budget"])})

    @property
    def key(self) -> str:
        """Hash of everything that decides the outcome: all of the above and the code; not where files lie."""
        plain = {
            **self.as_dict(),
            "recording": {k: v for k, v in dataclasses.asdict(self.recording).items() if k != "root"},
            "settings": {k: v for k, v in self.settings.items() if k != "summary"},
        }
        return digest(self.code, plain)[:24]

    @property
    def code(self) -> str:
        """Version of the code that decides the outcome: nefty's, and that of a method from another package."""
        added = method_code(self.method)
        return digest(code_version(), added)[:16] if added else code_version()

    def __str__(self) -> str:
        return f"{self.method}, {self.kind} {self.seed}"


@dataclass(frozen=True)
class Entry:
    """A task among many: ``row`` names the row of the tables, and ``data`` the recordings, that it belongs to."""

    task: Task
    row: str
    data: str


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of a task.

    Args:
        task: that was done.
        scores: metrics by name; ``None`` where one is not defined. See ``docs/metrics.md``.
        facts: ``seconds``, ``processor_seconds``, ``iterations``, ``evaluations``, ``unknowns``, ``peak_bytes``,
            ``stopped``, ``cut_short``, ``misfit``, ``code_of_indications``, and what the recording's ``judge`` adds.
        history: of the optimisation: ``objective``, ``misfit``, ``seconds`` and others, one entry per iteration.
        spectrum: ``frequency``, ``found`` and ``true`` power, of a specimen whose volume is known.
        maps: images (y, x) by name, of a plate.
        stored: the volume, float32, (z, y, x), or the file that holds it: a thousand volumes are not kept in memory.
        provenance: host, versions, time.
    """

    task: Task
    scores: dict[str, float | None]
    facts: dict[str, Any]
    history: dict[str, np.ndarray]
    spectrum: dict[str, np.ndarray]
    stored: np.ndarray | Path
    provenance: dict[str, str]
    maps: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def alpha(self) -> np.ndarray:
        """The volume."""
        return read_hdf5(self.stored, kind=KIND)["alpha"] if isinstance(self.stored, Path) else self.stored

    def save(self, path: Path) -> Path:
        """Write it, whole or not at all."""
        record = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "stored"}
        return write_hdf5(path, {**record, "task": self.task.as_dict(), "alpha": self.alpha}, kind=KIND)

    @staticmethod
    def load(path: Path) -> Outcome:
        """Read what ``save`` wrote; the volume stays in the file until it is asked for."""
        record = read_hdf5(path, kind=KIND)
        del record["alpha"]
        return Outcome(**{**record, "task": Task.from_dict(record["task"]), "stored": path})


def perform(task: Task) -> Outcome:
    """Do a task in this process, with no more threads than it may use."""
    limit_threads(task.threads)
    warm_up()
    chosen = method(task.method)
    given = task.recording.given(task.kind, task.seed, chosen.takes)
    with PeakMemory() as memory:
        started, worked = time.perf_counter(), time.process_time()
        found = chosen.run(given, task.settings, task.budget)
        seconds, processor = time.perf_counter() - started, time.process_time() - worked
    judged = task.recording.judge(found, given, task.kind, task.seed)
    return Outcome(
        task=task,
        scores=judged.scores,
        facts={
            "seconds": seconds,
            "processor_seconds": processor,
            "iterations": len(next(iter(found.history.values()), ())),
            "evaluations": found.effort.evaluations,
            "unknowns": found.effort.unknowns,
            "collocation": found.effort.collocation,
            "peak_bytes": memory.peak,
            "stopped": found.stopped.text,
            "cut_short": found.stopped.cut_short,
            "misfit": found.misfit,
            "relative_noise": _relative_noise(found, given),
            "training": found.provenance.get("training"),
            "code_of_indications": found.provenance.get("code of indications"),
            **judged.facts,
        },
        history=found.history,
        spectrum=judged.spectrum,
        maps=judged.maps,
        stored=found.alpha.astype(np.float32),
        provenance={**provenance(), "code": task.code},
    )


def _relative_noise(found: Reconstruction, given: Sequence) -> float | None:
    """Standard deviation that misfits are measured by, over the amplitude of the flash."""
    amplitude, noise = getattr(given.excitation, "amplitude", None), found.noise_of_frames
    return None if not amplitude or noise is None else float(np.sqrt(np.mean(noise**2))) / float(amplitude)


@cache
def warm_up() -> None:
    """Once per process: tiny reconstructions, so that no task is charged for compiling the kernels."""
    tiny = Simulated(shape=(6, 12, 12), frames=8).sequence("homogeneous", 0)
    for name, iterations in (("fast", 5), ("paper", 1)):
        small = {} if name == "fast" else {"field.width": 8, "field.depth": 5}
        method(name).run(tiny, method(name).settings(small, Budget(iterations=iterations)), Budget())


def limit_threads(threads: int) -> None:
    """Let numba and torch use so many threads; refuses more than numba has in this process."""
    import numba
    import torch
    from numba.core import config

    there = config.NUMBA_NUM_THREADS  # pyright: ignore[reportAttributeAccessIssue]
    if threads > there:
        raise InputError(f"a task wants {threads} threads, this process may use {there}; set NUMBA_NUM_THREADS higher.")
    numba.set_num_threads(threads)
    torch.set_num_threads(threads)
