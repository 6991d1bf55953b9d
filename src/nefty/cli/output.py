"""What a verb says while it works: named stages with a bar and the time left, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from nefty.core.words import duration


class Report(Protocol):
    """Takes the fraction of a stage that is done, 0 to 1, and a word about it."""

    def __call__(self, fraction: float, hint: str = "") -> None:
        """Show it."""


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

    @property
    def live(self) -> bool:
        """Whether there is a bar to look at."""
        return not self.quiet and sys.stderr.isatty()

    @contextmanager
    def stage(self, name: str, hint: str = "") -> Iterator[Report]:
        """Run a stage; yields a function that takes the fraction done, and a hint.

        Args:
            name: what is being done, in words.
            hint: shown until a first fraction is reported, for work that cannot say how far it is.
        """
        number = len(self.seconds) + 1
        title = f"[{number}/{self.total}] {name}"
        start = time.perf_counter()
        if not self.live:
            yield lambda fraction, hint="": None
        else:
            with _bar(title, hint) as report:
                yield report
        self.seconds[name] = time.perf_counter() - start
        self.say(f"{title}: {duration(self.seconds[name])}")

    def say(self, line: str) -> None:
        """A line on stderr, unless it shall be quiet."""
        if not self.quiet:
            print(line, file=sys.stderr, flush=True)


@contextmanager
def _bar(title: str, hint: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=10),  # leaves room for a hint in 80 columns
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[hint]}", style="dim", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task(title, total=None, hint=hint)
        yield lambda fraction, hint="": progress.update(task, total=1.0, completed=min(fraction, 1.0), hint=hint)
