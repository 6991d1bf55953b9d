"""How a recording's pixels cool, in double logarithmic axes, beside the slope of a thick part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from nefty.core.errors import InputError
from nefty.report.figures.curves import Curve, log_axis
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import INK, LINES, MUTED, RULE, AxisUnits, axis_title, dress

DECADES = 4  # of temperature and of time, at most
AFTER = 3  # times the time of the peak: there the line goes through the curve, for a pulse is short by then


def decay_figure(
    times: np.ndarray, curves: Sequence[Curve], units: AxisUnits | None = None, *, law: np.ndarray | None = None
) -> go.Figure:
    """Curves over time, and a line of slope -1/2 through the first one, soon after its peak; beside it a slab's law.

    Args:
        times: after the flash, (t,); those up to 0 are left out.
        curves: the first is typical of the part; only ``measured`` is drawn.
        units: words for the axes.
        law: how a sound slab of the part's thickness and diffusivity cools, (t,), of any strength: it is drawn through
            the same point.
    """
    units = units or AxisUnits()
    late = np.asarray(times) > 0
    drawn = [np.asarray(curve.measured, dtype=np.float64)[late] for curve in curves]
    drawn = [np.where(values > 0, values, np.nan) for values in drawn]
    if not late.any() or not any(np.isfinite(values).any() for values in drawn):
        raise InputError("no curve has a value above ambient after the flash.")
    t = np.asarray(times)[late]
    figure = go.Figure()
    for number, (curve, values) in enumerate(zip(curves, drawn, strict=True)):
        figure.add_trace(
            go.Scatter(
                x=t,
                y=values,
                mode="lines+markers" if number == 0 else "lines",
                marker={"size": 4},
                line={"color": LINES[number % len(LINES)], "width": 2.2 if number == 0 else 1.3},
                name=curve.label,
                hovertemplate="t = %{x:.4~g}<br>%{y:.5~g}<extra>%{fullData.name}</extra>",
            )
        )
    if np.isfinite(drawn[0]).any():
        known = np.flatnonzero(np.isfinite(drawn[0]))
        later = known[t[known] >= AFTER * t[known[np.argmax(drawn[0][known])]]]
        at = later[0] if later.size else known[-1]
        line = {"color": MUTED, "width": 1.5, "dash": "dash"}
        half = drawn[0][at] * np.sqrt(t[at] / t)
        figure.add_trace(
            go.Scatter(x=t, y=half, mode="lines", line=line, name="slope −1/2: a thick part", hoverinfo="skip")
        )
        if law is not None:
            sound = np.asarray(law, dtype=np.float64)[late]
            line = {"color": INK, "width": 1.5, "dash": "dot"}
            through = drawn[0][at] * sound / sound[at]
            figure.add_trace(
                go.Scatter(x=t, y=through, mode="lines", line=line, name="law of a sound slab", hoverinfo="skip")
            )
    return _dressed(figure, t, drawn, units)


def _dressed(figure: go.Figure, t: np.ndarray, drawn: Sequence[np.ndarray], units: AxisUnits) -> go.Figure:
    values = np.concatenate([v[np.isfinite(v)] for v in drawn])
    high = 1.3 * float(values.max())
    low = max(float(values.min()) / 1.3, high / 10**DECADES)
    dress(figure, height=400, legend=True)
    ends = max(float(t[0]) / 1.1, float(t[-1]) / 10**DECADES), float(t[-1]) * 1.1
    for update, (start, end), title in (
        (figure.update_xaxes, ends, axis_title("Time after the flash", units.time)),
        (figure.update_yaxes, (low, high), axis_title("Rise above ambient", units.temperature)),
    ):
        update(gridcolor=RULE, title_text=title, **log_axis(start, end))
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}, margin={"t": 84})
    return stack_when_narrow(figure, [300])
