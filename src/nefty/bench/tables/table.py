"""Tables of benchmarks: plain values in rows, written as Markdown, LaTeX, CSV and for the page from one object."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.tables.formats import DASH, text

if TYPE_CHECKING:
    from nefty.report.pages import page

CONFIDENCE = 0.95

#: Characters that LaTeX reads as commands or does not have in its fonts.
_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$"},
    **{"±": r"$\pm$", "×": r"$\times$", "²": "$^2$", "³": "$^3$", "α": r"$\alpha$", "σ": r"$\sigma$", "|": "$|$"},
}


@dataclass(frozen=True)
class Interval:
    """A mean and how sure it is.

    Args:
        mean: of the values.
        half_width: of its 95 % confidence interval; ``None`` if there is none, as for one value.
        n: number of values; ``None`` if it is not known.
    """

    mean: float
    half_width: float | None = None
    n: int | None = None

    @staticmethod
    def of(values: Iterable[float | None]) -> Interval | None:
        """Of the values that are finite; ``None`` if none is."""
        from nefty.metrics.summary import mean_interval

        known = [float(v) for v in values if v is not None and math.isfinite(v)]
        if not known:
            return None
        mean, half = mean_interval(known, confidence=CONFIDENCE)
        return Interval(mean, half if math.isfinite(half) else None, len(known))

    def __float__(self) -> float:
        return float(self.mean)


@dataclass(frozen=True)
class Share:
    """So many out of so many."""

    count: int
    of: int

    def __str__(self) -> str:
        return f"{self.count} of {self.of}"

    def __float__(self) -> float:
        return self.count / self.of if self.of else math.nan


def interval(digits: int, *, scale: float = 1.0, signed: bool = False) -> Callable[[Interval | None], str]:
    """A writer of intervals, ``"0.452 ± 0.041"``.

    Args:
        digits: behind the point.
        scale: multiplies the numbers first: 1e4 for a column headed 1e-4.
        signed: with a plus, for gains.
    """

    def write(value: Interval | None) -> str:
        if value is None:
            return DASH
        mean = round(scale * value.mean, digits) + 0.0  # no minus zero
        half = "" if value.half_width is None else f" ± {scale * value.half_width:.{digits}f}"
        return f"{mean:{'+' if signed else ''}.{digits}f}{half}"

    return write


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        key: of its value in a row.
        title: heading.
        write: how the value is written.
        best: ``"high"`` or ``"low"`` if such values are better; the best are marked.
        quiet: whether it holds what others have measured, which is set apart.
    """

    key: str
    title: str
    write: Callable[[Any], str] = text
    best: str = ""
    quiet: bool = False

    def cell(self, row: Mapping[str, Any]) -> str:
        """Its value in a row, as text; a dash where there is none."""
        value = row.get(self.key)
        return DASH if value is None else self.write(value)


@dataclass(frozen=True)
class Table:
    """Rows of plain values and how to write them.

    Args:
        title: heading.
        columns: those without any value are left out.
        rows: values by the columns' keys.
        name: for files and labels; made of the title if it is empty.
        shows: what it shows, in a sentence or two.
        quiet: indices of the rows that others have measured.
        contests: indices of rows whose values are compared for the best one; all rows if not given.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, Any]]
    name: str = ""
    shows: str = ""
    quiet: Sequence[int] = ()
    contests: Sequence[Sequence[int]] | None = None

    @property
    def slug(self) -> str:
        """Its name in lower case, with hyphens only."""
        return re.sub(r"[^a-z0-9]+", "-", (self.name or self.title).lower()).strip("-") or "table"

    def headings(self) -> list[str]:
        """The first row; columns without any value are left out."""
        return [column.title for column in self.used()]

    def cells(self) -> list[list[str]]:
        """The others, as text."""
        return [[column.cell(row) for column in self.used()] for row in self.rows]

    def best(self) -> set[tuple[int, int]]:
        """Row and column (of ``cells``) of the best values; equal as written is equal, and one value wins nothing."""
        contests = [range(len(self.rows))] if self.contests is None else self.contests
        return {
            (row, place)
            for place, column in enumerate(self.used())
            if column.best
            for contest in contests
            for row in self._winners(column, [i for i in contest if i not in self.quiet])
        }

    def _winners(self, column: Column, contest: Iterable[int]) -> list[int]:
        values = {i: self.rows[i].get(column.key) for i in contest}
        known = {i: v for i, v in values.items() if v is not None and math.isfinite(float(v))}
        if len(known) < 2:
            return []
        first = (max if column.best == "high" else min)(known.values(), key=float)
        written = column.write(_bare(first))
        return [i for i, v in known.items() if float(v) == float(first) or column.write(_bare(v)) == written]

    def used(self) -> list[Column]:
        """The columns that have a value in some row."""
        return [c for c in self.columns if any(row.get(c.key) not in (None, "", []) for row in self.rows)]

    def markdown(self) -> str:
        """As a Markdown table under its title; numbers are aligned to the right, the best are bold."""
        marks = ["---", *["---:"] * (len(self.used()) - 1)]
        best, body = self.best(), []
        for i, row in enumerate(self.cells()):
            cells = [" ".join(cell.replace("|", "\\|").split()) for cell in row]
            cells = [f"**{cell}**" if (i, j) in best else cell for j, cell in enumerate(cells)]
            body.append([cell if cell == DASH else f"*{cell}*" for cell in cells] if i in self.quiet else cells)
        lines = [f"| {' | '.join(row)} |" for row in (self.headings(), marks, *body)]
        parts = [f"**{self.title}**", self.shows, "\n".join(lines)]
        return "\n\n".join(part for part in parts if part)

    def latex(self, label: str) -> str:
        """As a floating table with rules of booktabs; a wide one is scaled to the line by graphicx."""
        best, lines = self.best(), []
        for i, row in enumerate(self.cells()):
            if i in self.quiet and i - 1 not in self.quiet and i > 0:
                lines.append(r"\midrule")
            cells = [latex_text(cell) for cell in row]
            cells = [rf"\textbf{{{cell}}}" if (i, j) in best else cell for j, cell in enumerate(cells)]
            if i in self.quiet:
                cells = [cell if cell == DASH else rf"\textit{{{cell}}}" for cell in cells]
            lines.append(f"{' & '.join(cells)} \\\\")
        caption = f"{self.title}. {self.shows}" if self.shows else f"{self.title}."
        return "\n".join(
            [
                r"\begin{table}[ht]",
                r"\centering",
                rf"\caption{{{latex_text(caption.strip())}}}",
                rf"\label{{{label}}}",
                r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
                rf"\begin{{tabular}}{{l{'r' * (len(self.used()) - 1)}}}",
                r"\toprule",
                f"{' & '.join(latex_text(h) for h in self.headings())} \\\\",
                r"\midrule",
                *lines,
                r"\bottomrule",
                r"\end{tabular}}",
                r"\end{table}",
            ]
        )

    def for_page(self) -> page.Table:
        """As a table of an HTML page."""
        from nefty.report.pages import page

        return page.Table(
            self.headings(),
            self.cells(),
            quiet=self.quiet,
            best=sorted(self.best()),
            quiet_columns=[j for j, column in enumerate(self.used()) if column.quiet],
            one_line=any(column.best for column in self.used()),
        )

    def csv(self) -> str:
        """As comma-separated values under the columns' keys, numbers in full; the parts of an interval apart."""
        used = self.used()
        rows = [{(c.key, part): v for c in used for part, v in _parts(row.get(c.key)).items()} for row in self.rows]
        filled = [name for row in rows for name, value in row.items() if value != ""]
        names = [name for c in used for name in dict.fromkeys([(c.key, ""), *filled]) if name[0] == c.key]
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{key}_{part}" if part else key for key, part in names])
        writer.writerows([[row.get(name, "") for name in names] for row in rows])
        return file.getvalue()


def latex_text(given: str) -> str:
    """Text as LaTeX shows it literally; a minus before a number is one."""
    escaped = "".join(_LATEX.get(c, c) for c in given)
    return re.sub(r"(?<![\w.)-])-(?=\d)", "$-$", escaped)


def plain(value: Any) -> Any:
    """What JSON can hold of a value it does not know."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (Interval, Share)):
        return dataclasses.asdict(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def _bare(value: Any) -> Any:
    """A value without its uncertainty."""
    return Interval(value.mean) if isinstance(value, Interval) else value


def _parts(value: Any) -> dict[str, str]:
    """The cells of a value in a CSV file, by the ends of their headings: one for a number, more for an interval."""
    if isinstance(value, (Interval, Share)):
        first, *others = dataclasses.fields(value)
        return {
            "": _cell(getattr(value, first.name)),
            **{f.name: _cell(getattr(value, f.name)) for f in others},
        }
    return {"": _cell(value)}


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.10g}"
    return value if isinstance(value, str) else json.dumps(value, default=plain)
