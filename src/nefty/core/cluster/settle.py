"""Hands tasks to a cluster and says of each how it ended; errors are tried again, Ctrl-C ends it."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nefty.core.interrupt import Interrupt

POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Settled:
    """A task that has ended.

    Args:
        key: of the task.
        reason: why it did not succeed; ``None`` if it did.
        attempts: how often it was tried.
    """

    key: str
    reason: str | None
    attempts: int


def settle(
    client: Any,
    work: Callable[..., str | None],
    tasks: Mapping[str, tuple[Any, ...]],
    *,
    retries: int,
    interrupt: Interrupt,
) -> Iterator[Settled]:
    """Submit everything; yields each task when it is settled.

    Args:
        client: of the cluster, see ``nefty.core.cluster.place.connected``.
        work: what a worker does; returns why that failed, or ``None``.
        tasks: arguments of ``work``, by key.
        retries: further attempts after an error.
        interrupt: asked between tasks; what is still waiting is then withdrawn.
    """
    settled: queue.Queue[Any] = queue.Queue()
    waiting: dict[Any, tuple[str, int]] = {}

    def submit(key: str, attempt: int) -> None:
        future = client.submit(work, *tasks[key], key=f"nefty-{key}-{attempt}", pure=False)
        waiting[future] = (key, attempt)
        future.add_done_callback(settled.put)

    for key in tasks:
        submit(key, 1)
    while waiting and not interrupt.asked:
        try:
            future = settled.get(timeout=POLL_SECONDS)
        except queue.Empty:
            continue
        key, attempt = waiting.pop(future)
        reason = _reason(future)
        future.release()
        if reason is not None and attempt <= retries and client.status == "running":
            submit(key, attempt + 1)
        else:
            yield Settled(key, reason, attempt)
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
