"""``nefty.batch``: reconstruct many recordings with one set of facts, each once, wherever there are processes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.batches.job import Job, perform
from nefty.batches.outcome import Outcome
from nefty.batches.recordings import Listed, list_recordings
from nefty.batches.store import Store
from nefty.batches.summary import write_summary
from nefty.core.cluster.place import Place, connected
from nefty.core.cluster.settle import settle
from nefty.core.cluster.worker import mark, once, reason_of, refuse_unfit
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.errors import InputError, NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.storage.folder_lock import take_folder
from nefty.core.storage.hdf5 import digest
from nefty.data.intake.known import Known
from nefty.data.intake.part_file import read_part_file
from nefty.data.record.record_file import read_record
from nefty.inversion.recipe import load_recipe

Recordings = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
SUMMARY_SECONDS = 60  # after which the summary is written again while the batch runs


@dataclass(frozen=True)
class Step:
    """What a watcher gets after each recording.

    Args:
        outcome: of the recording.
        done: recordings that are settled, those of earlier batches included.
        total: recordings in all.
        kept: how many of those done were settled before.
    """

    outcome: Outcome
    done: int
    total: int
    kept: int


@dataclass(frozen=True)
class Batch:
    """What came out of a batch.

    Args:
        folder: of its runs and its summary.
        listed: its recordings.
        outcomes: of those that are settled, in the order of the recordings.
        waiting: names of those that are not, after Ctrl-C.
        computed: how many were reconstructed, or tried, now.
        interrupted: whether Ctrl-C has ended it.
    """

    folder: Path
    listed: Listed
    outcomes: tuple[Outcome, ...]
    waiting: tuple[str, ...]
    computed: int
    interrupted: bool

    @property
    def without_result(self) -> tuple[Outcome, ...]:
        """Recordings that were not reconstructed; each has its reason."""
        return tuple(one for one in self.outcomes if one.reason)


def batch(
    recordings: Recordings,
    known: Known | None = None,
    *,
    out: str | os.PathLike[str] | None = None,
    recipe: str | Path | Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    place: Place | None = None,
    retries: int = 1,
    fresh: bool = False,
    watch: Callable[[Step], object] = lambda step: None,
    **facts: Any,
) -> Batch:
    """Reconstruct every recording that is not done yet, and write a summary of all.

        done = nefty.batch("scans/", facts="part.toml")
        done.outcomes[0].level, done.outcomes[0].indications, done.without_result

    A recording that cannot be reconstructed never stops the others. What is done stays: the same call goes on after
    Ctrl-C or a crash, and computes only what is new or has changed (file, facts, recipe or code).

    Args:
        recordings: a folder, a pattern such as ``"scans/**/*.tif"``, or a list of files.
        known: what the files do not say, as the command line has it; instead of ``facts``.
        out: folder of the runs and the summary; beside the recordings' folder, its name with ``-batch``, if not given.
        recipe: as ``nefty.reconstruct`` takes it.
        overrides: dotted keys of the recipe and their values.
        place: where to run; as many processes of this machine as there are cores, if not given.
        retries: further attempts after an error that is not the recording's.
        fresh: do everything again.
        watch: called after each recording.
        **facts: what the files do not say, as ``nefty.load`` takes it; ``facts="part.toml"``, ``record=...``.

    Raises:
        InputError: there is no recording, or facts, record or recipe cannot be read.
    """
    if known is not None and facts:
        raise InputError(f"known and {', '.join(sorted(facts))} were both given; say all of it in one way.")
    said = _checked(known if known is not None else Known.of(facts), recipe, overrides)
    listed = list_recordings(recordings)
    store = Store(Path(out).absolute() if out is not None else listed.root.with_name(f"{listed.root.name}-batch"))
    jobs = [Job(listed.name(file), file, said, recipe, overrides or {}, fresh) for file in listed.recordings]
    lock = take_folder(store.folder)
    try:
        return _run(jobs, listed, store, place or Place(), retries, watch)
    finally:
        os.close(lock)


def _checked(known: Known, recipe: Any, overrides: Mapping[str, Any] | None) -> Known:
    """What was said, with whole paths for workers elsewhere; files that all recordings share are read once before."""
    if recipe is not None:
        load_recipe(recipe, overrides)
    values = known.said()
    for name, read in (("facts", read_part_file), ("record", read_record)):
        if (given := getattr(known, name)) is not None:
            read(given)
            values[name] = Path(given).absolute()
    for name in ("mask", "lookup", "heating"):
        if isinstance(values.get(name), (str, os.PathLike)):
            values[name] = Path(values[name]).absolute()
    if str(values.get("material", "")).endswith(".toml"):
        values["material"] = str(Path(values["material"]).absolute())
    return Known(**values, typed=known.typed)


def _run(
    jobs: list[Job], listed: Listed, store: Store, place: Place, retries: int, watch: Callable[[Step], object]
) -> Batch:
    """Do what is left; see ``batch``."""
    mark(store.folder)  # from now on nothing below it is taken for a recording
    settled: dict[str, Outcome] = {}
    left: dict[str, tuple[Job, str]] = {}
    for job in jobs:
        _sort(job, store, settled, left)
    kept, computed, told, interrupted = len(settled), 0, time.monotonic(), False
    if left:
        with Interrupt() as interrupt, connected(place, len(left)) as client:
            for outcome in _work(client, left, store, retries, interrupt):
                settled[outcome.name] = outcome
                computed += outcome.worked
                watch(Step(outcome, len(settled), len(jobs), kept))
                if time.monotonic() - told > SUMMARY_SECONDS:
                    write_summary(store.folder, _ordered(jobs, settled), _waiting(jobs, settled))
                    told = time.monotonic()
            interrupted = interrupt.asked
    outcomes, waiting = _ordered(jobs, settled), _waiting(jobs, settled)
    write_summary(store.folder, outcomes, waiting)
    return Batch(store.folder, listed, outcomes, waiting, computed, interrupted)


def _sort(job: Job, store: Store, settled: dict[str, Outcome], left: dict[str, tuple[Job, str]]) -> None:
    """Put a job to those that are settled or to those that are left."""
    try:
        key = job.key()
    except (NeftyError, OSError) as error:  # its own facts or record cannot be read
        settled[job.name] = Outcome(job.name, "", reason=str(error))
        return
    if job.fresh:
        store.path(job.name).unlink(missing_ok=True)
    found = store.settled(job.name, key)
    if found is None:
        left[job.name] = (job, key)
    else:
        settled[job.name] = found


def _work(
    client: Any, left: dict[str, tuple[Job, str]], store: Store, retries: int, interrupt: Interrupt
) -> Iterator[Outcome]:
    """Submit everything; yields the outcome of each recording when it is there."""
    marker, code = mark(store.folder), code_version_of(*RECONSTRUCTION)
    names = {digest(str(store.folder), name, key)[:32]: name for name, (_, key) in left.items()}  # a scheduler has many
    tasks = {task: (*left[name], str(store.folder), marker, code) for task, name in names.items()}
    for one in settle(client, work_on, tasks, retries=retries, interrupt=interrupt):
        name = names[one.key]
        key, found = left[name][1], store.outcome(name) if one.reason is None else None
        if found is None or found.key != key:
            found = Outcome(name, key, reason=one.reason or "its file was lost or damaged")
            found.save(store.path(name))
        yield found


def work_on(job: Job, key: str, folder: str, marker: str, code: str) -> str | None:
    """On a worker: do a recording that is not settled. Returns why that did not work, or ``None``."""
    store = Store(Path(folder))

    def work() -> None:
        outcome = perform(job, key, store.run(job.name), store.outcome(job.name))
        outcome.save(store.path(job.name))

    try:
        refuse_unfit(store.folder, marker)
        if code_version_of(*RECONSTRUCTION) != code:
            raise NeftyError("this worker has another version of nefty or its libraries; install the same everywhere.")
        once(store.working(job.name), lambda: store.settled(job.name, key) is not None, work)
    except NeftyError as error:
        return str(error)
    except Exception as error:
        return reason_of(error)
    return None


def _ordered(jobs: list[Job], settled: Mapping[str, Outcome]) -> tuple[Outcome, ...]:
    return tuple(settled[job.name] for job in jobs if job.name in settled)


def _waiting(jobs: list[Job], settled: Mapping[str, Outcome]) -> tuple[str, ...]:
    return tuple(job.name for job in jobs if job.name not in settled)
