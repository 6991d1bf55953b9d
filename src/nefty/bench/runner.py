"""Runs the tasks of a suite on a Dask cluster. A result is a file; what has one is never computed again.

Workers write the files themselves, so the folder must be one that all of them see. A worker that dies takes nothing
but the tasks it was working on, which go to another one.
"""

from __future__ import annotations

import json
import os
import platform
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.bench.cluster import Place, connected
from nefty.bench.code_version import code_version
from nefty.bench.suite import Entry
from nefty.bench.task import Outcome, Task, perform
from nefty.core.errors import NeftyError
from nefty.core.files import write_atomic
from nefty.core.folder_lock import take_folder
from nefty.core.interrupt import Interrupt

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Failure:
    """A task that did not succeed: why, and how often it was tried."""

    entry: Entry
    reason: str
    attempts: int


@dataclass(frozen=True)
class Step:
    """What a watcher is told after each task: the task, what became of it, and how many are left."""

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
        failed: tasks that did not succeed.
        computed: how many were computed now; the others were there.
        interrupted: whether Ctrl-C has ended it.
    """

    done: Sequence[tuple[Entry, Outcome]]
    failed: Sequence[Failure]
    computed: int
    interrupted: bool


class Store:
    """The folder of results: ``results/KEY.h5``, ``failures/KEY.json``, and ``logs/HOST-PROCESS.jsonl``, in which every
    worker notes what it computed.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()

    def result(self, key: str) -> Path:
        """The file of an outcome."""
        return self.folder / "results" / f"{key}.h5"

    def failure(self, key: str) -> Path:
        """The file that says why there is none."""
        return self.folder / "failures" / f"{key}.json"

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
        by_key = {entry.task.key: entry for entry in entries}
        left = {key: entry for key, entry in by_key.items() if not store.result(key).exists()}
        failed: dict[str, Failure] = {}
        interrupted = False
        if left:
            with Interrupt() as interrupt, connected(place, len(left)) as client:
                total, done = len(by_key), len(by_key) - len(left)
                for key, failure in _work(client, left, store, retries, interrupt):
                    outcome = None if failure else Outcome.load(store.result(key))
                    if failure:
                        failed[key] = failure
                    done += 1
                    watch(Step(left[key], outcome, failure, done, total))
                interrupted = interrupt.asked
        there = [(entry, entry.task.key) for entry in entries]
        kept = {key: Outcome.load(store.result(key)) for key in by_key if store.result(key).exists()}
        computed = sum(key in kept for key in left)
        return Finished(
            [(entry, kept[key]) for entry, key in there if key in kept],
            list(failed.values()),
            computed,
            interrupted,
        )
    finally:
        os.close(lock)


def _work(
    client: Any, left: dict[str, Entry], store: Store, retries: int, interrupt: Interrupt
) -> Iterator[tuple[str, Failure | None]]:
    """Submit everything; yields each key when it is settled."""
    from distributed import wait

    marker = write_atomic(store.folder / ".nefty-results", f"{time.time_ns()}\n").read_text(encoding="utf-8")

    def submit(key: str, attempt: int) -> Any:
        text = json.dumps(left[key].task.as_dict())
        name = f"nefty-{key}-{attempt}"
        return client.submit(work_on, text, str(store.folder), marker, code_version(), key=name, pure=False)

    waiting = {submit(key, 1): (key, 1) for key in left}
    while waiting and not interrupt.asked:
        try:
            settled: Any = wait(list(waiting), timeout=POLL_SECONDS, return_when="FIRST_COMPLETED")
        except TimeoutError:
            continue
        for future in settled.done:
            key, attempt = waiting.pop(future)
            reason = _reason(future)
            future.release()
            if reason is not None and attempt <= retries and not interrupt.asked:
                waiting[submit(key, attempt + 1)] = (key, attempt + 1)
            elif reason is None:
                store.failure(key).unlink(missing_ok=True)
                yield key, None
            else:
                failure = Failure(left[key], reason, attempt)
                record = {"task": left[key].task.as_dict(), "reason": reason, "attempts": attempt}
                write_atomic(store.failure(key), json.dumps(record, indent=1) + "\n")
                yield key, failure
    client.cancel(list(waiting))


def _reason(future: Any) -> str | None:
    """Why a task did not succeed; ``None`` if it did."""
    from distributed import KilledWorker

    if future.status == "finished":
        return future.result()
    error = future.exception() if future.status == "error" else None
    if isinstance(error, KilledWorker):
        return "its worker process died each time, most likely for lack of memory; give workers more, or use fewer"
    return f"the cluster lost it ({future.status}): {error}"


def work_on(text: str, folder: str, marker: str, code: str) -> str | None:
    """On a worker: do a task whose result is not there, and write it. Returns why that failed, or ``None``."""
    try:
        store = Store(folder)
        mark = store.folder / ".nefty-results"
        if not mark.is_file() or mark.read_text(encoding="utf-8") != marker:
            raise NeftyError(f"this worker does not see the folder {folder}; use one on a disk that all workers share.")
        if code_version() != code:
            raise NeftyError("this worker has another version of nefty or its libraries; install the same everywhere.")
        task = Task.from_dict(json.loads(text))
        path = store.result(task.key)
        if not path.exists():
            store.note("begin", task.key)
            perform(task).save(path)
            store.note("done", task.key)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, NeftyError) else f" (in {Path(last.filename).name}, line {last.lineno})"
        return f"{type(error).__name__}: {error}{where}"
    return None
