"""Ctrl-C as a question that is asked between steps, not an exception in the middle of one."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from types import FrameType, TracebackType
from typing import Any

STOPPED = 130  # exit code of a program that Ctrl-C has ended


class Interrupt:
    """Within the block, the first Ctrl-C only sets ``asked``; the second one raises KeyboardInterrupt as usual.

    Outside the main thread, where Python delivers no signals, nothing changes.
    """

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: inside compiled code it comes out as a SystemError caused by it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextlib.contextmanager
def ctrl_c_kept_from_children() -> Iterator[None]:
    """Threads that begin in the block, and all processes that they ever start, do not get Ctrl-C; it is not lost here.

    A terminal sends Ctrl-C to all processes of a program, and the one that started the others is to end them.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # to start it, Python would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
