"""Sizes that a file declares, compared with what it holds before any memory is taken for them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from nefty.core.errors import InputError

PACKED = 250  # no recording shrinks to less than this share; noise alone leaves more than a tenth
DEFLATED = 1100  # the share that deflate reaches where all is equal, as in the truth of a sound part
HARMLESS = 2**26  # bytes that any machine can take, however well they are packed
MOST_FRAMES = 50_000  # as files of a folder or pages


def refuse_longer(path: str | os.PathLike[str], needed: int, held: int, what: str) -> None:
    """Raise if the frames as declared need more bytes than the file holds."""
    if needed > held:
        raise InputError(
            f"{os.fspath(path)} is cut off or damaged: {what} need {needed} bytes, and only {held} are there; "
            "copy it again from where it was made."
        )


def refuse_packed(
    path: str | os.PathLike[str], shape: Sequence[int], itemsize: int, held: int, name: str, packed: int = PACKED
) -> None:
    """Raise if an array as declared is too large to come from so few packed bytes."""
    needed = math.prod(int(n) for n in shape) * max(1, itemsize)
    if needed > max(HARMLESS, packed * held):
        raise InputError(
            f"{os.fspath(path)} declares {name} of shape {tuple(shape)}, {needed} bytes, but stores {held}; "
            "it is damaged, or made to fill the memory."
        )
