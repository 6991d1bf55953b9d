"""The section of found against false."""

from __future__ import annotations

from collections.abc import Sequence

from nefty.metrics.detection.trade_off import TradeOff, TradePoint
from nefty.report.figures.trade_off import trade_off_figure
from nefty.report.pages.page import Section, Table


def trade_off_section(
    curves: Sequence[TradeOff],
    title: str = "Found against false",
    *,
    rows: bool = True,
    furthest: float | None = None,
) -> Section:
    """The figure, and a table of some of its points.

    Args:
        curves: all counted over the same.
        title: of the section.
        rows: whether it has the table.
        furthest: the most false calls that the figure shows; all if not given.
    """
    per = curves[0].per
    words = list(dict.fromkeys(curve.quantity for curve in curves))
    moves = "threshold" if words != ["signal"] else "threshold of the signal"
    named = any(curve.name for curve in curves)
    columns = [*(["of"] if named else []), "threshold", "found", "share, 95 %", "false", f"per {per}, 95 %"]
    cells = [[*([curve.name] if named else []), *_cells(p)] for curve in curves for p in curve.chosen()]
    return Section(
        title=title,
        shows=f"Share of the known defects that are found, against false calls per {per}, as the "
        f"{moves} moves from high (left) to low. The dot is where a line ends, with 95 % intervals "
        "(Wilson of what is found, exact of false calls); what lower thresholds would do was not recorded.",
        figure=trade_off_figure(curves, furthest),
        table=Table(columns, cells, one_line=True) if rows else None,
        good="A line that rises steeply at the left and then runs flat: a threshold there finds nearly all there is to "
        "find.",
        bad="A line that rises all the way: every further defect costs false calls.",
        do="Choose the threshold by what a false call and a missed defect cost, before the part is looked at; give "
        "both numbers together.",
    )


def _cells(point: TradePoint) -> list[str]:
    calls = point.false_calls
    found = [f"{point.threshold:.3g}", f"{point.found} of {point.targets}", _with(point.share, point.interval)]
    return [*found, str(calls.count), _with(calls.rate, calls.interval())]


def _with(value: float, interval: tuple[float, float]) -> str:
    return f"{value:.2g} ({interval[0]:.2g} to {interval[1]:.2g})"
