"""The course of the heating from a table of the user: ``--heating curve.csv``, or two columns in Python."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.physics.heating_curve import HeatingCurve

LARGEST = 2**24  # bytes
MARKS = (";", "\t", ",")


def heating_of(said: Any, name: str) -> HeatingCurve:
    """A curve as it is; a file; or a table (n, 2) of time in s and value.

    Args:
        said: by the user.
        name: of the fact, as he spells it.
    """
    if isinstance(said, HeatingCurve):
        return said
    if isinstance(said, (str, os.PathLike)):
        return read_heating(Path(said))
    try:
        table = np.array(said, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty((0, 0))
    if table.ndim != 2 or table.shape[1] != 2:
        raise InputError(f"{name} must be a .csv file, a nefty.HeatingCurve or a table (n, 2) of time in s and value.")
    return HeatingCurve(table[:, 0], table[:, 1])


def read_heating(path: Path) -> HeatingCurve:
    """A curve from a text file with the columns time in s, counted from the start of the heating, and value.

    Commas, semicolons, tabs or blanks separate; where it is no comma, a comma is the decimal sign. The value has any
    unit: only its ratios count. A first line without numbers is a heading; empty lines and those that begin with # are
    passed over.
    """
    rows = [(number, *_row(path, number, text)) for number, text in _lines(path)]
    for (_, before, _), (number, time, _) in itertools.pairwise(rows):
        if time <= before:
            raise _at(path, number, f"time {time:g} s does not come after {before:g} s; sort the lines by time")
    if len(rows) < 2:
        raise InputError(f"{path} holds {len(rows)} points; a heating curve needs at least two lines of time, value.")
    if not any(value > 0 for _, _, value in rows):
        raise InputError(f"{path} is 0 everywhere; give the curve of a heating that heats.")
    return HeatingCurve([time for _, time, _ in rows], [value for _, _, value in rows])


def _lines(path: Path) -> list[tuple[int, str]]:
    """Lines with numbers in them, and which they are, from 1."""
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} has more than {LARGEST} bytes, too many for a heating curve; sample it coarser.")
        text = path.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise InputError(f"the heating curve {path} cannot be read: {error.strerror or error}.") from error
    lines = [(k, line.strip()) for k, line in enumerate(text.splitlines(), 1)]
    lines = [(k, line) for k, line in lines if line and not line.startswith("#")]
    if lines and not _is_number(_cells(lines[0][1])[0]):
        lines = lines[1:]
    return lines


def _cells(line: str) -> list[str]:
    mark = next((mark for mark in MARKS if mark in line), None)
    cells = line.split(mark)
    return [cell.strip() if mark == "," else cell.strip().replace(",", ".") for cell in cells]


def _row(path: Path, number: int, line: str) -> tuple[float, float]:
    """Time and value of a line, or an error that names it."""
    cells = [cell for cell in _cells(line) if cell]
    if len(cells) != 2 or not all(map(_is_number, cells)):
        raise _at(path, number, f"{line[:60]!r} is not two numbers, time in s and value; repair or remove it")
    time, value = float(cells[0]), float(cells[1])
    if not np.isfinite([time, value]).all():
        raise _at(path, number, "it holds NaN or infinity; leave the line out")
    if time < 0:
        raise _at(path, number, f"time {time:g} s lies before the start; count times from the start of the heating")
    if value < 0:
        raise _at(path, number, f"value {value:g} is negative; subtract the lamp's dark level and set the rest to 0")
    return time, value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _at(path: Path, number: int, text: str) -> InputError:
    return InputError(f"{path}, line {number}: {text}.")
