"""The paper's own numbers, to stand beside ours. They come from its samples and its GPU, not from this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from nefty.bench.tables.table import Interval
from nefty.core.errors import unknown_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # pyright: ignore[reportMissingImports]


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper; one without groups has no numbers.

    Args:
        title: in the paper.
        groups: numbers by group of specimens (``"layered"``, ``"homogeneous 2"``), row and column, in plain units.
        labels: rows of methods that were trained on true volumes.
    """

    title: str = ""
    groups: Mapping[str, Mapping[str, Mapping[str, Interval]]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()

    def number(self, group: str, row: str | None, column: str) -> Interval | None:
        """A number; ``None`` if the paper does not give it."""
        return self.groups.get(group, {}).get(row or "", {}).get(column)

    def rows(self, groups: Iterable[str] | None = None) -> list[str]:
        """Names of the rows that ``groups`` have, or any group, in order."""
        chosen = self.groups if groups is None else groups
        return list(dict.fromkeys(row for group in chosen for row in self.groups.get(group, {})))


@cache
def paper_tables() -> dict[str, PaperTable]:
    """All of them by key."""
    text = (resources.files("nefty.bench.tables") / "paper_numbers.toml").read_text(encoding="utf-8")
    return {key: _table(values) for key, values in tomllib.loads(text).items()}


def paper_table(key: str) -> PaperTable:
    """One of main, robustness, surface, ablation, training, solver, edges and pvc."""
    if key not in paper_tables():
        raise unknown_name("table of the paper", key, paper_tables())
    return paper_tables()[key]


def _table(values: Mapping[str, Any]) -> PaperTable:
    unit = values.get("unit", {})
    groups = {
        group: {
            row: {column: _number(printed, unit.get(column, 1)) for column, printed in numbers.items()}
            for row, numbers in rows.items()
        }
        for group, rows in values["groups"].items()
    }
    return PaperTable(values["title"], groups, tuple(values.get("labels", ())))


def _number(printed: float | list[float], unit: float) -> Interval:
    mean, half = printed if isinstance(printed, list) else (printed, None)
    return Interval(float(mean * unit), None if half is None else float(half * unit))
