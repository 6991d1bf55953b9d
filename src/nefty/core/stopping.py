"""Why a piece of work that goes on step by step came to its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class StopReason(Enum):
    """Why it ended."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    OUT_OF_TIME = "out of time"
    GOOD_ENOUGH = "good enough"
    NO_PROGRESS = "no progress"
    UNKNOWN = "unknown"


#: What is said where there is nothing to add.
TEXTS = {
    StopReason.FINISHED: "all iterations were done",
    StopReason.INTERRUPTED: "it was stopped by Ctrl-C",
    StopReason.OUT_OF_TIME: "the time it was given was over",
    StopReason.GOOD_ENOUGH: "the misfit is as small as was asked",
    StopReason.NO_PROGRESS: "it made no more progress",
    StopReason.UNKNOWN: "",
}


@dataclass(frozen=True)
class Stopped:
    """How it ended.

    Args:
        reason: why.
        text: the same in words, with its numbers; those of the reason if not given.
    """

    reason: StopReason
    text: str = ""

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(self, "text", TEXTS[self.reason])

    def __str__(self) -> str:
        return self.text

    @property
    def finished(self) -> bool:
        """Whether all was done that was asked for; not known of results whose end nobody recorded."""
        return self.reason in (StopReason.FINISHED, StopReason.GOOD_ENOUGH, StopReason.NO_PROGRESS)

    @property
    def cut_short(self) -> bool:
        """Whether it could go on: Ctrl-C or the clock ended it."""
        return self.reason in (StopReason.INTERRUPTED, StopReason.OUT_OF_TIME)

    @staticmethod
    def of_text(text: str) -> Stopped:
        """From the sentence that a result of nefty 0.1 holds."""
        if text.startswith("it was stopped by Ctrl-C"):
            return Stopped(StopReason.INTERRUPTED)
        if text.endswith("s it was given were over"):
            return Stopped(StopReason.OUT_OF_TIME, text)
        if text.startswith("the misfit came down"):
            return Stopped(StopReason.GOOD_ENOUGH, text)
        if text in ("all iterations were done", "done"):
            return Stopped(StopReason.FINISHED, text)
        return Stopped(StopReason.UNKNOWN, text)


FINISHED = Stopped(StopReason.FINISHED)
INTERRUPTED = Stopped(StopReason.INTERRUPTED)
UNKNOWN = Stopped(StopReason.UNKNOWN)
