"""Making data sets: many recordings at a time, in processes of one thread each, and going on where one stopped."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nefty.core.checks import count
from nefty.core.errors import InputError, NeftyError
from nefty.core.interrupt import Interrupt, ctrl_c_kept_from_children
from nefty.core.provenance import usable_cores, versions
from nefty.core.storage.files import TEMPORARY
from nefty.core.storage.folder_lock import take_folder
from nefty.data.read import read
from nefty.synth.data_set import INDEX, DataPlan, DataSet, Entry, content_digest, read_index, write_index
from nefty.synth.engines import ENGINES

INDEX_EVERY = 2.0  # seconds between two writes of the index
LOOK_EVERY = 0.1  # seconds between two looks for Ctrl-C

_stop: Any = None  # in a worker: the event that says to leave


class _Stopped(Exception):
    """A recording was left because all shall end."""


@dataclass(frozen=True)
class _Task:
    plan: DataPlan
    seed: int
    file: Path
    listed: Entry | None


def write_data_set(
    folder: str | os.PathLike[str],
    seeds: Iterable[int],
    plan: DataPlan | None = None,
    *,
    processes: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> DataSet:
    """Simulate a recording per seed into ``folder``, and list them in its ``index.json``.

    Files that are there and hold what the plan makes of their seed are kept, so that the same call goes on with a data
    set that was stopped or killed, and one with more seeds extends it. Ctrl-C leaves what is done and raises
    ``KeyboardInterrupt``. With more than one process, a script needs ``if __name__ == "__main__":`` around the call.

    Args:
        folder: made if it is not there; one plan per folder.
        seeds: of the specimens, such as ``range(1000)``.
        plan: what is made; homogeneous parts, the paper's setup in float32 without noise if not given.
        processes: recordings at a time, one thread each; all cores if not given. With 1 it works in this process.
        progress: called with (recordings there, of those asked for).

    Returns:
        All that is in the folder.

    Raises:
        InputError: the folder holds a data set of another plan, or files in the way.
        NeftyError: another process works in it, it cannot be written, or the disk is full; what is done stays.
    """
    plan = DataPlan() if plan is None else plan
    if not isinstance(plan, DataPlan):
        raise InputError(f"plan={plan!r} must be a nefty.DataPlan(...).")
    wanted = sorted({count("seed", seed, at_least=0) for seed in seeds})
    if not wanted:
        raise InputError("no seeds were given; use for example range(1000).")
    processes = usable_cores() if processes is None else count("processes", processes)
    ENGINES[plan.setup.engine].refuse_missing()
    path = Path(folder)
    lock = take_folder(path)
    try:
        found = read_index(path)
        if found is not None:
            _refuse_another(found, plan)
        for name in (INDEX, plan.name(0).replace("-0.h5", "-*.h5")):
            for litter in path.glob(TEMPORARY.format(name=name)):
                litter.unlink(missing_ok=True)
        known = {} if found is None else {entry.seed: entry for entry in found.entries}
        tasks = [_Task(plan, seed, path / plan.name(seed), known.get(seed)) for seed in wanted]
        _run(tasks, known, min(processes, len(tasks)), progress)
        return DataSet(path, plan.settings(), known.values())
    finally:
        os.close(lock)


def _run(
    tasks: list[_Task], known: dict[int, Entry], processes: int, progress: Callable[[int, int], object] | None
) -> None:
    """Work off the tasks, enter what comes into ``known`` and keep the index up to date."""
    plan, path = tasks[0].plan, tasks[0].file.parent
    libraries = versions()
    written = time.perf_counter()
    with Interrupt() as stop:
        work = (_in_this_process if processes == 1 else _in_processes)(tasks, processes, stop)
        try:
            with contextlib.closing(work):
                for done, entry in enumerate(work, start=1):
                    known[entry.seed] = entry
                    if progress is not None:
                        progress(done, len(tasks))
                    if time.perf_counter() - written > INDEX_EVERY:
                        write_index(DataSet(path, plan.settings(), known.values()), libraries)
                        written = time.perf_counter()
        except BaseException:
            with contextlib.suppress(NeftyError):  # a full disk is reported by the error that is under way
                write_index(DataSet(path, plan.settings(), known.values()), libraries)
            raise
        write_index(DataSet(path, plan.settings(), known.values()), libraries)


def _in_this_process(tasks: list[_Task], processes: int, stop: Interrupt) -> Generator[Entry, None, None]:
    for task in tasks:
        try:
            yield _make(task, lambda: stop.asked)
        except _Stopped:
            raise KeyboardInterrupt from None


def _in_processes(tasks: list[_Task], processes: int, stop: Interrupt) -> Generator[Entry, None, None]:
    context = multiprocessing.get_context("spawn")
    leave = context.Event()
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=(leave,))
    try:
        with ctrl_c_kept_from_children():
            waiting: set[Future[Entry]] = {pool.submit(_work, task) for task in tasks}
        while waiting:
            done, waiting = wait(waiting, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            if stop.asked and waiting:
                leave.set()
                last, _ = wait({future for future in waiting if not future.cancel()})
                for future in last:  # files that were being written
                    with contextlib.suppress(_Stopped):
                        yield future.result()
                raise KeyboardInterrupt
    except BrokenProcessPool:
        raise NeftyError(
            "a process that simulates ended before its time: the memory was full, or the script that called lacks "
            "\"if __name__ == '__main__':\" around its calls. Use fewer processes, or processes=1."
        ) from None
    finally:
        leave.set()
        pool.shutdown(cancel_futures=True)


def _begin(leave: Any) -> None:
    """Prepare a worker: one thread, no Ctrl-C of its own, and no life after the process that started it."""
    global _stop
    import numba

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    numba.set_num_threads(1)
    _stop = leave


def _end_with_the_parent() -> None:
    """Without it, a killed parent leaves workers behind that wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(task: _Task) -> Entry:
    if ENGINES[task.plan.setup.engine].package is not None:
        import torch

        torch.set_num_threads(1)
    return _make(task, _stop.is_set)


def _make(task: _Task, stop: Callable[[], bool]) -> Entry:
    """The entry of a file, which is made unless it is there already."""

    def leave(*_: int) -> None:
        if stop():
            raise _Stopped

    leave()
    found = _existing(task)
    if found is not None:
        return found
    started = time.perf_counter()
    try:
        sequence = task.plan.make(task.seed, leave)
    except InputError as error:
        raise InputError(f"seed {task.seed}: {error}") from None
    seconds = time.perf_counter() - started
    sequence.save(task.file)
    return Entry.of(task.file.name, sequence, seconds)


def _existing(task: _Task) -> Entry | None:
    """The entry of a file that holds what it shall; ``None`` if it is to be made."""
    if not task.file.exists():
        return None
    try:
        sequence = read(task.file)
        good = task.plan.matches(sequence, task.seed)
    except InputError:
        sequence, good = None, False
    if task.listed is not None:
        return task.listed if good and sequence and content_digest(sequence) == task.listed.digest else None
    if not good or sequence is None:
        raise InputError(f"{task.file} is in the way: it holds another recording. Move it, or choose another folder.")
    return Entry.of(task.file.name, sequence, 0.0)


def _refuse_another(found: DataSet, plan: DataPlan) -> None:
    old, new = _flat(found.settings), _flat(plan.settings())
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            raise InputError(
                f"{found.path} holds a data set of other settings: {name} is {_short(old.get(name))} there and "
                f"{_short(new.get(name))} now. Choose another folder."
            )


def _flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Keys with dots between levels."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
