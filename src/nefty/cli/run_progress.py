"""A reconstruction's own account of its progress, as stages on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING

from nefty.cli.output import Report, Stages
from nefty.core.words import duration

if TYPE_CHECKING:
    from nefty.inversion.reconstruct import Watch

STAGES = 5  # that a reconstruction announces; one less where the recipe weighs no evidence
SILENCE = 60.0  # seconds after which a log hears of a stage that goes on


class RunProgress:
    """Shows what ``nefty.reconstruct`` tells its watch; to be used in a ``with`` block.

    A terminal has the misfit beside the bar; a log has a line per stage of the recipe, with the time left.

    Args:
        stages: where it is shown.
        started: called once, when the work begins; not for a run that is finished already.
    """

    def __init__(self, stages: Stages, started: Callable[[], object] = lambda: None) -> None:
        self.stages, self.started, self.worked = stages, started, False
        self._open = ExitStack()
        self._report: Report = lambda fraction, hint="": None
        self._line = self._told_stage = ""
        self._first: tuple[float, int] | None = None
        self._told = time.perf_counter()

    def __enter__(self) -> RunProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._open.__exit__(kind, error, trace)

    def watch(self) -> Watch:
        """What to hand to ``nefty.reconstruct``."""
        from nefty.inversion.reconstruct import Watch

        return Watch(stage=self._stage, progress=self._progress)

    def _stage(self, name: str) -> None:
        if not self.worked:
            self.worked = True
            self.started()
        self._flush()
        self._open.close()
        self._report = self._open.enter_context(self.stages.stage(name))
        self._told = time.perf_counter()

    def _progress(self, stage: str, done: int, total: int, misfit: float) -> None:
        now = time.perf_counter()
        level = f"misfit {misfit:.3g} x noise"
        if self.stages.live:
            self._report(done / total, f"{stage}: {level}")
            return
        if stage != self._told_stage:
            self._flush()
        self._first = self._first or (now, done - 1)
        began, before = self._first
        left = (now - began) / (done - before) * (total - done)
        self._told_stage = stage
        self._line = f"      {stage}: iteration {done} of {total}, {level} floor"
        self._line += f", about {duration(left)} left" if done < total else ""
        if now - self._told > SILENCE:
            self._flush()

    def _flush(self) -> None:
        """Say the last line of a stage of the recipe that has ended."""
        if self._line:
            self.stages.say(self._line)
        self._line, self._told = "", time.perf_counter()
