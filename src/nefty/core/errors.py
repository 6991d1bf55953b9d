"""Errors that name the value that was wrong, what was expected, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class NeftyError(Exception):
    """Anything nefty refuses or cannot do; the message is meant for the person at the keyboard."""


class InputError(NeftyError, ValueError):
    """A value given by the user does not fit."""


class ConvergenceError(NeftyError, RuntimeError):
    """An iteration ended without reaching its tolerance; no result is returned."""


class MissingExtraError(NeftyError, ImportError):
    """An optional library is needed and not installed."""


def unknown_name(what: str, given: object, known: Iterable[str]) -> InputError:
    """Return the error for an unknown option, with the nearest known name.

    Args:
        what: what the name stands for, such as ``"face_mean"``.
        given: the name that was given.
        known: the names that exist.
    """
    names = sorted(known)
    nearest = difflib.get_close_matches(str(given), names, n=1)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    return InputError(f"{what}={given!r} is unknown; choose one of {', '.join(map(repr, names))}.{hint}")
