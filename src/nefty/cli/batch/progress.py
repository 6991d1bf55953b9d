"""What is said while a batch runs: a bar with the time left on a terminal, a line per recording in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from nefty.cli.suite_progress import counting_bar
from nefty.core.words import counted, duration

if TYPE_CHECKING:
    from nefty.batches.outcome import Outcome
    from nefty.batches.run import Step


class BatchProgress:
    """Shows the steps of ``nefty.batch``; to be used in a ``with`` block."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._progress = None
        self._bar = None

    def __enter__(self) -> BatchProgress:
        if sys.stderr.isatty():
            self._progress = counting_bar()
            self._progress.start()
            self._bar = self._progress.add_task("Reconstruct", total=None, hint="look what is done, start the workers")
        else:
            self._say("Look what is done, start the workers ...")
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def step(self, step: Step) -> None:
        """A recording is settled."""
        left = ""
        if step.done < step.total:
            each = (time.perf_counter() - self._start) / (step.done - step.kept)
            left = f", about {duration(each * (step.total - step.done))} left"
        line = f"{step.outcome.name}: {told(step.outcome)}"
        if self._progress is not None and self._bar is not None:
            self._progress.update(self._bar, total=step.total, completed=step.done, hint=f"{step.outcome.name}{left}")
            self._progress.console.print(line, markup=False, highlight=False)
        else:
            self._say(f"{step.done} of {step.total}: {line}{left}")

    def _say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)


def told(outcome: Outcome) -> str:
    """What became of a recording, in a line."""
    from nefty.batches.page import judges

    if outcome.reason:
        return f"NO RESULT: {outcome.reason}"
    found = counted(len(outcome.indications), "indication") if judges(outcome) else "nothing claimed"
    how = duration(outcome.seconds) if outcome.worked else "was done"
    return f"{outcome.level}, {found}, {how}"
