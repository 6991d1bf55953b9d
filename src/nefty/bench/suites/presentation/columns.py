"""What the tables of a suite are made of: scores as columns, outcomes by method, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from nefty.bench.tables import formats
from nefty.bench.tables.paper_numbers import PaperTable, paper_table
from nefty.bench.tables.table import Column, Interval, interval
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import method

if TYPE_CHECKING:
    from nefty.bench.suites.suite import Data, Row, Suite
    from nefty.bench.tasks.task import Entry, Outcome

    Done = Sequence[tuple[Entry, Outcome]]

PAPER = "paper"
#: Where the paper has the numbers of our columns: by key, its table, and group and column there.
Places = Mapping[str, tuple[PaperTable, str, str]]


@dataclass(frozen=True)
class Metric:
    """A score as a column.

    Args:
        key: of the score.
        title: heading.
        digits: behind the point.
        best: which values are better, ``"high"`` or ``"low"``.
        scale: what values are multiplied by for print; the heading says so.
    """

    key: str
    title: str
    digits: int = 3
    best: str = "high"
    scale: float = 1.0

    def columns(self, key: str = "", title: str = "") -> tuple[Column, Column]:
        """Ours and the paper's; ``key`` and ``title`` in place of its own."""
        key, title = key or self.key, title or self.title
        ours = Column(key, title, interval(self.digits, scale=self.scale), self.best)
        return ours, paper_column(key, title, as_printed(self.scale))

    def of(self, outcomes: Iterable[Outcome]) -> Interval | None:
        """Mean over the outcomes that have it."""
        return Interval.of(outcome.scores.get(self.key) for outcome in outcomes)


METHOD = Column("method", "method")
COUNT = Column("n", "n", formats.whole)
MISSING = Column("missing", "missing", formats.whole)
BUDGET = Column("budget", "budget")
SECONDS = Column("seconds", "median s", formats.seconds)
ITERATIONS = Column("iterations", "iterations", formats.whole)
EVALUATIONS = Column("evaluations", "evaluations", formats.whole)


def paper_column(key: str, title: str, write: Callable[[Any], str]) -> Column:
    """The paper's numbers beside the column ``key``."""
    return Column(f"{key}_{PAPER}", f"{title}, {PAPER}", write, quiet=True)


def as_printed(scale: float = 1.0, *, signed: bool = False) -> Callable[[Interval | None], str]:
    """A writer of the paper's numbers with its own digits: two behind the point, one from 100 on, more where needed."""

    def write(value: Interval | None) -> str:
        if value is None:
            return formats.DASH
        numbers = [scale * n for n in (value.mean, value.half_width) if n is not None]
        needed = [len(f"{n:.4g}".partition(".")[2]) for n in numbers]
        digits = max(1 if abs(numbers[0]) >= 100 else 2, *needed)
        sign = "+" if signed else ""
        return " ± ".join(f"{n:{s}.{digits}f}" for n, s in zip(numbers, (sign, ""), strict=False))

    return write


def of_mean(write: Callable[[float | None], str]) -> Callable[[Interval | None], str]:
    """A writer of the paper's numbers as ours of the same column are written."""
    return lambda value: write(None if value is None else value.mean)


def decimals(digits: int) -> Callable[[float | None], str]:
    """A writer of plain numbers."""
    return lambda value: formats.DASH if value is None else f"{value:.{digits}f}"


def parts(suite: Suite) -> list[tuple[str, str]]:
    """Data sets with their kinds."""
    return [(name, kind) for name, data in suite.data.items() for kind in data.kinds]


def by_method(
    suite: Suite, done: Done, data: Iterable[str], kind: str | None = None
) -> list[tuple[Row, list[Outcome]]]:
    """Rows of the suite in order, with their outcomes on some data."""
    data = set(data)
    found: dict[str, list[Outcome]] = {row.name: [] for row in suite.methods}
    for entry, outcome in done:
        if entry.data in data and kind in (None, entry.task.kind) and entry.row in found:
            found[entry.row].append(outcome)
    return [(row, found[row.name]) for row in suite.methods]


def title_of(suite: Suite, what: str, data: Sequence[str], kind: str = "") -> str:
    """A heading with the data, where the suite has several, and the kind."""
    several = len(suite.sources) > len(data)
    words = [what, " and ".join(suite.sources[name].title for name in data) if several else "", kind]
    return ", ".join(word for word in words if word)


def cost(suite: Suite, row: Row, own: Sequence[Outcome], data: str, kind: str | None = None) -> dict[str, Any]:
    """How many specimens there are, of one kind or all, how many are missing (``None`` for none), and what each could
    cost.
    """
    seconds = suite.budget.seconds if row.seconds is None else row.seconds
    iterations = suite.budget.iterations if row.iterations is None else row.iterations
    missing = sum(kind in (None, k) for k, _ in suite.sources[data].specimens(row.seeds)) - len(own)
    return {"n": len(own), "missing": missing if missing > 0 else None, "budget": str(Budget(seconds, iterations))}


def middle(outcomes: Iterable[Outcome], fact: str) -> float | None:
    """Median of a fact where it is known; 0 is not."""
    return median_of(o.facts[fact] for o in outcomes if o.facts.get(fact))


def median_of(values: Iterable[float]) -> float | None:
    """Their median; ``None`` if there are none."""
    known = list(values)
    return median(known) if known else None


def on_same_specimen(before: Iterable[Outcome], after: Iterable[Outcome]) -> list[tuple[Outcome, Outcome]]:
    """Pairs of outcomes on the specimens that both have."""
    known = {(o.task.kind, o.task.seed): o for o in before}
    return [(known[key], o) for o in after if (key := (o.task.kind, o.task.seed)) in known]


def gain(before: Iterable[Outcome], after: Iterable[Outcome], score: str) -> Interval | None:
    """Mean difference of a score over the specimens that both have."""
    pairs = [(a.scores.get(score), b.scores.get(score)) for a, b in on_same_specimen(before, after)]
    return Interval.of(b - a for a, b in pairs if a is not None and b is not None)


def group_of(outcome: Outcome) -> int:
    """Number of strata of a layered specimen, of defects of another."""
    return int(outcome.facts["strata" if "layered" in outcome.task.kind else "defects"])


def counted(kind: str, group: int) -> str:
    """``"3 strata"``, ``"1 defect"``."""
    if "layered" in kind:
        return f"{group} strata"
    return f"{group} defect{'' if group == 1 else 's'}"


def name_in_paper(row: Row) -> str | None:
    """The row of the paper's tables that a row is compared with."""
    return row.paper if row.paper is not None else method(row.method).paper


def paper_beside(suite: Suite, data: Iterable[str], key: str) -> PaperTable:
    """A table of the paper; an empty one if the suite is not compared with it, or its data are disturbed or hold other
    specimens, unlike the paper's.
    """
    if suite.paper is None or any(name in suite.plates or _unlike_the_paper(suite.data[name]) for name in data):
        return PaperTable()
    paper_table(suite.paper)
    return paper_table(key)


def paper_size(data: Data) -> bool:
    """Whether recordings have the paper's cells and frames."""
    usual = type(data)()
    return (data.shape, data.frames) == (usual.shape, usual.frames)


def _unlike_the_paper(data: Data) -> bool:
    return data.noise > 0 or data.gain > 0 or bool(data.ranges) or data.defects is not None


def with_paper(
    suite: Suite, rows: Iterable[tuple[Row, Mapping[str, Any]]], places: Places, only: PaperTable, groups: Iterable[str]
) -> tuple[list[dict[str, Any]], list[int]]:
    """Rows with the paper's numbers, then those of ``only`` that no method of the suite stands for.

    Args:
        suite: the suite.
        rows: methods and their values.
        places: where the paper has numbers of our columns.
        only: table of the paper whose other rows are added.
        groups: of specimens there.

    Returns:
        The rows, and the indices of those that are the paper's alone.
    """

    def theirs(name: str | None) -> dict[str, Any]:
        return {f"{key}_{PAPER}": table.number(group, name, column) for key, (table, group, column) in places.items()}

    ours = [{"method": row.name, **values, **theirs(name_in_paper(row))} for row, values in rows]
    known = {name_in_paper(row) for row in suite.methods}
    names = [name for name in only.rows(groups) if name not in known]
    marked = [f"{name}, with labels" if name in only.labels else name for name in names]
    others = [{"method": title, **theirs(name)} for name, title in zip(names, marked, strict=True)]
    return [*ours, *others], list(range(len(ours), len(ours) + len(others)))


def contests(suite: Suite, first: int = 0) -> list[list[int]]:
    """Indices of the rows that are compared, the rows of the methods beginning at ``first``: those trained on true
    volumes apart.
    """
    apart: dict[bool, list[int]] = {}
    for index, row in enumerate(suite.methods, first):
        apart.setdefault(method(row.method).labels, []).append(index)
    return list(apart.values())


def machine(outcomes: Sequence[Outcome]) -> str:
    """What the seconds were measured on, in a sentence."""
    if not outcomes:
        return ""
    processors = sorted({o.provenance.get("processor", "an unknown processor") for o in outcomes})
    threads = sorted({o.task.threads for o in outcomes})
    words = " or ".join(str(t) for t in threads)
    return f"On {' and '.join(processors)}, {words} thread{'' if threads == [1] else 's'} per reconstruction."
