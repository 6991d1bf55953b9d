"""What happens on a worker: it must be fit for the work, does each task once, and says why one failed."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from nefty.core.errors import NeftyError
from nefty.core.storage.files import write_atomic
from nefty.core.storage.folder_lock import FolderInUseError, take_folder

MARKER = ".nefty-results"
WAIT_SECONDS = 0.5


def mark(folder: Path) -> str:
    """Mark a folder of results, so that workers can tell that they see the same; returns the mark."""
    return write_atomic(folder / MARKER, f"{time.time_ns()}\n").read_text(encoding="utf-8")


def refuse_unfit(folder: Path, marker: str) -> None:
    """Raise if this worker does not see the folder, or does several tasks in one process."""
    from distributed import get_worker

    there = folder / MARKER
    if not there.is_file() or there.read_text(encoding="utf-8") != marker:
        raise NeftyError(f"this worker does not see the folder {folder}; use one on a disk that all workers share.")
    threads = get_worker().state.nthreads
    if threads != 1:
        raise NeftyError(
            f"this worker does {threads} tasks at a time in one process, which disturb each other; start it with "
            "--nthreads 1, and more of them with --nworkers."
        )


def once(lock: Path, is_done: Callable[[], bool], work: Callable[[], object]) -> None:
    """Work, unless it is done; where a worker of a run that was stopped is still at it, wait for that one.

    Args:
        lock: a folder that is locked by the one that is at it.
        is_done: whether there is nothing left to do.
        work: what to do.
    """
    while not is_done():
        try:
            handle = take_folder(lock)
        except FolderInUseError:
            time.sleep(WAIT_SECONDS)
            continue
        try:
            if not is_done():
                work()
            return
        finally:
            os.close(handle)


def reason_of(error: Exception) -> str:
    """An error in a line; of one that nefty did not foresee also where it came from."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = "" if isinstance(error, NeftyError) else f" (in {Path(last.filename).name}, line {last.lineno})"
    return f"{type(error).__name__}: {error}{where}"
