"""How far long work is, told to whoever watches.

Work deep inside, such as a reader's, says ``tell("Read the frames", 0.3)``; whoever called it may have said
``with watched(progress):`` before. So nothing in between has to hand a callable on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, float], object]  # the name of a stage, and the fraction of it that is done, 0 to 1
_WATCHER: ContextVar[Progress | None] = ContextVar("watcher", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Let ``progress`` hear of the work in the block; None leaves whoever watches already."""
    if progress is None:
        yield
        return
    before = _WATCHER.set(progress)
    try:
        yield
    finally:
        _WATCHER.reset(before)


def tell(stage: str, fraction: float) -> None:
    """Say how far a stage is, if anybody watches."""
    watcher = _WATCHER.get()
    if watcher is not None:
        watcher(stage, fraction)
