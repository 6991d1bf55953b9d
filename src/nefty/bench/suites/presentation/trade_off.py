"""Found against false on parts of the test bed, as each method's threshold moves: tables and figures.

Methods that score their indications are followed from the highest score to the lowest that they called; classical ones
over the thresholds at which they were judged. Only visible defects are targets, and every part is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nefty.bench.parts.score import LEVELS
from nefty.bench.suites.presentation.columns import METHOD, by_method, decimals, title_of
from nefty.bench.suites.presentation.trial_tables import share
from nefty.bench.tables.table import Column, Share, Table
from nefty.metrics.detection.false_calls import FalseCalls
from nefty.metrics.detection.trade_off import TradeOff, TradePoint, trade_off

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.report.pages.page import Section

SHOWS = (
    "Some points of the curves of found against false: what scores at least the threshold is called. Of methods with "
    "scores these are standard deviations of the evidence, from the run's own threshold on; of classical ones "
    "multiples of their own threshold, as long as lower ones find more. In brackets, and from - to: 95 % intervals, by "
    "Wilson of what is found, exact (Poisson) of false calls."
)
POINTS = 8  # of a method, in the table
FURTHEST = 2.0  # false calls per part, in the figure


COLUMNS = (
    METHOD,
    Column("threshold", "threshold", "{:.3g}".format),
    Column("found", "visible found", share),
    Column("false", "false"),
    Column("rate", "per part", decimals(2)),
    Column("low", "from", decimals(2)),
    Column("high", "to", decimals(2)),
)


def trade_offs(suite: Suite, done: Done) -> list[Table]:
    """A table for each sort of parts; none where no method has a curve."""
    tables = []
    for data in suite.trial_parts:
        rows = [_row(curve, point) for curve in curves(suite, done, data) for point in curve.chosen(POINTS)]
        if rows:
            title = title_of(suite, "Found against false", [data])
            tables.append(Table(title, COLUMNS, rows, f"trade-off-{data}", SHOWS))
    return tables


def _row(curve: TradeOff, point: TradePoint) -> dict[str, Any]:
    (low, high), calls = point.false_calls.interval(), point.false_calls
    found = {"method": curve.name, "threshold": point.threshold, "found": Share(point.found, point.targets)}
    return {**found, "false": calls.count, "rate": calls.rate, "low": low, "high": high}


def trade_off_figures(suite: Suite, done: Done) -> list[Section]:
    """A figure for each sort of parts."""
    from nefty.report.pages.trade_off_section import trade_off_section

    found = {data: curves(suite, done, data) for data in suite.trial_parts}
    return [
        trade_off_section(own, title_of(suite, "Found against false", [data]), rows=False, furthest=FURTHEST)
        for data, own in found.items()
        if own
    ]


def curves(suite: Suite, done: Done, data: str) -> list[TradeOff]:
    """Of every method that has one, in the suite's order."""
    rows = ((row.name, [outcome.facts for outcome in own]) for row, own in by_method(suite, done, [data]))
    return [curve for name, facts in rows if facts and (curve := _scored(name, facts) or _scanned(name, facts))]


def _scored(name: str, parts: Sequence[Mapping[str, Any]]) -> TradeOff | None:
    """By scores; ``None`` if some indication has none."""
    visible = [d for facts in parts for d in facts["defects"] if d["visible"]]
    found = [d.get("highest_score") for d in visible if d["found"]]
    lists = [facts.get("false_scores") for facts in parts]
    false = [score for own in lists if own is not None for score in own]
    if not found or None in found or None in lists or None in false:
        return None
    return trade_off([*found, *[float("nan")] * (len(visible) - len(found))], false, len(parts), name=name)


def _scanned(name: str, parts: Sequence[Mapping[str, Any]]) -> TradeOff | None:
    """By the thresholds at which a classical method was judged; ``None`` if it was not.

    Only those that find more than all with fewer false calls: below them regions flow together, and less is found.
    """
    points = []
    for level in reversed(LEVELS):
        at = [facts.get("scan", {}).get(f"{level:g}") for facts in parts]
        known = [facts for facts in at if facts is not None]
        visible = [d["found"] for facts in known for d in facts["defects"] if d["visible"]]
        if len(known) < len(parts) or not visible:
            return None
        false = FalseCalls(sum(facts["false"] for facts in known), len(known))
        points.append(TradePoint(level, sum(visible), len(visible), false))
    return TradeOff(TradeOff(tuple(points)).front, name, "threshold")
