"""Runs the tasks of a suite on a Dask cluster. A result is a file; what has one is never computed again.

Workers write the files themselves, so the folder must be one that all of them see. A worker that dies takes nothing
but the tasks it was working on, which go to another one.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.bench.tasks.task import Entry, Outcome, Task, perform
from nefty.core.cluster.place import Place, connected
from nefty.core.cluster.settle import settle
from nefty.core.cluster.worker import mark, once, reason_of, refuse_unfit
from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.storage.files import write_atomic
from nefty.core.storage.folder_lock import take_folder


@dataclass(frozen=True)
class Failure:
    """A task that did not succeed: why, and how often it was tried."""

    entry: Entry
    reason: str
    attempts: int


@dataclass(frozen=True)
class Step:
    """What a watcher is told after each task: the task, what became of it, and how many are done."""

    entry: Entry
    outcome: Outcome | None
    failure: Failure | None
    done: int
    total: int


@dataclass(frozen=True, eq=False)
class Finished:
    """All of a suite that there is.

    Args:
        done: entries with their outcomes, in the suite's order.
        failed: entries that did not succeed.
        computed: how many tasks were computed now; the others were there.
        interrupted: whether Ctrl-C has ended it.
    """

    done: Sequence[tuple[Entry, Outcome]]
    failed: Sequence[Failure]
    computed: int
    interrupted: bool


class Store:
    """The folder of results.

    ``results/KEY.h5`` are outcomes, ``failures/KEY.json`` says why there is none, in ``logs/HOST-PROCESS.jsonl`` every
    worker notes what it computed, and ``working/KEY`` is locked by the one that is at it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()

    def result(self, key: str) -> Path:
        """The file of an outcome."""
        return self.folder / "results" / f"{key}.h5"

    def failure(self, key: str) -> Path:
        """The file that says why there is none."""
        return self.folder / "failures" / f"{key}.json"

    def outcome(self, key: str) -> Outcome | None:
        """The outcome, if there is one. A file that cannot be read, or holds another task, is put aside."""
        path = self.result(key)
        if not path.exists():
            return None
        try:
            found = Outcome.load(path)
            if found.task.key == key:
                return found
        except (NeftyError, TypeError, KeyError):
            pass
        path.replace(path.with_suffix(".h5.damaged"))
        return None

    def note(self, event: str, key: str) -> None:
        """Add a line to this process's log."""
        logs = self.folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"time": time.time(), "event": event, "key": key})
        with open(logs / f"{platform.node()}-{os.getpid()}.jsonl", "a", encoding="utf-8") as log:
            log.write(line + "\n")


def run_tasks(
    entries: Sequence[Entry],
    folder: str | Path,
    place: Place | None = None,
    *,
    retries: int = 1,
    watch: Callable[[Step], object] = lambda step: None,
) -> Finished:
    """Do every task that has no result yet.

    Args:
        entries: the tasks; equal ones are done once.
        folder: for the results.
        place: where to run.
        retries: further attempts after an error.
        watch: told after each task.
    """
    place, store = place or Place(), Store(folder)
    lock = take_folder(store.folder)
    try:
        keys = [entry.task.key for entry in entries]
        first = dict(zip(keys, entries, strict=True))
        kept = {key: outcome for key in first if (outcome := store.outcome(key)) is not None}
        left = {key: entry for key, entry in first.items() if key not in kept}
        failed: dict[str, Failure] = {}
        interrupted = False
        if left:
            with Interrupt() as interrupt, connected(place, len(left)) as client:
                for key, failure in _work(client, left, store, retries, interrupt):
                    outcome = None if failure else store.outcome(key)
                    if outcome is not None:
                        kept[key] = outcome
                    else:
                        failed[key] = failure or Failure(left[key], "its file was lost or damaged", 1)
                    step = Step(left[key], outcome, failed.get(key), len(kept) + len(failed), len(first))
                    watch(step)
                interrupted = interrupt.asked
        return Finished(
            [(entry, kept[key]) for entry, key in zip(entries, keys, strict=True) if key in kept],
            [
                Failure(entry, failed[key].reason, failed[key].attempts)
                for entry, key in zip(entries, keys, strict=True)
                if key in failed
            ],
            sum(key in kept for key in left),
            interrupted,
        )
    finally:
        os.close(lock)


def _work(
    client: Any, left: dict[str, Entry], store: Store, retries: int, interrupt: Interrupt
) -> Iterator[tuple[str, Failure | None]]:
    """Submit everything; yields each key when it is settled."""
    marker = mark(store.folder)
    tasks = {
        key: (json.dumps(entry.task.as_dict()), str(store.folder), marker, entry.task.code)
        for key, entry in left.items()
    }
    for one in settle(client, work_on, tasks, retries=retries, interrupt=interrupt):
        if one.reason is None:
            store.failure(one.key).unlink(missing_ok=True)
            yield one.key, None
        else:
            record = {"task": left[one.key].task.as_dict(), "reason": one.reason, "attempts": one.attempts}
            write_atomic(store.failure(one.key), json.dumps(record, indent=1) + "\n")
            yield one.key, Failure(left[one.key], one.reason, one.attempts)


def work_on(text: str, folder: str, marker: str, code: str) -> str | None:
    """On a worker: do a task whose result is not there, and write it. Returns why that failed, or ``None``."""
    try:
        store, task = Store(folder), Task.from_dict(json.loads(text))
        refuse_unfit(store.folder, marker)
        if task.code != code:
            raise NeftyError(
                f"this worker has another version of nefty, its libraries or the package of {task.method!r}; install "
                "the same everywhere."
            )
        once(store.folder / "working" / task.key, store.result(task.key).exists, lambda: _compute(store, task))
    except Exception as error:
        return reason_of(error)
    return None


def _compute(store: Store, task: Task) -> None:
    store.note("begin", task.key)
    perform(task).save(store.result(task.key))
    store.note("done", task.key)
