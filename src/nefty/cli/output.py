"""What a verb says while it works: named stages with a bar and the time left, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stages:
    """The stages of one command, announced one after the other.

    On a terminal each stage has a bar and an estimate of the time left; in a pipe or a log it has one line
    when it is done. Durations are kept in ``seconds`` for the report.

    Args:
        total: how many stages there will be.
        quiet: say nothing, only keep the durations.
    """

    def __init__(self, total: int, *, quiet: bool = False) -> None:
        self.total = total
        self.quiet = quiet
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, hint: str = "") -> Iterator[Callable[[float], None]]:
        """Run a stage; yields a function that takes the fraction done, 0 to 1.

        Args:
            name: what is being done, in words.
            hint: shown until a first fraction is reported, for work that cannot say how far it is.
        """
        number = len(self.seconds) + 1
        title = f"[{number}/{self.total}] {name}"
        start = time.perf_counter()
        if self.quiet or not sys.stderr.isatty():
            yield lambda fraction: None
        else:
            with _bar(title, hint) as report:
                yield report
        self.seconds[name] = time.perf_counter() - start
        if not self.quiet:
            print(f"{title}: {duration(self.seconds[name])}", file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """``"34 ms"``, ``"2.1 s"``, ``"3 min 20 s"``."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


@contextmanager
def _bar(title: str, hint: str) -> Iterator[Callable[[float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[hint]}", style="dim", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task(title, total=None, hint=hint)
        yield lambda fraction: progress.update(task, total=1.0, completed=min(fraction, 1.0), hint="")
