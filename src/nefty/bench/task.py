"""One task of a suite: draw a specimen, record it, recover it by one method, score it. Its outcome is a file."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.code_version import code_version
from nefty.bench.reconstructors import Budget, method
from nefty.bench.resident_memory import PeakMemory
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.core.hdf5 import digest, read_hdf5, write_hdf5
from nefty.core.provenance import provenance

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence
    from nefty.synth.specimen import Specimen

KIND = "outcome"
SLAB = (1.0, 10.0, 10.0)  # edge lengths (z, y, x) of the paper's slab
SPAN = 5.0  # time of its last frame


@dataclass(frozen=True)
class Recording:
    """How specimens are drawn and recorded.

    Args:
        engine: simulator.
        noise: standard deviation of camera noise, as a share of the peak.
        gain: standard deviation of the pixels' gains.
        safety: of the explicit time step; the engine's if not given.
        shape: cells (z, y, x).
        frames: number of frames, equally spaced, the last at t = 5.
        defects: how many, in place of a drawn number.
        ranges: of what is drawn, in place of those of ``nefty.synth.specimen.Ranges``.
    """

    engine: str = "explicit"
    noise: float = 0.0
    gain: float = 0.0
    safety: float | None = None
    shape: tuple[int, int, int] = (16, 64, 64)
    frames: int = 100
    defects: int | None = None
    ranges: Mapping[str, Any] = field(default_factory=dict)

    def specimen(self, kind: str, seed: int) -> Specimen:
        """The specimen of a seed."""
        from nefty.synth.specimen import Ranges, draw_specimen

        values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in self.ranges.items()}
        return draw_specimen(seed, kind, size=SLAB, defects=self.defects, ranges=Ranges(**values))

    def sequence(self, kind: str, seed: int, *, clean: bool = False) -> Sequence:
        """Its recording; ``clean`` without noise and with equal gains."""
        from nefty.synth.camera import Camera
        from nefty.synth.recording import simulate

        return simulate(
            self.specimen(kind, seed),
            camera=Camera() if clean else Camera(noise=self.noise, gain=self.gain),
            seed=seed,
            engine=self.engine,
            safety=self.safety,
            grid=Grid(self.shape, SLAB),
            times=SPAN / self.frames * np.arange(1, self.frames + 1),
        )


@dataclass(frozen=True)
class Task:
    """A specimen, a method and a budget; plain values, so that it travels to other machines as JSON.

    Args:
        recording: how the data are made.
        kind: of specimen.
        seed: of specimen.
        method: name.
        settings: all of the method's, resolved.
        budget: of the reconstruction.
        threads: that it may use.
    """

    recording: Recording
    kind: str
    seed: int
    method: str
    settings: Mapping[str, Any]
    budget: Budget = field(default_factory=Budget)
    threads: int = 1

    def as_dict(self) -> dict[str, Any]:
        """Plain values; see ``from_dict``."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Task:
        """The task that ``values`` were taken of."""
        recording = {**values["recording"], "shape": tuple(values["recording"]["shape"])}
        return Task(**{**values, "recording": Recording(**recording), "budget": Budget(**values["budget"])})

    @property
    def key(self) -> str:
        """Hash of everything that decides the outcome: all of the above and the code."""
        plain = {**self.as_dict(), "settings": {k: v for k, v in self.settings.items() if k != "summary"}}
        return digest(code_version(), plain)[:24]

    def __str__(self) -> str:
        return f"{self.method}, {self.kind} {self.seed}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came out of a task.

    Args:
        task: that was done.
        scores: metrics by name; ``None`` where one is not defined. See ``docs/metrics.md``.
        facts: ``seconds``, ``iterations``, ``evaluations``, ``unknowns``, ``peak_bytes``, ``stopped``, ``misfit``,
            ``defects`` and ``strata`` of the specimen, ``defects_found``, ``top_errors`` (of the depths to the tops of
            the found defects, in cells), ``bulk_error`` (relative).
        history: of the optimisation: ``objective``, ``misfit``, ``seconds`` and others, one entry per iteration.
        spectrum: ``frequency``, ``found`` and ``true`` power.
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
    from nefty.metrics.score import evaluate
    from nefty.metrics.spectrum import radial_spectrum
    from nefty.metrics.surface import surface_score
    from nefty.report.findings import Findings

    limit_threads(task.threads)
    warm_up()
    specimen = task.recording.specimen(task.kind, task.seed)
    sequence = task.recording.sequence(task.kind, task.seed)
    assert sequence.truth is not None
    with PeakMemory() as memory:
        started = time.perf_counter()
        found = method(task.method).run(sequence, task.settings, task.budget)
        seconds = time.perf_counter() - started
    disturbed = task.recording.noise > 0 or task.recording.gain > 0
    clean = task.recording.sequence(task.kind, task.seed, clean=True) if disturbed else sequence
    surface = surface_score(found.alpha, sequence, clean.frames, refine=1)
    pairs = [(f, t) for f, t in Findings(found).pairs if f is not None and t is not None]
    bulk = found.provenance.get("bulk diffusivity")
    spectra = [radial_spectrum(volume, sequence.truth, found.grid.size) for volume in (found.alpha, sequence.truth)]
    return Outcome(
        task=task,
        scores={
            **{k: v for k, v in evaluate(found, sequence.truth).as_dict().items() if _is_mark(v)},
            "surface_mse": surface.mse,
            "surface_psnr": surface.psnr if math.isfinite(surface.psnr) else None,
        },
        facts={
            "seconds": seconds,
            "iterations": len(next(iter(found.history.values()), ())),
            "evaluations": int(found.provenance.get("evaluations", 0)),
            "unknowns": int(found.provenance.get("unknowns", "0").replace(",", "")),
            "peak_bytes": memory.peak,
            "stopped": found.stopped,
            "misfit": found.misfit,
            "defects": len(specimen.defects),
            "strata": len(specimen.bulk),
            "defects_found": len(pairs),
            "top_errors": [abs(f.depth_to_top - t.depth_to_top) / found.grid.spacing[0] for f, t in pairs],
            "bulk_error": None if bulk is None else float(bulk) / specimen.bulk[0] - 1,
        },
        history=found.history,
        spectrum={"frequency": spectra[0].frequencies, "found": spectra[0].power, "true": spectra[1].power},
        stored=found.alpha.astype(np.float32),
        provenance={**provenance(), "code": code_version()},
    )


@cache
def warm_up() -> None:
    """Once per process: tiny reconstructions, so that no task is charged for compiling the kernels."""
    tiny = Recording(shape=(6, 12, 12), frames=8).sequence("homogeneous", 0)
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


def _is_mark(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isfinite(value))
