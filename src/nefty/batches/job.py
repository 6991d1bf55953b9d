"""One recording of a batch: what decides its outcome, and the work on it."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from nefty import __version__
from nefty.batches.outcome import Outcome, outcome_of
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.hdf5 import digest
from nefty.core.storage.run_folder import OtherRunError
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.data.intake.part_file import FILES, with_files
from nefty.data.record.record_file import find_record
from nefty.data.sequence import Sequence
from nefty.inversion.recipe import load_recipe
from nefty.inversion.reconstruct import Watch, reconstruct
from nefty.report.run_files import are_written, remove_files, write_files
from nefty.result.reconstruction import Reconstruction

CHUNK = 2**20  # bytes


@dataclass(frozen=True, eq=False)
class Job:
    """A recording and what was said of it.

    Args:
        name: from the root of the batch.
        file: the recording.
        known: what the user said; files of facts beside the recording are joined with it by the worker.
        recipe: a name, a .toml file or a mapping; chosen by the recording if not given.
        overrides: dotted keys of the recipe and their values.
        fresh: start over.
    """

    name: str
    file: Path
    known: Known
    recipe: str | Path | Mapping[str, Any] | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    fresh: bool = False

    def key(self) -> str:
        """Hash of all that decides the outcome and the report. The recording itself counts by size and dates alone: a
        file that was only touched is read again, and its run finds that it is the same.
        """
        known, _ = with_files(self.file, self.known)
        record, _ = find_record(self.file, self.known.record)
        recipe = None if self.recipe is None else load_recipe(self.recipe, self.overrides).model_dump(mode="json")
        return digest(
            {
                "file": stamp(self.file),
                "facts": {name: _plain(name, value) for name, value in known.given().items()},
                "record": None if record is None else record.model_dump(mode="json"),
                "recipe": recipe,
                "overrides": None if recipe is not None else {key: repr(v) for key, v in self.overrides.items()},
                "code": [__version__, code_version_of(*RECONSTRUCTION)],
            }
        )


def stamp(path: Path) -> list[str]:
    """Size and dates of a file, or of all files in a folder: others, if anybody wrote to it."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    found = [(file.name, file.stat()) for file in files]
    return [f"{name} {s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}" for name, s in found]


def perform(job: Job, key: str, run: Path, before: Outcome | None) -> Outcome:
    """Reconstruct a recording in its run's folder and write the report, or see that both are there.

    What is wrong with the file or its facts is an outcome, too; other errors are the caller's.

    Args:
        job: what to do.
        key: of the job.
        run: the folder.
        before: the outcome that is kept of it, if any.
    """
    began = time.perf_counter()
    try:
        sequence = take_in(job.file, job.known).complete()
        rec, worked = _reconstructed(job, sequence, run)
    except InputError as error:
        return Outcome(job.name, key, reason=str(error), lasting=True, worked=True, seconds=time.perf_counter() - began)
    if worked or not are_written(run):
        write_files(rec, run)
    seconds = time.perf_counter() - began
    if not worked and before is not None and not before.reason:
        seconds = before.seconds
    return outcome_of(rec, job.name, key, seconds=seconds, worked=worked)


def _reconstructed(job: Job, sequence: Sequence, run: Path) -> tuple[Reconstruction, bool]:
    """The result, and whether something was computed for it; a run of other facts, recipe or code makes way."""
    stages: list[str] = []

    def begin(name: str) -> None:
        if not stages:
            remove_files(run)  # of the run before, or of this one as far as it went
        stages.append(name)

    def attempt(fresh: bool) -> Reconstruction:
        watch = Watch(stage=begin)
        return reconstruct(sequence, recipe=job.recipe, overrides=job.overrides, run=run, fresh=fresh, watch=watch)

    try:
        rec = attempt(job.fresh)
    except OtherRunError:
        rec = attempt(True)
    return rec, bool(stages)


def _plain(name: str, value: Any) -> Any:
    """A fact as something that can be hashed; a file by its content."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain("", getattr(value, f.name)) for f in fields(value)}
    names_file = name in FILES or (name == "material" and str(value).endswith(".toml"))
    if names_file and isinstance(value, (str, os.PathLike)):
        return _content(Path(value))
    if isinstance(value, (list, tuple)):
        return [_plain("", one) for one in value]
    return value if isinstance(value, np.ndarray) else str(value)


def _content(path: Path) -> str:
    """Hash of a small file that a fact names."""
    found = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(CHUNK):
                found.update(block)
    except OSError as error:
        raise NeftyError(f"cannot read {path}: {error.strerror or error}.") from error
    return found.hexdigest()
