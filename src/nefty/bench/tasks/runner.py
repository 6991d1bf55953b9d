"""Runs the tasks of a suite on a Dask cluster. A result is a file; what has one is never computed again.

Workers write the files themselves, so the folder must be one that all of them see. A worker that dies takes nothing
but the tasks it was working on, which go to another one.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.bench.tasks.cluster import Place, connected
from nefty.bench.tasks.task import Entry, Outcome, Task, perform
from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.storage.files import write_atomic
from nefty.core.storage.folder_lock import FolderInUseError, take_folder

POLL_SECONDS = 0.5
MARKER = ".nefty-results"


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
    marker = write_atomic(store.folder / MARKER, f"{time.time_ns()}\n").read_text(encoding="utf-8")
    settled: queue.Queue[Any] = queue.Queue()
    waiting: dict[Any, tuple[str, int]] = {}

    def submit(key: str, attempt: int) -> None:
        task = left[key].task
        text = json.dumps(task.as_dict())
        future = client.submit(
            work_on, text, str(store.folder), marker, task.code, key=f"nefty-{key}-{attempt}", pure=False
        )
        waiting[future] = (key, attempt)
        future.add_done_callback(settled.put)

    for key in left:
        submit(key, 1)
    while waiting and not interrupt.asked:
        try:
            future = settled.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        key, attempt = waiting.pop(future)
        reason = _reason(future)
        future.release()
        if reason is None:
            store.failure(key).unlink(missing_ok=True)
            yield key, None
        elif attempt <= retries and client.status == "running":
            submit(key, attempt + 1)
        else:
            record = {"task": left[key].task.as_dict(), "reason": reason, "attempts": attempt}
            write_atomic(store.failure(key), json.dumps(record, indent=1) + "\n")
            yield key, Failure(left[key], reason, attempt)
    if waiting and client.status == "running":
        client.cancel(list(waiting))


def _reason(future: Any) -> str | None:
    """Why a task did not succeed; ``None`` if it did."""
    from distributed import KilledWorker

    if future.status == "finished":
        return future.result()
    error = future.exception() if future.status == "error" else None
    if isinstance(error, KilledWorker):
        return "its worker process died each time, most likely for lack of memory; give workers more, or use fewer"
    return f"the cluster lost it ({future.status}); is its scheduler still there?"


def work_on(text: str, folder: str, marker: str, code: str) -> str | None:
    """On a worker: do a task whose result is not there, and write it. Returns why that failed, or ``None``."""
    try:
        store, task = Store(folder), Task.from_dict(json.loads(text))
        _refuse_unfit(store, marker, task, code)
        while not store.result(task.key).exists():
            try:
                lock = take_folder(store.folder / "working" / task.key)
            except FolderInUseError:  # a worker of a run that was stopped is still at it
                time.sleep(POLL_SECONDS)
                continue
            try:
                if not store.result(task.key).exists():
                    store.note("begin", task.key)
                    perform(task).save(store.result(task.key))
                    store.note("done", task.key)
            finally:
                os.close(lock)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, NeftyError) else f" (in {Path(last.filename).name}, line {last.lineno})"
        return f"{type(error).__name__}: {error}{where}"
    return None


def _refuse_unfit(store: Store, marker: str, task: Task, code: str) -> None:
    """Raise if this worker would spoil the results."""
    from distributed import get_worker

    mark = store.folder / MARKER
    if not mark.is_file() or mark.read_text(encoding="utf-8") != marker:
        raise NeftyError(
            f"this worker does not see the folder {store.folder}; use one on a disk that all workers share."
        )
    if task.code != code:
        raise NeftyError(
            f"this worker has another version of nefty, its libraries or the package of {task.method!r}; install the "
            "same everywhere."
        )
    threads = get_worker().state.nthreads
    if threads != 1:
        raise NeftyError(
            f"this worker does {threads} tasks at a time in one process, which disturb each other; start it with "
            "--nthreads 1, and more of them with --nworkers."
        )
