"""Tables of plates with flat-bottom holes: 2D masks and 2.5D depths (paper, table 2 and appendix H.4), and by holes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

from nefty.bench.plates.score import FOUND, WIDE
from nefty.bench.suites.presentation.columns import (
    BUDGET,
    COUNT,
    METHOD,
    MISSING,
    SECONDS,
    Metric,
    by_method,
    cost,
    decimals,
    median_of,
    middle,
    title_of,
    with_paper,
)
from nefty.bench.tables.paper_numbers import PaperTable, paper_table
from nefty.bench.tables.table import Column, Share, Table
from nefty.bench.tasks.methods import method

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Row, Suite
    from nefty.bench.tasks.task import Outcome

MASK = (
    Metric("iou", "IoU"),
    Metric("dice", "Dice"),
    Metric("precision", "precision"),
    Metric("recall", "recall"),
    Metric("false_regions", "false regions", 2, best="low"),
)
DEPTH = (
    Metric("depth_abs_rel", "Abs Rel", best="low"),
    Metric("depth_mae", "MAE mm", best="low", scale=1e3),
    Metric("depth_rmse", "RMSE mm", best="low", scale=1e3),
    Metric("depth_delta1", "ratio < 1.25"),
    Metric("depth_delta2", "ratio < 1.25²"),
    Metric("depth_delta3", "ratio < 1.25³"),
    Metric("depth_recall", "recall"),
)
#: Which holes: prefix of the scores, words.
HOLES = {"": "all holes", "wide_": f"holes at least {WIDE:g} times as wide as deep"}
#: Limits of width over depth.
ASPECTS = (0.0, 1.0, 1.5, 2.0, 4.0, float("inf"))
GROUP = "plates"  # of the paper's numbers


def plates(suite: Suite, done: Done) -> list[Table]:
    """Masks and depths of every method, for all holes and for wide ones; volumes also by the paper's projection."""
    tables = []
    for data in suite.plates:
        rows = [
            (row.model_copy(update={"title": f"{row.name}{words}"}), own, before)
            for row, own in by_method(suite, done, [data])
            for before, words in _projections(row)
        ]
        for which, holes_words in HOLES.items():
            for name, what, metrics in (("2d", "2D masks", MASK), ("depth", "2.5D depths", DEPTH)):
                paper = paper_table("pvc") if suite.paper == "pvc" and not which else PaperTable()
                values = [(row, _values(suite, row, own, data, metrics, before + which)) for row, own, before in rows]
                places = {m.key: (paper, GROUP, m.key) for m in metrics}
                shown, quiet = with_paper(suite, values, places, paper, [GROUP])
                columns = (METHOD, COUNT, MISSING, BUDGET, *chain.from_iterable(m.columns() for m in metrics), SECONDS)
                title = title_of(suite, f"{what}, {holes_words}", [data])
                label = f"plates-{name}-{data}{'-wide' if which else ''}"
                tables.append(Table(title, columns, shown, label, _shows(name, which), quiet))
    return tables


def holes(suite: Suite, done: Done) -> list[Table]:
    """How many holes every method found, and how deep, by how wide they are for their depth."""
    names = [_between(low, high) for low, high in pairwise(ASPECTS)]
    tables = []
    for data in suite.plates:
        found, errors = [], []
        for row, own in by_method(suite, done, [data]):
            by_aspect: list[list[dict[str, Any]]] = [[] for _ in names]
            for hole in chain.from_iterable(o.facts["holes"] for o in own):
                by_aspect[sum(hole["aspect"] >= limit for limit in ASPECTS[1:-1])].append(hole)
            seen = [[hole for hole in some if hole["share"] >= FOUND] for some in by_aspect]
            shares = {n: Share(len(s), len(a)) for n, s, a in zip(names, seen, by_aspect, strict=True) if a}
            found.append({"method": row.name, **shares})
            errors.append({"method": row.name, **{n: _error(s) for n, s in zip(names, seen, strict=True)}})
        right = (METHOD, *(Column(name, f"width/depth {name}", best="high") for name in names))
        wrong = (METHOD, *(Column(name, f"width/depth {name}", decimals(3), "low") for name in names))
        shows = f"A hole is found if the mask holds {100 * FOUND:g} % of its pixels or more."
        tables.append(Table(title_of(suite, "Holes found", [data]), right, found, f"holes-{data}", shows))
        shows = "Median over the holes found of |d - d*|/d*, d the median depth over the hole's pixels."
        tables.append(
            Table(title_of(suite, "Depth of the holes found", [data]), wrong, errors, f"holes-depth-{data}", shows)
        )
    return tables


def _projections(row: Row) -> list[tuple[str, str]]:
    """Prefix of the scores and words: volumes are projected in two ways, classical methods have their own maps."""
    if method(row.method).takes == "frames":
        return [("", "")]
    return [("", ""), ("paper_", ", paper's projection")]


def _values(
    suite: Suite, row: Row, own: Sequence[Outcome], data: str, metrics: Sequence[Metric], before: str
) -> dict[str, Any]:
    marks = {m.key: Metric(before + m.key, m.title).of(own) for m in metrics}
    return {**cost(suite, row, own, data), **marks, "seconds": middle(own, "seconds")}


def _shows(name: str, which: str) -> str:
    if name == "2d":
        words = (
            "Pixels with a hole under them, against the label, on its own pixels. A false region touches no hole; the "
            "column has the mean number per plate."
        )
    else:
        words = "Over the pixels that have a hole in the label and a depth by the method; the recall says how many."
    if which:
        words += " Pixels over narrower holes, and next to them within their depth, do not count."
    return words


def _error(seen: Sequence[dict[str, Any]]) -> float | None:
    known = [hole for hole in seen if hole["found_depth"] is not None]
    return median_of(abs(hole["found_depth"] - hole["depth"]) / hole["depth"] for hole in known)


def _between(low: float, high: float) -> str:
    if high == float("inf"):
        return f"from {low:g}"
    return f"below {high:g}" if low == 0 else f"{low:g} to {high:g}"
