"""How a long computation says what it is doing."""

from __future__ import annotations

from collections.abc import Callable

#: Called with a task, and optionally a detail within it.
Tell = Callable[[str, str], None]


def say_nothing(task: str, detail: str = "") -> None:
    """A ``Tell`` for callers who want silence."""
