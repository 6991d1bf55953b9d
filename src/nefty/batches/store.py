"""The folder of a batch.

| path | holds |
|---|---|
| ``runs/NAME/`` | the run of a recording: result, report, pictures |
| ``outcomes/NAME.json`` | what became of it |
| ``working/NAME/`` | locked by the worker that is at it |
| ``summary.html``, ``.csv``, ``.json``, ``indications.csv`` | all of them in short |
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nefty.batches.outcome import Outcome
from nefty.core.storage.run_folder import RESULT
from nefty.report.run_files import REPORT


@dataclass(frozen=True)
class Store:
    """Where the things of a batch are; names are those of recordings."""

    folder: Path

    def run(self, name: str) -> Path:
        """The folder of a run."""
        return self.folder / "runs" / name

    def working(self, name: str) -> Path:
        """The folder that is locked by the worker."""
        return self.folder / "working" / name

    def path(self, name: str) -> Path:
        """The file of an outcome."""
        return self.folder / "outcomes" / f"{name}.json"

    def outcome(self, name: str) -> Outcome | None:
        """What became of a recording, if that is known."""
        return Outcome.load(self.path(name))

    def settled(self, name: str, key: str) -> Outcome | None:
        """The outcome of exactly this work, if nothing of it is left to do and its files are there."""
        found, run = self.outcome(name), self.run(name)
        if found is None or found.key != key or not found.settled:
            return None
        return found if found.reason or ((run / REPORT).exists() and (run / RESULT).exists()) else None
