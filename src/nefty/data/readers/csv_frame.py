"""One frame as text: rows of numbers, as cameras' programs export them."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError

LARGEST = 2**26  # bytes of one frame
MOST_HEADINGS = 100  # lines before the numbers


def read_csv(path: Path) -> np.ndarray:
    """Values (y, x), separated by commas, semicolons, tabs or blanks; lines of heading are passed over.

    Where semicolons or tabs separate, a comma is the decimal sign.
    """
    raw = _bytes(path)
    if b"\0" in raw:
        raise InputError(f"{path} is no text but holds binary data; a CSV frame has rows of numbers.")
    lines = [line for line in (line.strip(" \r") for line in raw.decode("utf-8-sig", "replace").split("\n")) if line]
    if not lines:
        raise InputError(f"{path} is empty; a CSV frame has rows of numbers.")
    last = lines[-1]
    mark = next((mark for mark in (";", "\t", ",") if mark in last), None)
    if mark in (";", "\t") and "," in last:
        lines = [line.replace(",", ".") for line in lines]
    lines = [line.rstrip(mark) if mark else line for line in lines]
    width = len(lines[-1].split(mark))
    first = next((i for i, line in enumerate(lines[:MOST_HEADINGS]) if _numbers(line, mark, width)), None)
    if first is None:
        raise InputError(f"{path} has no row of {width} numbers in its first lines; a CSV frame has rows of numbers.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.loadtxt(lines[first:], delimiter=mark, comments=None, ndmin=2, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"{path} has rows that differ or are no numbers ({error}); export the frame again.") from error


def _bytes(path: Path) -> bytes:
    with open(path, "rb") as file:
        raw = file.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InputError(f"{path} has more than {LARGEST} bytes, too many for one frame.")
    return raw


def _numbers(line: str, mark: str | None, width: int) -> bool:
    fields = line.split(mark)
    try:
        [float(field) for field in fields]
    except ValueError:
        return False
    return len(fields) == width
