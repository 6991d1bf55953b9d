"""What a verb says while it works: named stages with a bar and the time left, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Protocol

from nefty.core.progress import Progress
from nefty.core.words import duration

PATIENCE = 2.0  # seconds without a word that anybody waits for
SILENCE = 10.0  # seconds after which a log hears again of a stage that goes on


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


class Patience:
    """Shows the named stages of work that is quick as a rule: nothing at all until ``PATIENCE`` is over.

    Then a terminal has a bar, and a log a line for each stage, with the time left in it; to be used in a ``with`` block
    and handed on as a ``Progress``.

    Args:
        report: of a stage of ``Stages`` that is under way, which shows it at once; a bar of its own if not given.
    """

    def __init__(self, report: Report | None = None) -> None:
        self._report, self._open = report, ExitStack()
        self._bar: Report | None = None
        self._start = self._told = time.perf_counter()
        self._stage, self._began = "", self._start

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)

    def __call__(self, stage: str, fraction: float) -> None:
        """Take the fraction that is done of a stage."""
        now, new = time.perf_counter(), stage != self._stage
        if new:
            self._stage, self._began = stage, now
        if self._report is not None:
            self._report(fraction, stage)
        elif now - self._start < PATIENCE:
            return
        elif sys.stderr.isatty():
            if new or self._bar is None:
                self._open.close()
                self._bar = self._open.enter_context(_bar(stage, ""))
            self._bar(fraction)
        elif now - self._told > SILENCE or self._told == self._start or new:
            self._told = now
            left = (now - self._began) / fraction * (1 - fraction) if fraction > 0 else 0.0
            rest = f", {100 * fraction:.0f} % done, about {duration(left)} left" if left else ""
            print(f"      {stage}{rest}", file=sys.stderr, flush=True)
