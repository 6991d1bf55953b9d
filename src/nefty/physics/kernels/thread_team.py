"""A few threads that run one compiled function together and wait for each other inside of it.

A sweep of the solver is hundreds of short steps, each of which needs all of the one before. Starting a parallel loop
for each costs as much as its work. Here the threads stay within one compiled call. A step is cut into chunks of rows; a
thread does its own chunks, then those of threads that are away, and waits until the step is done. So a thread that the
system has taken off its core holds up the others only if it was within a chunk, and one that comes late finds nothing
to do. These are Python's threads, not OpenMP's: none of them spins between two sweeps. See
docs/decisions/020-one-sweep.md and 031-two-threads-are-twice-as-fast.md.
"""

# pyright: reportCallIssue=false

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numba
import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

FEWEST_CELLS = 4096  # for a thread: below, waiting costs more than it saves
CHUNKS = 4  # of each thread
PATIENCE = 2000  # looks before the core is offered to others
FAIRNESS = 100_000  # looks before the chunks of a thread that is at work are taken over: longer than a step
_APART = 8  # counters lie in cache lines of their own

_give_way = types.ExternalFunction("SwitchToThread" if sys.platform == "win32" else "sched_yield", types.int32())


@intrinsic
def _add(typing_context, array, index, value):  # pyright: ignore[reportUnusedParameter]
    """Add ``value`` to array[index] in one piece; who sees it sees all that was written before."""

    def build(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _pointer(context, builder, signature, arguments), arguments[2], "seq_cst")

    return types.int64(array, types.intp, types.int64), build


@intrinsic
def _load(typing_context, array, index):  # pyright: ignore[reportUnusedParameter]
    """array[index], read from memory each time."""

    def build(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(array, types.intp), build


@intrinsic
def _exchange(typing_context, array, index, old, new):  # pyright: ignore[reportUnusedParameter]
    """Set array[index] to ``new`` if it is ``old``, in one piece; whether it was."""

    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        pair = builder.cmpxchg(pointer, arguments[2], arguments[3], "seq_cst", "seq_cst")
        return builder.extract_value(pair, 1)

    return types.boolean(array, types.intp, types.int64, types.int64), build


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = signature.args[0]
    array = context.make_array(kind)(context, builder, value=arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])


@njit(cache=True, nogil=True)
def claim(turns, chunk, step):
    """Whether this chunk of this step is the caller's to do; nobody else will."""
    at = _APART * (1 + chunk)
    return _load(turns, at) == step and _exchange(turns, at, step, step + 1)


@njit(cache=True, nogil=True)
def others_finish(turns, rank, size, chunks, step):
    """Whether the other threads do the rest of a step, of which the caller has done its own chunks.

    Who takes over another's chunk moves its cells from one core's cache to the other's, and moves them back in the next
    step, where the other is late for it; so that two threads were no faster than one, for as long as it went on. Only
    where one has not come to this step at all, or takes far longer than a step, is its work for others.
    """
    for other in range(size):
        if other != rank and _load(turns, _APART * (1 + other * chunks // size)) <= step:
            return False
    looks = 0
    while _load(turns, 0) < (step + 1) * chunks:
        looks += 1
        if looks > FAIRNESS:
            return False
    return True


@njit(cache=True, nogil=True)
def next_chunk(turns, rank, size, chunks, n, step):
    """The chunk that a thread does at its ``n``-th look in a step, n < ``chunks``; -1 if it is not the thread's to do.

    A thread's own chunks come first, then those of threads that are away.
    """
    own = (rank + 1) * chunks // size - rank * chunks // size
    if n == own and others_finish(turns, rank, size, chunks, step):
        return -1
    chunk = (rank * chunks // size + n) % chunks
    return chunk if claim(turns, chunk, step) else -1


@njit(cache=True, nogil=True)
def finish(turns):
    """Say that a claimed chunk is done."""
    _add(turns, 0, 1)


@njit(cache=True, nogil=True)
def wait_for(turns, chunks):
    """Wait until so many chunks have been done since the start."""
    looks = 0
    while _load(turns, 0) < chunks:
        looks += 1
        if looks > PATIENCE:
            _give_way()


class _Worker(threading.Thread):
    """Runs what it is given, one after the other."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="nefty-sweep")
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.start()

    def run(self) -> None:
        while True:
            self.jobs.get()()


_workers: list[_Worker] = []
_busy = threading.Lock()


def _forget() -> None:
    """In a forked process, where the threads are gone."""
    global _busy
    _workers.clear()
    _busy = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def team_size(cells: int, shares: int) -> int:
    """Threads that are worth their barriers for so many cells, which can be cut into so many shares."""
    return max(1, min(numba.get_num_threads(), shares, cells // FEWEST_CELLS))


def run_together(function: Callable[..., Any], size: int, rows: int, *arguments: Any) -> None:
    """Call ``function(rank, size, chunks, turns, *arguments)`` in ``size`` threads at once, until all is done.

    A second caller, in another thread of Python, does all chunks alone instead of waiting.

    Args:
        function: compiled, without the GIL; it goes through the steps by ``next_chunk``, ``finish`` and ``wait_for``,
            and its result does not depend on who did what.
        size: threads, of which the caller is one.
        rows: that can be cut into chunks.
        *arguments: the same for all.
    """
    if size == 1 or not _busy.acquire(blocking=False):
        function(0, 1, 1, np.zeros(2 * _APART, np.int64), *arguments)
        return
    try:
        while len(_workers) < size - 1:
            _workers.append(_Worker())
        chunks = min(rows, CHUNKS * size)
        turns = np.zeros((chunks + 1) * _APART, np.int64)
        for rank in range(1, size):
            _workers[rank - 1].jobs.put(lambda rank=rank: function(rank, size, chunks, turns, *arguments))
        function(0, size, chunks, turns, *arguments)
    finally:
        _busy.release()
