"""What a benchmark returns: tables, notes and figures, written as JSON, Markdown and one HTML page."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.formats import text
from nefty.core.files import write_atomic

if TYPE_CHECKING:
    from nefty.report.page import Section

PEERS = ("phiflow", "phiml", "nefi")


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of its value in a row, its heading, and how the value is written."""

    key: str
    title: str
    write: Callable[[Any], str] = text


@dataclass(frozen=True)
class Table:
    """Rows of plain values and how to write them."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]

    def headings(self) -> list[str]:
        """The first row; columns without any value are left out."""
        return [column.title for column in self._used()]

    def cells(self) -> list[list[str]]:
        """The others, as text."""
        return [[column.write(row.get(column.key)) for column in self._used()] for row in self.rows]

    def _used(self) -> list[Column]:
        return [c for c in self.columns if any(row.get(c.key) not in (None, "", []) for row in self.rows)]

    def markdown(self) -> str:
        """As a Markdown table under its title; numbers are aligned to the right."""
        marks = ["---", *["---:"] * (len(self._used()) - 1)]
        lines = [f"| {' | '.join(row)} |" for row in (self.headings(), marks, *self.cells())]
        return f"**{self.title}**\n\n" + "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Results:
    """A finished benchmark.

    Args:
        name: stem of the files.
        title: a headline.
        lead: what was measured, in a sentence or two.
        tables: the numbers.
        notes: what a reader has to know to judge them, a sentence each.
        settings: what was asked for.
        details: further values for the JSON file.
        sections: figures for the page.
    """

    name: str
    title: str
    lead: str
    tables: Sequence[Table]
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    sections: Sequence[Section] = ()

    def save(self, folder: str | Path, command: str | None = None) -> list[Path]:
        """Write ``<name>.json``, ``<name>.md`` and ``<name>.html`` into ``folder``; returns their paths.

        Args:
            folder: created where it is missing.
            command: the command line that made this; the process's own if not given.
        """
        command = command or command_line()
        origin = {"command": command, **_origin()}
        folder = Path(folder)
        return [
            write_atomic(folder / f"{self.name}.json", self._json(origin)),
            write_atomic(folder / f"{self.name}.md", self._markdown(origin)),
            write_atomic(folder / f"{self.name}.html", self._page(origin)),
        ]

    def _json(self, origin: Mapping[str, str]) -> str:
        content = {
            "benchmark": self.name,
            "provenance": origin,
            "settings": self.settings,
            "tables": [
                {"title": t.title, "columns": {c.key: c.title for c in t.columns}, "rows": t.rows} for t in self.tables
            ],
            "notes": self.notes,
            "details": self.details,
        }
        return json.dumps(content, indent=1, default=_plain) + "\n"

    def _markdown(self, origin: Mapping[str, str]) -> str:
        parts = [f"## {self.title}", self.lead, f"```\n{origin['command']}\n```"]
        parts += [table.markdown() for table in self.tables]
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        parts.append("Measured with " + ", ".join(f"{k} {v}" for k, v in origin.items() if k != "command") + ".")
        return "\n\n".join(parts) + "\n"

    def _page(self, origin: Mapping[str, str]) -> str:
        from nefty.report import page

        tables = [page.Section(t.title, "", table=page.Table(t.headings(), t.cells())) for t in self.tables]
        reading = page.Table(["", "to judge the numbers"], [[str(i), note] for i, note in enumerate(self.notes, 1)])
        notes = [page.Section("Notes", "", table=reading)] if self.notes else []
        sections = [*tables, *self.sections, *notes]
        return page.Page(self.title, self.lead, sections, provenance=origin).render()


def command_line() -> str:
    """How this process was started, with the program's name instead of its path."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def _origin() -> dict[str, str]:
    from nefty.core.provenance import LIBRARIES, provenance, versions

    found = {**provenance(), **versions((*LIBRARIES, *PEERS))}
    return {k: v for k, v in found.items() if v != "absent"}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
