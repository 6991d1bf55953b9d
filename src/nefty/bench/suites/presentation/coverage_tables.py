"""Tables of how often intervals hold the truth, by quantity and by group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.coverage import QUANTITIES, Pair, covered, fitted_factors, held_out, oracle, pairs_of, width
from nefty.bench.suites.presentation.columns import by_method, decimals
from nefty.bench.suites.presentation.trial_tables import judged, share
from nefty.bench.tables.table import Column, Share, Table
from nefty.result.indications.intervals import Factors, Group, stored_factors

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

SHOWS = (
    "Intervals of 90 % by the factors that come with nefty, on the visible defects that were found. Width: of the "
    "interval over the value found (of the place: its radius over the diameter found). Oracle: the width between the "
    "5th and the 95th percentile of the errors of these very defects, which no method can know beforehand. Ranges: "
    "groups by diameter over depth, as found. In brackets: 95 % intervals by Wilson."
)
HELD_OUT = (
    "The same by factors as --write would make them: each part or specimen by those of all others. Of a width without "
    "end there is no mean."
)
COLUMNS = (
    Column("quantity", "interval of"),
    Column("group", "group"),
    Column("held", "held", share, "high"),
    Column("width", "mean width", decimals(2), "low"),
    Column("oracle", "oracle's", decimals(2)),
)


@dataclass(frozen=True)
class Judged:
    """A part or specimen whose indications were compared with the truth.

    Args:
        words: for the groups that it belongs to.
        pairs: of its defects.
    """

    words: tuple[str, ...]
    pairs: Sequence[Pair]


#: A defect, the factors that are tried on it, and the groups that it belongs to.
Tried = tuple[Pair, Factors, tuple[str, ...]]


def coverage(suite: Suite, done: Done) -> list[Table]:
    """How often intervals hold, of the first method: by the stored factors, if there are any of its recipe, and by
    those of all other parts.
    """
    outcomes = _outcomes(suite, done)
    parts = [Judged(_words(suite, data, own), pairs_of([judged(own)])) for data, own in outcomes]
    stored, tables = stored_factors().get(_recipe([own for _, own in outcomes])), []
    if stored is not None:
        tried = [(pair, stored, part.words) for part in parts for pair in part.pairs]
        tables.append(_table("Intervals", tried, stored.groups, "coverage", SHOWS))
    by_others = zip(parts, held_out([part.pairs for part in parts]), strict=True)
    tried = [(pair, own, part.words) for part, own in by_others if own is not None for pair in part.pairs]
    fitted = factors_of(suite, done)
    title = "Intervals, each by the factors of the others"
    tables.append(_table(title, tried, fitted.groups if fitted else (), "held-out", HELD_OUT))
    return tables


def factors_of(suite: Suite, done: Done) -> Factors | None:
    """Factors measured on what a suite has run, of its first method; ``None`` if that is not enough, or if not one
    code, with one set of settings, has found all of it.
    """
    outcomes = [own for _, own in _outcomes(suite, done)]
    parts = [pairs_of([judged(own)]) for own in outcomes]
    pairs = [pair for part in parts for pair in part]
    codes = {own.facts.get("code_of_indications") for own in outcomes}
    if not pairs or len(codes) != 1 or None in codes:
        return None
    used = (*suite.data.values(), *suite.trial_parts.values())
    sources = dict.fromkeys(f"{'/'.join(source.kinds)} {source.seeds}" for source in used)
    return fitted_factors(
        pairs,
        recipe=_recipe(outcomes),
        code=str(codes.pop()),
        made=f"nefty bench run {suite.name}, seeds {'; '.join(sources)}, {date.today().isoformat()}",
        parts=sum(map(bool, parts)),
        unitless=bool(suite.data),
    )


def _outcomes(suite: Suite, done: Done) -> list[tuple[str, Outcome]]:
    """What the first method did, with the name of the data."""
    return [(data, own) for data in suite.sources for own in by_method(suite, done, [data])[0][1]]


def _recipe(outcomes: Sequence[Outcome]) -> str:
    """Its name; that of the method where it has none."""
    return next((str(own.task.settings.get("name", own.task.method)) for own in outcomes), "")


def _words(suite: Suite, data: str, outcome: Outcome) -> tuple[str, ...]:
    """Kind and data of a part or specimen, where a suite has several."""
    kinds = {kind for source in suite.sources.values() for kind in source.kinds}
    return (outcome.task.kind,) * (len(kinds) > 1) + (suite.sources[data].title,) * (len(suite.sources) > 1)


def _table(title: str, tried: Sequence[Tried], groups: Sequence[Group], name: str, shows: str) -> Table:
    rows = [
        _row(quantity, word, [(p, f) for p, f in own if covered(p, f, quantity) is not None])
        for quantity in QUANTITIES
        for word, own in _groups(tried, groups)
    ]
    return Table(title, COLUMNS, rows, name, shows)


def _groups(tried: Sequence[Tried], groups: Sequence[Group]) -> Iterator[tuple[str, list[tuple[Pair, Factors]]]]:
    """All, those of each word, and those of each range of diameter over depth."""
    yield "all", [(pair, factors) for pair, factors, _ in tried]
    for word in dict.fromkeys(word for each in zip(*(words for *_, words in tried), strict=True) for word in each):
        yield word, [(pair, factors) for pair, factors, words in tried if word in words]
    last = 0.0
    for group in groups if len(groups) > 1 else ():
        word = f"{last:.2g} to {group.up_to:.2g}" if math.isfinite(group.up_to) else f"above {last:.2g}"
        yield word, [(pair, factors) for pair, factors, _ in tried if last < pair.aspect <= group.up_to]
        last = group.up_to


def _row(quantity: str, group: str, own: Sequence[tuple[Pair, Factors]]) -> dict[str, Any]:
    wide = float(np.mean([width(*one, quantity) for one in own])) if own else math.inf
    return {
        "quantity": {"offset": "place"}.get(quantity, quantity),
        "group": group,
        "held": Share(sum(bool(covered(*one, quantity)) for one in own), len(own)),
        "width": wide if math.isfinite(wide) else None,
        "oracle": oracle([pair for pair, _ in own], quantity) if own else None,
    }
