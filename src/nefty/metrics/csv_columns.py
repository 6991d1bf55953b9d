"""Tables that people wrote: CSV with names of columns, units in brackets behind them."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

from nefty.core.errors import InputError


def read_columns(path: Path) -> tuple[list[tuple[int, dict[str, str]]], list[str], str]:
    """Lines with their numbers, names of the columns, and the unit in brackets behind the first that has one.

    Commas, semicolons or tabs part the columns.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(f"cannot read the table {path}: {reason}; save it as CSV.") from None
    head = text.partition("\n")[0]
    mark = next((m for m in (";", "\t") if m in head), ",")
    lines = list(csv.reader(io.StringIO(text), delimiter=mark))
    if len(lines) < 2:
        raise InputError(f"{path} holds no row below its header; a table has names of columns, then a row per target.")
    found = [re.fullmatch(r"\s*([^(]*?)\s*(?:\(([^)]*)\))?\s*", name) for name in lines[0]]
    columns = [(m[1] if m else name).lower().replace(" ", "_") for m, name in zip(found, lines[0], strict=True)]
    unit = next((m[2] for m in found if m and m[2]), "")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        if not any(cell.strip() for cell in line):
            continue
        if len(line) != len(columns):
            raise InputError(f"{path}, line {number} has {len(line)} cells, the header {len(columns)}.")
        rows.append((number, {name: cell.strip() for name, cell in zip(columns, line, strict=True)}))
    return rows, columns, unit


def number_in(path: Path, line: int, name: str, cell: str, empty: float | None = None) -> float:
    """The number in a cell; ``empty`` for one that holds nothing, which is refused if that is ``None``."""
    if not cell and empty is not None:
        return empty
    try:
        return float(cell)
    except ValueError:
        raise InputError(f"{path}, line {line}: {name}={cell!r} is not a number; use a decimal point.") from None
