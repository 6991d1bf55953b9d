"""What each method saves against the first of the suite, specimen by specimen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nefty.bench.suites.presentation.columns import (
    COUNT,
    EVALUATIONS,
    METHOD,
    SECONDS,
    by_method,
    gain,
    middle,
    on_same_specimen,
    title_of,
)
from nefty.bench.tables.table import Column, Interval, Table, interval

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome


def savings(suite: Suite, done: Done) -> list[Table]:
    """Differences in IoU and PSNR and shares of evaluations and seconds, over the specimens that both have."""
    columns = (
        METHOD,
        COUNT,
        Column("iou", "IoU", interval(3), "high"),
        Column("iou_gain", "gain in IoU", interval(3, signed=True)),
        Column("psnr_gain", "gain in PSNR dB", interval(2, signed=True)),
        EVALUATIONS,
        Column("evaluations_saved", "evaluations saved %", interval(1, scale=100.0)),
        SECONDS,
        Column("seconds_saved", "seconds saved %", interval(1, scale=100.0)),
    )
    shows = "Gains and savings are means of differences to the first row on the same specimens, with 95 % intervals."
    tables = []
    for data in suite.data:
        methods = by_method(suite, done, [data])
        _, first = methods[0]
        rows = []
        for row, own in methods:
            values = {
                "method": row.name,
                "n": len(own),
                "iou": Interval.of(o.scores.get("iou") for o in own),
                "evaluations": middle(own, "evaluations"),
                "seconds": middle(own, "seconds"),
            }
            if own is not first:
                values |= {f"{score}_gain": gain(first, own, score) for score in ("iou", "psnr")}
                values |= {f"{fact}_saved": _saved(first, own, fact) for fact in ("evaluations", "seconds")}
            rows.append(values)
        tables.append(Table(title_of(suite, "Savings", [data]), columns, rows, f"savings-{data}", shows))
    return tables


def _saved(first: Sequence[Outcome], own: Sequence[Outcome], fact: str) -> Interval | None:
    """Mean of 1 - own/first."""
    pairs = on_same_specimen(first, own)
    return Interval.of(1 - b.facts[fact] / a.facts[fact] for a, b in pairs if a.facts.get(fact))
