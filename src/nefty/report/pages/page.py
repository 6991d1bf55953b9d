"""One offline HTML page: figures, each with what it shows, what good and bad look like, and what to do.

The page needs no network: Plotly.js, styles and data are inside it. Text is escaped; a title or a file name
cannot bring markup along.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import quote

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from nefty.report.figures.narrow import NARROW, shrinks
from nefty.report.figures.style import CONFIG


@dataclass(frozen=True)
class Fact:
    """One number for the top of the page: ``value`` large, ``label`` above, ``note`` below."""

    label: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of text; numbers arrive formatted.

    Args:
        columns: the headings.
        rows: the cells.
        quiet: indices of rows to compare the others with.
        best: row and column of the cells to mark.
        quiet_columns: indices of columns to compare the others with.
        one_line: cells are not broken; a table that is too wide scrolls in its box.
        links: files beside the page that cells lead to, by row and column; paths from the page's folder.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    quiet: Sequence[int] = ()
    best: Collection[tuple[int, int]] = ()
    quiet_columns: Collection[int] = ()
    one_line: bool = False
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def link(self, row: int, column: int) -> str:
        """Address of the file that a cell leads to; empty if it leads nowhere."""
        path = self.links.get((row, column), "")
        return f"./{quote(path)}" if path else ""

    def mark(self, row: int, column: int) -> str:
        """Class of a cell."""
        return "best" if (row, column) in self.best else "quiet" if column in self.quiet_columns else ""


@dataclass(frozen=True)
class Notice:
    """What the reader should know first; ``tone`` is ``"calm"`` or ``"caution"``."""

    title: str
    text: str
    tone: str = "calm"


@dataclass(frozen=True, eq=False)
class Picture:
    """A PNG file inside the page.

    Args:
        name: of the file.
        shows: what it is, for those who do not see it.
        png: its bytes.
    """

    name: str
    shows: str
    png: bytes

    @property
    def address(self) -> str:
        """The picture itself, as an address."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True, eq=False)
class Section:
    """A figure, a table or pictures, and how to read them.

    Args:
        title: a short heading.
        shows: what the figure shows, in a sentence or two.
        good: what it looks like when all is well.
        bad: what it looks like when something is wrong.
        do: what to do then.
        figure: a Plotly figure.
        table: rows below the figure.
        pictures: below them, side by side.
        terms: what words and columns mean, in small print below.
    """

    title: str
    shows: str
    good: str = ""
    bad: str = ""
    do: str = ""
    figure: go.Figure | None = None
    table: Table | None = None
    pictures: Sequence[Picture] = ()
    terms: str = ""


@dataclass(frozen=True, eq=False)
class Page:
    """A page from top to bottom.

    Args:
        title: the headline.
        lead: one paragraph that says what was done and what came out.
        sections: the body.
        facts: the few numbers that matter most.
        provenance: name and value of everything needed to make the page again.
        notice: a box above the facts.
        details: titles and plain text at the end, folded away.
    """

    title: str
    lead: str
    sections: Sequence[Section]
    facts: Sequence[Fact] = ()
    provenance: Mapping[str, str] | None = None
    notice: Notice | None = None
    details: Mapping[str, str] | None = None

    def render(self) -> str:
        """The page as HTML text."""
        figures = [
            None if section.figure is None else figure_html(section.figure, f"figure-{number}")
            for number, section in enumerate(self.sections, 1)
        ]
        shrink = [section.figure is not None and shrinks(section.figure) for section in self.sections]
        script = Markup(get_plotlyjs()) if any(figures) else ""
        return _template().render(page=self, figures=figures, shrinks=shrink, narrow=NARROW, plotly_js=script)


def figure_html(figure: go.Figure, name: str) -> Markup:
    """A figure as an HTML fragment with ``name`` as its id; expects Plotly.js to be loaded before it."""
    return Markup(
        figure.to_html(include_plotlyjs=False, full_html=False, div_id=name, config=dict(CONFIG), auto_play=False)
    )


@cache
def _template():
    environment = Environment(
        loader=PackageLoader("nefty.report"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")
