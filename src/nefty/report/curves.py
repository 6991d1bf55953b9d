"""Plotly figures of quantities over time: decay curves and contrast.

Dots are what was measured, lines are what the model says. Time is logarithmic, because heat needs the square
of a depth to get there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from nefty.core.errors import InputError
from nefty.report.style import LINES, MUTED, RULE, Units, axis_title, dress


@dataclass(frozen=True, eq=False)
class Curve:
    """One place on the surface over time.

    Args:
        label: which place.
        measured: values at the times of the figure, drawn as dots; None for none.
        fitted: the model's values at the same times, drawn as a line; None for none.
    """

    label: str
    measured: np.ndarray | None
    fitted: np.ndarray | None = None


def decay_curves(
    times: np.ndarray,
    curves: Sequence[Curve],
    units: Units | None = None,
    *,
    dots: str = "measured",
    line: str = "model",
    guide: float | None = -0.5,
) -> go.Figure:
    """Surface temperature over time, both logarithmic.

    Args:
        times: when, (t,).
        curves: the places.
        units: words for the axes.
        dots: legend word for measured values.
        line: legend word for the model's.
        guide: slope of a thin reference line through the last curve; -1/2 is a half-space after a flash.
    """
    units = units or Units()
    figure = _curves(times, curves, dots, line)
    if guide is not None:
        last = curves[-1].measured if curves[-1].measured is not None else curves[-1].fitted
        _add_guide(figure, np.asarray(times), np.asarray(last), guide)
    values = np.concatenate([v for c in curves for v in (c.measured, c.fitted) if v is not None])
    values = values[values > 0]
    dress(figure, height=320, legend=True)
    _time_axis(figure, times, units)
    low, high = float(values.min()) / 1.12, float(values.max()) * 1.12
    figure.update_yaxes(
        type="log",
        range=[np.log10(low), np.log10(high)],
        tickvals=log_ticks(low, high),
        ticktext=[f"{v:g}" for v in log_ticks(low, high)],
        title_text=axis_title("Temperature rise", units.temperature),
        gridcolor=RULE,
    )
    return _legend_on_top(figure)


def contrast_curve(
    times: np.ndarray,
    curves: Sequence[Curve],
    units: Units | None = None,
    *,
    dots: str = "measured",
    line: str = "model",
) -> go.Figure:
    """Temperature over a place minus that over sound material, with the peak of each curve marked."""
    units = units or Units()
    figure = _curves(times, curves, dots, line)
    for number, curve in enumerate(curves):
        values = np.asarray(curve.measured if curve.measured is not None else curve.fitted)
        at, height = peak(times, values)
        figure.add_annotation(
            x=np.log10(at),
            y=height,
            text=f"peak {height:.3g} at t = {at:.3g}",
            ax=0,
            ay=-32 if height >= 0 else 32,
            arrowcolor=LINES[number % len(LINES)],
            arrowhead=0,
            arrowwidth=1.2,
        )
    dress(figure, height=270, legend=True)
    _time_axis(figure, times, units)
    figure.add_hline(y=0, line={"color": MUTED, "width": 1})
    figure.update_yaxes(title_text=axis_title("Contrast", units.temperature), gridcolor=RULE)
    return _legend_on_top(figure)


def peak(times: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Time and value of the largest deviation from zero, refined by a parabola through its neighbours.

    Times may be spaced unevenly; at either end the sample itself is returned.
    """
    i = int(np.argmax(np.abs(values)))
    if i in (0, len(values) - 1):
        return float(times[i]), float(values[i])
    t = np.asarray(times[i - 1 : i + 2], dtype=np.float64)
    a, b, c = np.polyfit(t - t[1], np.asarray(values[i - 1 : i + 2], dtype=np.float64), 2)
    if a == 0:
        return float(t[1]), float(c)
    shift = float(np.clip(-b / (2 * a), t[0] - t[1], t[2] - t[1]))
    return float(t[1] + shift), float(c + b * shift + a * shift**2)


def log_ticks(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> list[float]:
    """The numbers ``steps`` times powers of ten between ``low`` and ``high``; the ends if there are none."""
    if not 0 < low < high:
        raise InputError(f"a logarithmic axis needs 0 < low < high, got {low:g} and {high:g}.")
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [m * 10.0**d for d in decades for m in steps]
    return [round(t, 12) for t in ticks if low <= t <= high] or [low, high]


def _curves(times: np.ndarray, curves: Sequence[Curve], dots: str, line: str) -> go.Figure:
    """Dots and lines; the dots thinned so that they do not merge at late times."""
    if not curves:
        raise InputError("no curves to draw; give at least one.")
    times = np.asarray(times, dtype=np.float64)
    figure = go.Figure()
    some = evenly_in_log(times, 45)
    for number, curve in enumerate(curves):
        colour = LINES[number % len(LINES)]
        if curve.fitted is not None:
            figure.add_scatter(
                x=times, y=curve.fitted, mode="lines", line={"color": colour, "width": 2}, name=f"{curve.label}, {line}"
            )
        if curve.measured is not None:
            figure.add_scatter(
                x=times[some],
                y=np.asarray(curve.measured)[some],
                mode="markers",
                marker={"color": "white", "size": 6.5, "line": {"color": colour, "width": 1.5}},
                name=f"{curve.label}, {dots}",
            )
    figure.update_traces(hovertemplate="t = %{x:.4~g}<br>%{y:.5~g}<extra>%{fullData.name}</extra>")
    return figure


def evenly_in_log(times: np.ndarray, most: int) -> np.ndarray:
    """Indices of about ``most`` times spread evenly on a logarithmic axis, first and last included."""
    positive = np.flatnonzero(times > 0)
    if len(positive) <= 2:
        return positive
    t = times[positive]
    wanted = np.geomspace(t[0], t[-1], most)
    return positive[np.unique(np.abs(np.log(t)[None] - np.log(wanted)[:, None]).argmin(axis=1))]


def _add_guide(figure: go.Figure, times: np.ndarray, values: np.ndarray, slope: float) -> None:
    """A line of the given slope that touches the curve a fifth into the (logarithmic) recording."""
    t = times[times > 0]
    start = np.geomspace(t[0], t[-1], 6)[1:4]
    height = float(np.interp(start[0], times, values))
    figure.add_scatter(
        x=start[[0, 2]],
        y=0.9 * height * (start[[0, 2]] / start[0]) ** slope,
        mode="lines",
        line={"color": MUTED, "width": 1.5, "dash": "dash"},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_annotation(
        x=np.log10(start[2]),
        y=np.log10(0.9 * height * (start[2] / start[0]) ** slope),
        text=f"slope {slope:g}".replace("-", "−"),
        showarrow=False,
        xanchor="left",
        xshift=6,
    )


def _time_axis(figure: go.Figure, times: np.ndarray, units: Units) -> None:
    t = np.asarray(times)[np.asarray(times) > 0]
    low, high = float(t[0]) / 1.1, float(t[-1]) * 1.1
    figure.update_xaxes(
        type="log",
        range=[np.log10(low), np.log10(high)],
        tickvals=log_ticks(low, high),
        ticktext=[f"{v:g}" for v in log_ticks(low, high)],
        title_text=axis_title("Time after the flash", units.time),
        gridcolor=RULE,
    )


def _legend_on_top(figure: go.Figure) -> go.Figure:
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}})
    return figure
