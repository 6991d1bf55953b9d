"""Tables of parts of the test bed: what was found, what was false, how deep; classical methods also at the threshold
that serves them best.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.score import LEVELS
from nefty.bench.plates.score import WIDE
from nefty.bench.suites.presentation.columns import (
    COUNT,
    METHOD,
    MISSING,
    SECONDS,
    by_method,
    cost,
    decimals,
    median_of,
    middle,
    title_of,
)
from nefty.bench.tables.formats import DASH
from nefty.bench.tables.table import Column, Interval, Share, Table, interval
from nefty.bench.tasks.methods import method
from nefty.metrics.summary import wilson

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Row, Suite
    from nefty.bench.tasks.task import Outcome

    Key = tuple[str, int]
    #: What was said of each part, by kind and seed; see ``nefty.bench.parts.score.trial_facts``.
    Facts = Mapping[Key, Mapping[str, Any]]

SHOWS = (
    "Found: an indication has its centre over the defect, or within one pixel of it, or overlaps it by an IoU of 0.2. "
    "False: an indication that is of no defect, visible or not. IoU: of all indications with all visible defects of a "
    "part. Depth errors: |d - d*|/d*, over the visible defects found; under 'both', of this method and of the first on "
    "those that both found. Rows 'at equal false': at the one threshold for all parts that finds most with no more "
    "false indications than the first method."
)


def share(value: Share | None) -> str:
    """``"24 of 26 [0.76, 0.98]"``."""
    if value is None or not value.of:
        return DASH
    low, high = wilson(value.count, value.of)
    return f"{value} [{low:.2f}, {high:.2f}]"


COLUMNS = (
    METHOD,
    COUNT,
    MISSING,
    Column("found", "visible found", share, "high"),
    Column("wide", f"of width/depth >= {WIDE:g}", share, "high"),
    Column("false", "false per part", interval(2), "low"),
    Column("false_sound", "per sound part", interval(2), "low"),
    Column("iou", "IoU", interval(2), "high"),
    Column("depth", "depth error, median", decimals(3), "low"),
    Column("depth90", "90 %", decimals(3), "low"),
    Column("both", "both: this", decimals(3)),
    Column("both_first", "the first", decimals(3)),
    SECONDS,
)


def trials(suite: Suite, done: Done) -> list[Table]:
    """Found, false, masks and depths of every method on parts."""
    tables = []
    for data in suite.sources:
        rows = by_method(suite, done, [data])
        first = _facts(rows[0][1]) if rows else {}
        shown = []
        for row, own in rows:
            shared = {**cost(suite, row, own, data), "seconds": middle(own, "seconds")}
            against = first if row is not rows[0][0] else {}
            shown.append({"method": row.name, **shared, **_values(_facts(own), against)})
            shown += [{**shared, **values} for values in _at_equal_false(row, own, first)]
        tables.append(Table(title_of(suite, "Parts", [data]), COLUMNS, shown, f"trials-{data}", SHOWS))
    return tables


def judged(outcome: Outcome) -> Mapping[str, Any]:
    """What was said of a part or specimen by the rule of ``nefty.bench.parts.score``."""
    return outcome.facts.get("trial", outcome.facts)


def _facts(own: Sequence[Outcome]) -> Facts:
    return {(o.task.kind, o.task.seed): judged(o) for o in own}


def _at_equal_false(row: Row, own: Sequence[Outcome], first: Facts) -> list[dict[str, Any]]:
    """A classical method at its best threshold; none for others."""
    if method(row.method).takes != "frames" or not own or not first:
        return []
    limit = _false(first)
    best: tuple[int, float, Facts] | None = None
    for level in LEVELS:
        at = {key: facts.get("scan", {}).get(f"{level:g}") for key, facts in _facts(own).items()}
        if any(facts is None for facts in at.values()):
            return []
        known: Facts = {key: facts for key, facts in at.items() if facts is not None}
        found = _visible(known)
        if _false(known) <= limit and (best is None or found.count > best[0]):
            best = (found.count, level, known)
    if best is None:
        return [{"method": f"{row.name}, at equal false: none"}]
    return [{"method": f"{row.name}, at equal false (x{best[1]:g})", **_values(best[2], first)}]


def _values(facts: Facts, first: Facts) -> dict[str, Any]:
    sound = [f["false"] for f in facts.values() if not f["defects"]]
    errors = list(_errors(facts).values())
    this, other = _errors(facts), _errors(first)
    both = [key for key in this if key in other]
    return {
        "found": _visible(facts),
        "wide": _visible(facts, WIDE),
        "false": Interval.of(f["false"] for f in facts.values()),
        "false_sound": Interval.of(sound),
        "iou": Interval.of(f["iou"] for f in facts.values()),
        "depth": median_of(errors),
        "depth90": float(np.percentile(errors, 90)) if errors else None,
        "both": median_of(this[key] for key in both),
        "both_first": median_of(other[key] for key in both),
    }


def _visible(facts: Facts, wide: float = 0.0) -> Share:
    """How many of the visible defects, so many times as wide as deep, were found."""
    there = [d for f in facts.values() for d in f["defects"] if d["visible"] and d["aspect"] >= wide]
    return Share(sum(d["found"] for d in there), len(there))


def _false(facts: Facts) -> float:
    """False indications per part."""
    return math.fsum(f["false"] for f in facts.values()) / len(facts) if facts else 0.0


def _errors(facts: Facts) -> dict[tuple[Key, int], float]:
    """Relative depth error of the visible defects that were found, by part and number."""
    return {
        (key, number): abs(d["found_depth"] - d["depth"]) / d["depth"]
        for key, f in facts.items()
        for number, d in enumerate(f["defects"])
        if d["visible"] and d["found"] and d["found_depth"] is not None
    }
