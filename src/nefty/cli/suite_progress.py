"""What is said while a suite runs: a bar with the time left on a terminal, a line per task in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from nefty.core.words import duration

if TYPE_CHECKING:
    from rich.progress import Progress

    from nefty.bench.tasks.runner import Step


def counting_bar() -> Progress:
    """A bar of a terminal that counts what is done, with a hint behind it; it goes when all is done."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[hint]}", style="dim", markup=False),
        console=Console(stderr=True),
        transient=True,
    )


class SuiteProgress:
    """Shows the steps of ``nefty.bench.suites.run.run_suite``; to be used in a ``with`` block."""

    def __init__(self) -> None:
        self._progress = None
        self._bar = None
        self._start = time.perf_counter()
        self._began: tuple[float, int] | None = None
        self._told = ""

    def __enter__(self) -> SuiteProgress:
        if sys.stderr.isatty():
            self._progress = counting_bar()
            self._progress.start()
            self._bar = self._progress.add_task("starting", total=None, hint="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def tell(self, task: str, detail: str = "") -> None:
        """What is going on now."""
        self._start = time.perf_counter()
        self._began = None if task != self._told else self._began
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, description=task, total=None, completed=0, hint=detail)
        elif task != self._told:
            self._say(f"{task} ...")
        self._told = task

    def step(self, step: Step) -> None:
        """A task has ended."""
        self._began = self._began or (self._start, step.done - 1)
        began, before = self._began
        left = ""
        if step.done < step.total:
            each = (time.perf_counter() - began) / (step.done - before)
            left = f", about {duration(each * (step.total - step.done))} left"
        what = f"{step.entry.row}, {step.entry.data}, {step.entry.task.kind} {step.entry.task.seed}"
        if step.failure is not None:
            result = f"FAILED after {step.failure.attempts} attempts: {step.failure.reason}"
        else:
            assert step.outcome is not None
            iou = step.outcome.scores["iou"]
            result = f"{'nothing to find' if iou is None else f'IoU {iou:.3f}'}, {step.outcome.facts['seconds']:.0f} s"
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, total=step.total, completed=step.done, hint=f"{what}: {result}{left}")
            if step.failure is not None:
                self._progress.console.print(f"{what}: {result}", markup=False, highlight=False)
        else:
            self._say(f"{step.done} of {step.total}: {what}: {result}{left}")

    def _say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
