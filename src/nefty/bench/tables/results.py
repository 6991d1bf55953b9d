"""What a benchmark returns: tables, notes and figures, written as JSON, Markdown, LaTeX, CSV and one HTML page."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nefty.bench.tables.table import Column, Table, plain
from nefty.core.storage.files import write_atomic

if TYPE_CHECKING:
    from nefty.report.pages.page import Section

__all__ = ["Column", "Results", "Table"]

PEERS = ("phiflow", "phiml", "nefi")


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
        """Write ``<name>.json``, ``.md``, ``.html``, ``.tex`` and, for each table, ``<name>-<table>.csv``; returns the
        paths.

        Args:
            folder: created where it is missing.
            command: the command line that made this; the process's own if not given.
        """
        command = command or command_line()
        origin = {"command": command, **_origin()}
        folder = Path(folder)
        files = {
            f"{self.name}.json": self._json(origin),
            f"{self.name}.md": self._markdown(origin),
            f"{self.name}.html": self._page(origin),
            f"{self.name}.tex": self._latex(origin),
            **{f"{self.name}-{name}.csv": table.csv() for name, table in self._named().items()},
        }
        return [write_atomic(folder / name, content) for name, content in files.items()]

    def _named(self) -> dict[str, Table]:
        """The tables by names that differ."""
        found: dict[str, Table] = {}
        for table in self.tables:
            name, number = table.slug, 2
            while name in found:
                name, number = f"{table.slug}-{number}", number + 1
            found[name] = table
        return found

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
        return json.dumps(content, indent=1, default=plain) + "\n"

    def _markdown(self, origin: Mapping[str, str]) -> str:
        parts = [f"## {self.title}", self.lead, f"```\n{origin['command']}\n```"]
        parts += [table.markdown() for table in self.tables]
        if self.notes:
            parts.append("\n".join(f"- {note}" for note in self.notes))
        parts.append("Measured with " + ", ".join(f"{k} {v}" for k, v in origin.items() if k != "command") + ".")
        return "\n\n".join(parts) + "\n"

    def _latex(self, origin: Mapping[str, str]) -> str:
        said = [f"{self.title}: {self.lead}", f"Made by: {origin['command']}", *self.notes]
        said += [r"Needs \usepackage{booktabs} and \usepackage{graphicx}."]
        comments = "\n".join("% " + " ".join(line.split()) for line in said)
        tables = [table.latex(f"tab:{self.name}-{name}") for name, table in self._named().items()]
        return "\n\n".join([comments, *tables]) + "\n"

    def _page(self, origin: Mapping[str, str]) -> str:
        from nefty.report.pages import page

        tables = [page.Section(t.title, t.shows, table=t.for_page()) for t in self.tables]
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
