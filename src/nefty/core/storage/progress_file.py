"""How far a run is, in a file of its folder that anybody may watch: ``progress.json``.

It is replaced as a whole, so that a reader never sees half of it, and at most twice a second. It decides nothing: a
lost or old one only means that nobody was told.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

PROGRESS = "progress.json"
EVERY = 0.5  # seconds between two of them within a stage


@dataclass(frozen=True)
class RunState:
    """Where a run is.

    Args:
        stage: what is being done, such as ``"Optimise"``.
        began: seconds since 1970 at which the stage began.
        told: the same, of this word.
        step: stage of the recipe within it, such as ``"edges"``; empty if it has none.
        done: iterations done.
        total: iterations in all; 0 if the stage does not count any.
        misfit: over the noise floor; NaN is never written, -1 stands for not known.
        left: seconds that the stage still needs, at the pace so far; -1 if not known.
    """

    stage: str
    began: float
    told: float
    step: str = ""
    done: int = 0
    total: int = 0
    misfit: float = -1.0
    left: float = -1.0


class ProgressFile:
    """Writes the state of a run into its folder; a disk that refuses is no reason to stop.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._path, self._state, self._written = folder / PROGRESS, RunState("", 0.0, 0.0), 0.0
        self._first: tuple[float, int] | None = None

    def stage(self, name: str) -> None:
        """A new part of the work begins."""
        now = time.time()
        self._state, self._first = RunState(name, now, now), None
        self._write()

    def progress(self, step: str, done: int, total: int, misfit: float) -> None:
        """So many iterations are done."""
        now = time.time()
        self._first = self._first or (now, done - 1)
        began, before = self._first
        left = (now - began) / max(done - before, 1) * (total - done)
        finite = misfit if abs(misfit) < float("inf") else -1.0
        self._state = dataclasses.replace(
            self._state, told=now, step=step, done=done, total=total, misfit=float(finite), left=left
        )
        if now - self._written >= EVERY or done >= total:
            self._write()

    def _write(self) -> None:
        self._written = time.time()
        passing = self._path.with_name(f".{PROGRESS}.{os.getpid()}")
        with contextlib.suppress(OSError):
            passing.write_text(json.dumps(dataclasses.asdict(self._state), allow_nan=False))
            os.replace(passing, self._path)


def read_state(folder: Path) -> RunState | None:
    """What the run in a folder last said; None if it said nothing, or nothing that can be read."""
    try:
        return RunState(**json.loads((folder / PROGRESS).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
