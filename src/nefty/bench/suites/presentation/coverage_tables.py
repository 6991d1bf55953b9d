"""Tables of how often intervals hold the truth, by quantity and by group."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.coverage import QUANTITIES, Pair, covered, fitted_factors, held_out, pairs_of, width
from nefty.bench.suites.presentation.columns import by_method, decimals, title_of
from nefty.bench.suites.presentation.trial_tables import share
from nefty.bench.tables.table import Column, Share, Table
from nefty.inversion.indication_code import code_of_indications
from nefty.result.indications.intervals import Factors, stored_factors

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

SHOWS = (
    "Intervals of 90 % by the factors that come with nefty, on the visible defects that were found. Width: of the "
    "interval over the value found (of the place: its radius over the diameter found). Oracle: the width between the "
    "5th and the 95th percentile of the errors of these very defects, which no method can know beforehand. Groups by "
    "diameter over depth, as found. In brackets: 95 % intervals by Wilson."
)
HELD_OUT = (
    "Factors as --write would make them, of all parts but one, tried on the visible defects found in that one. "
    "In brackets: 95 % intervals by Wilson."
)
COLUMNS = (
    Column("quantity", "interval of"),
    Column("group", "group"),
    Column("held", "held", share, "high"),
    Column("width", "mean width", decimals(2), "low"),
    Column("oracle", "oracle's", decimals(2)),
)


def coverage(suite: Suite, done: Done) -> list[Table]:
    """How often intervals hold, of the first method on each sort of parts: the stored ones, and new ones."""
    factors, tables = stored_factors(), []
    for data in suite.trial_parts:
        parts = [pairs_of([outcome.facts]) for outcome in _first(suite, done, data)]
        pairs = [pair for part in parts for pair in part]
        if factors is not None:
            rows = [row for quantity in QUANTITIES for row in _rows(pairs, factors, quantity)]
            tables.append(Table(title_of(suite, "Intervals", [data]), COLUMNS, rows, f"coverage-{data}", SHOWS))
        held = [
            {"quantity": _word(quantity), "held": Share(sum(own), len(own))}
            for quantity, own in held_out(parts).items()
        ]
        title = title_of(suite, "Intervals, each part by the factors of the others", [data])
        tables.append(Table(title, (COLUMNS[0], COLUMNS[2]), held, f"held-out-{data}", HELD_OUT))
    return tables


def _word(quantity: str) -> str:
    return {"offset": "place"}.get(quantity, quantity)


def factors_of(suite: Suite, done: Done) -> Factors | None:
    """Factors measured on what a suite has run, of its first method; ``None`` if that is not enough."""
    outcomes = [own for data in suite.trial_parts for own in _first(suite, done, data)]
    pairs = pairs_of(outcome.facts for outcome in outcomes)
    if not pairs:
        return None
    seeds = "; ".join(f"{'/'.join(p.kinds)} {p.seeds}" for p in suite.trial_parts.values())
    return fitted_factors(
        pairs,
        recipe=suite.methods[0].method,
        code=code_of_indications(),
        made=f"nefty bench run {suite.name}, seeds {seeds}, {date.today().isoformat()}",
        parts=len(outcomes),
    )


def _first(suite: Suite, done: Done, data: str) -> Sequence[Outcome]:
    """What the first method did on parts of one sort."""
    rows = by_method(suite, done, [data])
    return rows[0][1] if rows else []


def _rows(pairs: Sequence[Pair], factors: Factors, quantity: str) -> list[dict[str, Any]]:
    known = [p for p in pairs if covered(p, factors, quantity) is not None]
    groups = {"all": known}
    last = 0.0
    for group in factors.groups:
        word = f"{last:.2g} to {group.up_to:.2g}" if np.isfinite(group.up_to) else f"above {last:.2g}"
        groups[word] = [p for p in known if last < p.aspect <= group.up_to]
        last = group.up_to
    return [_row(quantity, word, own, factors) for word, own in groups.items()]


def _row(quantity: str, word: str, own: Sequence[Pair], factors: Factors) -> dict[str, Any]:
    errors = [getattr(p, quantity) for p in own]
    low, high = np.percentile(errors, (5, 95)) if own else (np.nan, np.nan)
    oracle = np.percentile(errors, 90) if own and quantity == "offset" else high - low
    return {
        "quantity": _word(quantity),
        "group": word,
        "held": Share(sum(bool(covered(p, factors, quantity)) for p in own), len(own)),
        "width": float(np.mean([width(p, factors, quantity) for p in own])) if own else None,
        "oracle": float(oracle) if own else None,
    }
