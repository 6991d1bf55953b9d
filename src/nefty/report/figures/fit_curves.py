"""Measured against fitted decay at chosen points, with the band that noise explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.data.preparation.sampling import evenly_in_log
from nefty.report.figures.curves import Curve, log_axis
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import LINES, MUTED, RULE, AxisUnits, axis_title, dress

#: Half width of the band in standard deviations: 95 of 100 dots lie inside.
BAND = 2.0
#: Dots along a curve, spread evenly in logarithmic time.
DOTS = 45


def fit_curves(
    times: np.ndarray,
    panels: Sequence[tuple[str, Sequence[Curve]]],
    units: AxisUnits | None = None,
    *,
    noise: float | np.ndarray | None = None,
) -> go.Figure:
    """Decays above, what is left of them below; one column per face.

    Dots are measured, lines fitted; below are the dots minus their line. Time and temperature are logarithmic.

    Args:
        times: when, (t,); those up to 0 are left out.
        panels: a title and the curves of each column, measured and fitted; all show the same places in one order.
        units: words for the axes.
        noise: standard deviation of the dots, one for all or one per time; twice it on either side is shaded, and the
            lower panel counts in it. Zero is none.
    """
    units, times = units or AxisUnits(), np.asarray(times, dtype=np.float64)
    scatter = None if noise is None or not np.all(noise) else np.broadcast_to(noise, times.shape)
    late = times > 0
    if not panels or not all(curves for _, curves in panels) or not late.any():
        raise InputError("no curves to draw; give at least one, with times after the flash.")
    columns = len(panels)
    figure = make_subplots(
        2,
        columns,
        subplot_titles=[title for title, _ in panels] if columns > 1 else None,
        row_heights=[0.7, 0.3],
        vertical_spacing=0.05,
        horizontal_spacing=0.09,
        shared_xaxes=True,
    )
    for column, (_, curves) in enumerate(panels, 1):
        for number, curve in enumerate(curves):
            for trace in _decay(times, curve, number, late, scatter, first=column == 1):
                figure.add_trace(trace, 1, column)
            figure.add_trace(_left_over(times, curve, number, scatter), 2, column)
    _dress(figure, times[late], panels, late, units, scatter)
    heights = [260] * columns + [130] * columns
    order = [cell for column in range(columns) for cell in (column, columns + column)]
    if columns == 1:
        return stack_when_narrow(figure, heights, order=order, between=32)
    return stack_when_narrow(figure, heights, order=order, between=78, also={"legend.y": -0.07})


def _decay(
    times: np.ndarray, curve: Curve, number: int, late: np.ndarray, noise: np.ndarray | None, *, first: bool
) -> list[go.Scatter]:
    """Band, line and dots of one place."""
    colour, some = LINES[number % len(LINES)], evenly_in_log(times, DOTS)
    measured, fitted = np.asarray(curve.measured), np.asarray(curve.fitted)
    t, line = times[late], fitted[late]
    shared = {"legendgroup": str(number), "name": curve.label}
    traces = []
    if noise is not None:
        half = BAND * noise[late]
        clear = line > 1.05 * half  # below, a band reaches down to nothing, which has no place on this axis
        x, above, below = t[clear], (line + half)[clear], (line - half)[clear]
        traces.append(
            go.Scatter(
                x=np.concatenate([x, x[::-1]]),
                y=np.concatenate([above, below[::-1]]),
                fill="toself",
                fillcolor=_faint(colour),
                line={"width": 0},
                mode="lines",
                hoverinfo="skip",
                showlegend=False,
                **shared,
            )
        )
    traces.append(
        go.Scatter(
            x=t,
            y=line,
            mode="lines",
            line={"color": colour, "width": 1.8},
            showlegend=first,
            hovertemplate="t = %{x:.4~g}<br>%{y:.5~g}<extra>%{fullData.name}, fitted</extra>",
            **shared,
        )
    )
    traces.append(
        go.Scatter(
            x=times[some],
            y=measured[some],
            mode="markers",
            marker={"color": "white", "size": 6, "line": {"color": colour, "width": 1.4}},
            showlegend=False,
            hovertemplate="t = %{x:.4~g}<br>%{y:.5~g}<extra>%{fullData.name}, measured</extra>",
            **shared,
        )
    )
    return traces


def _left_over(times: np.ndarray, curve: Curve, number: int, noise: np.ndarray | None) -> go.Scatter:
    some = evenly_in_log(times, DOTS)
    return go.Scatter(
        x=times[some],
        y=((np.asarray(curve.measured) - np.asarray(curve.fitted)) / (1.0 if noise is None else noise))[some],
        mode="lines+markers",
        line={"color": _faint(LINES[number % len(LINES)], 0.5), "width": 1},
        marker={"color": LINES[number % len(LINES)], "size": 4},
        legendgroup=str(number),
        name=curve.label,
        showlegend=False,
        hovertemplate="t = %{x:.4~g}<br>%{y:.3~g}<extra>%{fullData.name}, measured − fitted</extra>",
    )


def _dress(
    figure: go.Figure,
    times: np.ndarray,
    panels: Sequence[tuple[str, Sequence[Curve]]],
    late: np.ndarray,
    units: AxisUnits,
    noise: np.ndarray | None,
) -> None:
    """Axes, legend, the band of the lower panels."""
    columns, floor = len(panels), 0.0 if noise is None else float(noise.min())
    dress(figure, height=470, below=52, legend=True)
    low, high = float(times[0]) / 1.1, float(times[-1]) * 1.1
    figure.update_xaxes(gridcolor=RULE, **log_axis(low, high))
    figure.update_xaxes(title_text=axis_title("Time after the flash", units.time), row=2)
    for column, (_, curves) in enumerate(panels, 1):
        low, high = _limits([v for c in curves for v in (c.measured, c.fitted) if v is not None], late, floor)
        steps = (1, 1.5, 2, 3, 4, 5, 7) if high / low < 20 else (1, 2, 5)
        figure.update_yaxes(row=1, col=column, **log_axis(low, high, steps))
        if noise is not None:
            band = {"fillcolor": "#eef1f4", "line_width": 0, "layer": "below", "row": 2, "col": column}
            figure.add_hrect(y0=-BAND, y1=BAND, **band)
        figure.add_hline(y=0, line={"color": MUTED, "width": 1}, row=2, col=column)  # pyright: ignore[reportArgumentType]
    figure.update_yaxes(gridcolor=RULE)
    figure.update_yaxes(nticks=5, row=2)
    figure.update_yaxes(title_text=axis_title("Temperature rise", units.temperature), row=1, col=1)
    figure.update_yaxes(
        title_text="residual / noise" if noise is not None else axis_title("residual", units.temperature), row=2, col=1
    )
    figure.update_layout(
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}}
        if columns == 1
        else {"orientation": "h", "x": 0, "y": -0.15, "yanchor": "top", "font": {"size": 12}},
        margin={"t": 84, "b": 52} if columns == 1 else {"b": 110},
    )


def _limits(values: Sequence[np.ndarray], late: np.ndarray, noise: float) -> tuple[float, float]:
    """The range of all positive values above the noise, at most five decades."""
    every = np.concatenate([np.asarray(v, dtype=np.float64)[late] for v in values])
    every = every[np.isfinite(every) & (every > 0)]
    high = 1.15 * max(float(every.max(initial=0.0)), 2 * noise) or 1.0
    low = float(every.min(initial=high)) / 1.15
    return min(max(low, noise, high / 1e5), high / 2), high


def _faint(colour: str, opacity: float = 0.16) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"
