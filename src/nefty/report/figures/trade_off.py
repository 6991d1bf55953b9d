"""Figure of found against false, as the threshold moves."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from nefty.metrics.detection.trade_off import TradeOff
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import LINES, RULE, dress

DASHES = ("solid", "dash", "dot")


def trade_off_figure(curves: Sequence[TradeOff], furthest: float | None = None) -> go.Figure:
    """Share found against false calls, a line for each curve; a dot where it ends, with 95 % intervals.

    Args:
        curves: all counted over the same.
        furthest: the most false calls that are shown; all if not given.
    """
    figure = go.Figure()
    for number, curve in enumerate(curves):
        line = {"color": LINES[number % len(LINES)], "dash": DASHES[number // len(LINES) % len(DASHES)], "width": 2}
        points, name = curve.points, curve.name or "all targets"
        figure.add_scatter(
            x=[0.0, *(p.false_calls.rate for p in points)],
            y=[0.0, *(p.share for p in points)],
            customdata=[f"above {points[0].threshold:.3g}", *(f"{p.threshold:.3g}" for p in points)],
            mode="lines",
            line={**line, "shape": "hv"},
            name=name,
            legendgroup=name,
            hovertemplate=f"{curve.quantity} %{{customdata}}<br>found %{{y:.2f}}<br>false %{{x:.3~g}}"
            f"<extra>{name}</extra>",
        )
        _add_end(figure, curve, name, str(line["color"]))
    dress(figure, height=360, below=60, legend=len(curves) > 1)
    rightmost = max(curve.points[-1].false_calls.interval()[1] for curve in curves)
    rightmost = min(rightmost, furthest or rightmost)
    figure.update_xaxes(
        title_text=f"false calls per {curves[0].per}", gridcolor=RULE, range=[-0.02 * rightmost, rightmost]
    )
    figure.update_yaxes(title_text="share of defects found", gridcolor=RULE, range=[-0.03, 1.05])
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}})
    return stack_when_narrow(figure, [300])


def _add_end(figure: go.Figure, curve: TradeOff, name: str, colour: str) -> None:
    """The point of the lowest threshold, with its intervals."""
    last = curve.points[-1]
    (low, high), (least, most) = last.interval, last.false_calls.interval()
    rate, share = last.false_calls.rate, last.share
    bars = {"color": colour, "thickness": 1, "symmetric": False}
    figure.add_scatter(
        x=[rate],
        y=[share],
        error_x={"array": [most - rate], "arrayminus": [rate - least], **bars},
        error_y={"array": [high - share], "arrayminus": [share - low], **bars},
        mode="markers",
        marker={"color": colour, "size": 8},
        name=name,
        legendgroup=name,
        showlegend=False,
        hovertemplate=f"lowest {curve.quantity} {last.threshold:.3g}<extra>{name}</extra>",
    )
