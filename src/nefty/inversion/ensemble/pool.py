"""Members on all cores: worker processes of one thread each, or this process."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt, ctrl_c_kept_from_children
from nefty.inversion.ensemble.member import Member

LOOK_EVERY = 0.2  # seconds between looks for Ctrl-C


class First(Protocol):
    """What all members share, and what makes one of them; the same number gives the same member anywhere."""

    def member(self, number: int) -> Member:
        """The member of that number."""
        ...


def members(
    first: First, numbers: list[int], workers: int, interrupt: Interrupt
) -> Generator[Member | NeftyError, None, None]:
    """Make members; what went wrong with one comes in its place. Ends early after Ctrl-C.

    Args:
        first: what they share.
        numbers: of the members.
        workers: processes; 1 for this one.
        interrupt: that tells of Ctrl-C.
    """
    workers = min(workers, len(numbers))
    if workers <= 1:
        with one_thread():
            for number in numbers:
                if interrupt.asked:
                    return
                yield _made(first, number)
        return
    if interrupt.asked:
        return
    yield from in_processes(first, numbers, workers, interrupt)


def in_processes(
    first: First, numbers: list[int], workers: int, interrupt: Interrupt
) -> Generator[Member | NeftyError, None, None]:
    """The same as ``members``, in as many processes as it is told."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(first,))
    try:
        with ctrl_c_kept_from_children(), _script_kept_from_children():
            waiting: set[Future[Member | NeftyError]] = {pool.submit(_work, number) for number in numbers}
        while waiting:
            done, waiting = wait(waiting, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
            if interrupt.asked:
                running = {future for future in waiting if not future.cancel()}
                for future in wait(running).done:  # they are nearly there
                    yield future.result()
                return
    except BrokenProcessPool:
        raise NeftyError(
            "a process that refits the recording ended before its time, most likely because the memory was full. What "
            "is done stays; run the same again, or with fewer members (--sure 8, ensemble.members=8)."
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _script_kept_from_children() -> Iterator[None]:
    """Processes that begin in the block do not run the user's script again; they need nothing of it."""
    main, kept = sys.modules["__main__"], {}
    for name in ("__spec__", "__file__"):
        if hasattr(main, name):
            kept[name] = getattr(main, name)
    try:
        main.__spec__ = None
        if "__file__" in kept:
            del main.__file__
        yield
    finally:
        for name, value in kept.items():
            setattr(main, name, value)


_first: First | None = None


def _begin(first: First) -> None:
    """Prepare a worker: one thread, no Ctrl-C of its own, and no life after the process that started it."""
    global _first
    import numba
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    numba.set_num_threads(1)
    torch.set_num_threads(1)
    _first = first


def _end_with_the_parent() -> None:
    """Without it, a killed parent leaves workers behind that wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(number: int) -> Member | NeftyError:
    assert _first is not None
    return _made(_first, number)


def _made(first: First, number: int) -> Member | NeftyError:
    """The member, or why there is none: facts may be drawn that the recording cannot have."""
    try:
        return first.member(number)
    except NeftyError as error:
        return NeftyError(f"member {number}: {error}")


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Sums in the block are made in one order, whatever the machine is."""
    import numba
    import torch

    before = numba.get_num_threads(), torch.get_num_threads()
    numba.set_num_threads(1)
    torch.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before[0])
        torch.set_num_threads(before[1])
