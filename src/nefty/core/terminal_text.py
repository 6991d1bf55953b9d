"""Text that fits the terminal: paragraphs, names with their values, tables."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Mapping, Sequence

WIDEST = 100  # columns of a paragraph, also in a pipe or a file
NARROWEST = 20
ROOM = 24  # columns that a value needs to stand beside its name
NO_END = 10**4  # columns of a table in a pipe or a file


def option_of(name: str) -> str:
    """``"--flash-frame"`` of ``"flash_frame"``."""
    return f"--{name.replace('_', '-')}"


def text_width() -> int:
    """Columns of a paragraph: those of the terminal, at most ``WIDEST``."""
    return min(WIDEST, _columns(WIDEST))


def filled(text: str, *, first: str = "", rest: str = "") -> str:
    """A paragraph; ``first`` leads its first line, ``rest`` the others."""
    return textwrap.fill(
        text, text_width(), initial_indent=first, subsequent_indent=rest, break_on_hyphens=False, break_long_words=False
    )


def paired(name: str, value: str, width: int) -> str:
    """A name and its value beside it from column ``width`` on; below it where that would leave too little room."""
    if width + ROOM > text_width():
        return f"{name}\n{filled(value, first='  ', rest='  ')}"
    return filled(value, first=f"{name:<{width}}", rest=" " * width)


def listed(names: Mapping[str, str]) -> str:
    """Names, such as paths, and words about them, one line each; below the names where the terminal is too narrow."""
    width = 2 + max(map(len, names))
    if width + max(map(len, names.values())) > _columns(NO_END):
        return "\n".join(f"{name}\n{filled(words, first='  ', rest='  ')}" for name, words in names.items())
    return "\n".join(f"{name:<{width}}{words}" for name, words in names.items())


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under each other, the first to the left, the others to the right; a terminal that is too narrow gets a
    line for each cell.
    """
    lines = [tuple(columns), *(tuple(row) for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    if sum(widths) + 2 * (len(widths) - 1) > _columns(NO_END):
        return "\n\n".join(_record(columns, row) for row in rows)
    return "\n".join(
        "  ".join(
            cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def _record(columns: Sequence[str], row: Sequence[str]) -> str:
    return "\n".join(filled(f"{name}: {cell}", rest="  ") for name, cell in zip(columns, row, strict=True))


def _columns(otherwise: int) -> int:
    """Of the terminal, or of COLUMNS if that is set; ``otherwise`` if the output is no terminal."""
    return max(NARROWEST, shutil.get_terminal_size((otherwise, 24)).columns)
