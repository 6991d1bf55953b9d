"""Plotly figures of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.report.figures.images import colour_bar, heatmap
from nefty.report.figures.style import DIFFUSIVITY, INK, LINES, MUTED, RULE, TEMPERATURE, AxisUnits, dress

SYMBOLS = ("circle", "diamond", "square")
Numbers = Sequence[float] | np.ndarray
Series = Mapping[str, tuple[Numbers, Numbers]]


def accuracy_against_cost(names: Sequence[str], seconds: Sequence[float], errors: Sequence[float]) -> go.Figure:
    """One point per method: seconds of a forward and backward run, surface RMSE; both axes logarithmic."""
    figure = go.Figure()
    for i, (name, x, y) in enumerate(zip(names, seconds, errors, strict=True)):
        marker = {"size": 13, "color": LINES[i % len(LINES)], "symbol": SYMBOLS[i // len(LINES) % len(SYMBOLS)]}
        hover = f"{name}<br>%{{x:.3g}} s<br>RMSE %{{y:.2g}}<extra></extra>"
        figure.add_trace(go.Scatter(x=[x], y=[y], name=name, mode="markers", marker=marker, hovertemplate=hover))
    dress(figure, height=480, legend=True)
    log_axes(figure, "seconds for forward and gradient", "surface RMSE")
    return figure


def curves(series: Series, x: str, y: str, *, log_x: bool = True, log_y: bool = True) -> go.Figure:
    """Named curves with markers on axes titled ``x`` and ``y``."""
    figure = go.Figure()
    for i, (name, (xs, ys)) in enumerate(series.items()):
        colour = LINES[i % len(LINES)]
        figure.add_trace(
            go.Scatter(x=list(xs), y=list(ys), name=name, mode="lines+markers", line={"color": colour, "width": 2})
        )
    dress(figure, height=460, legend=True)
    log_axes(figure, x, y, log_x=log_x, log_y=log_y)
    return figure


def log_axes(figure: go.Figure, x: str, y: str, *, log_x: bool = True, log_y: bool = True) -> None:
    """Title the axes and make them logarithmic, with decades only as ticks."""
    for update, title, log in ((figure.update_xaxes, x, log_x), (figure.update_yaxes, y, log_y)):
        update(title_text=title)
        if log:
            update(type="log", dtick=1, exponentformat="power")
        else:
            update(rangemode="tozero")


def bars(names: Sequence[str], values: Sequence[float], y: str) -> go.Figure:
    """One bar per name on a logarithmic axis."""
    figure = go.Figure(go.Bar(x=list(names), y=list(values), marker_color=LINES[1]))
    dress(figure, height=420)
    figure.update_yaxes(type="log", title_text=y, dtick=1, exponentformat="power")
    return figure


def map_grid(
    rows: Mapping[str, Sequence[np.ndarray]],
    titles: Sequence[str],
    size: tuple[float, float],
    circle: Mapping[str, tuple[float, float, float]] | None = None,
) -> go.Figure:
    """Surface temperatures (y, x), one row of maps per name, one column per title; rows share no colours.

    Args:
        rows: maps of each row.
        titles: of the columns.
        size: edge lengths of a map along (y, x).
        circle: (y, x, radius) of a dashed circle to draw into the maps of a row.
    """
    figure = make_subplots(
        len(rows),
        len(titles),
        column_titles=list(titles),
        row_titles=list(rows),
        horizontal_spacing=0.015,
        vertical_spacing=0.04,
        shared_xaxes=True,
        shared_yaxes=True,
    )
    for i, (name, maps) in enumerate(rows.items(), 1):
        low, high = TEMPERATURE.limits(np.stack(list(maps)))
        for j, values in enumerate(maps, 1):
            ny, nx = values.shape
            heat = go.Heatmap(
                z=np.asarray(values, dtype=np.float32),
                x0=size[1] / nx / 2,
                dx=size[1] / nx,
                y0=size[0] / ny / 2,
                dy=size[0] / ny,
                zmin=low,
                zmax=high,
                colorscale=TEMPERATURE.name,
                showscale=False,
            )
            figure.add_trace(heat, i, j)
            if circle and name in circle:
                figure.add_trace(_circle(*circle[name]), i, j)
    dress(figure, height=round(110 + 725 / len(titles) * len(rows) * size[0] / size[1]))
    figure.update_yaxes(autorange="reversed", showticklabels=False, ticks="")
    figure.update_xaxes(showticklabels=False, ticks="")
    return figure


def _circle(y: float, x: float, radius: float) -> go.Scatter:
    angle = np.linspace(0, 2 * np.pi, 60)
    return go.Scatter(
        x=x + radius * np.cos(angle),
        y=y + radius * np.sin(angle),
        mode="lines",
        line={"color": "white", "dash": "dash", "width": 1.5},
        hoverinfo="skip",
    )


def measured_and_theory(series: Series, theory: tuple[Numbers, Numbers], x: str, y: str) -> go.Figure:
    """Curves as points over the line they should lie on."""
    figure = go.Figure()
    for i, (name, (xs, ys)) in enumerate(series.items()):
        marker = {"size": 5, "color": LINES[i % len(LINES)]}
        figure.add_trace(go.Scatter(x=list(xs), y=list(ys), name=name, mode="markers", marker=marker))
    line = {"color": MUTED, "width": 2, "dash": "dash"}
    figure.add_trace(go.Scatter(x=list(theory[0]), y=list(theory[1]), name="theory", mode="lines", line=line))
    dress(figure, height=440, legend=True)
    log_axes(figure, x, y, log_x=False, log_y=False)
    return figure


def curves_and_limits(measured: Series, limits: Series, x: str, y: str, *, low: float, log_x: bool = True) -> go.Figure:
    """Solid curves, and dashed or dotted ones to compare them with, on a logarithmic axis that ends at ``low``."""
    figure = go.Figure()
    for i, (name, (xs, ys)) in enumerate(measured.items()):
        line = {"color": LINES[i % len(LINES)], "width": 2}
        marker = {"size": 4}
        figure.add_trace(go.Scatter(x=list(xs), y=list(ys), name=name, mode="lines+markers", line=line, marker=marker))
    for i, (name, (xs, ys)) in enumerate(limits.items()):
        line = {"color": (INK, MUTED)[min(i, 1)], "width": 1.5, "dash": ("dash", "dashdot", "dot")[i % 3]}
        figure.add_trace(go.Scatter(x=list(xs), y=list(ys), name=name, mode="lines", line=line))
    dress(figure, height=460, legend=True)
    log_axes(figure, x, y, log_x=log_x)
    highest = max(float(np.max(ys)) for _, ys in (*measured.values(), *limits.values()))
    figure.update_yaxes(range=[np.log10(low), np.log10(highest) + 0.2])
    return figure


@dataclass(frozen=True, eq=False)
class Panel:
    """Two curves over ``x`` that nearly agree, and how far they are apart in % of the peak."""

    title: str
    x: np.ndarray
    first: np.ndarray
    second: np.ndarray
    apart: np.ndarray


def alike(
    names: Sequence[str], cuts: Sequence[np.ndarray], size: tuple[float, float], panels: Sequence[Panel], noise: float
) -> go.Figure:
    """Two insides above, their surfaces on top of each other in the middle, the difference below.

    Args:
        names: of the two.
        cuts: diffusivity (z, x) of each.
        size: edge lengths of a cut along (z, x).
        panels: two views of the surfaces.
        noise: of the camera, as a share of the peak; a band in the difference.
    """
    figure = make_subplots(
        3, 2, subplot_titles=list(names), row_heights=[0.2, 0.45, 0.35], vertical_spacing=0.13, horizontal_spacing=0.1
    )
    low, high = DIFFUSIVITY.limits(np.stack(list(cuts)))
    line, dots, ink = {"color": LINES[1], "width": 3}, {"size": 5, "color": LINES[0]}, {"color": INK, "width": 2}
    reach = max(130 * noise, *(1.1 * float(np.abs(panel.apart).max()) for panel in panels))
    for column, (cut, panel) in enumerate(zip(cuts, panels, strict=True), 1):
        image = heatmap(cut, size, "diffusivity", AxisUnits(), down="z", coloraxis="coloraxis")
        figure.add_trace(image, 1, column)
        x, some = panel.x, slice(None, None, max(len(panel.x) // 32, 1))
        first = go.Scatter(x=x, y=panel.first, name=names[0], mode="lines", line=line)
        second = go.Scatter(x=x[some], y=panel.second[some], name=names[1], mode="markers", marker=dots)
        apart = go.Scatter(x=x, y=panel.apart, mode="lines", line=ink, showlegend=False)
        for trace, row in ((first, 2), (second, 2), (apart, 3)):
            figure.add_trace(trace if column == 1 else trace.update(showlegend=False), row, column)
        band: dict[str, Any] = {"fillcolor": RULE, "opacity": 0.5, "line_width": 0, "layer": "below"}
        figure.add_hrect(-100 * noise, 100 * noise, row=3, col=column, **band)  # pyright: ignore[reportArgumentType]
    bar = colour_bar("diffusivity", DIFFUSIVITY) | {"x": 1.01, "y": 1.0, "yanchor": "top", "len": 0.2}
    figure.update_layout(coloraxis={"colorscale": DIFFUSIVITY.name, "cmin": low, "cmax": high, "colorbar": bar})
    dress(figure, height=620, legend=True)
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 0.775, "yanchor": "middle", "font": {"size": 12}})
    figure.update_xaxes(range=[0, size[1]], row=1)
    figure.update_yaxes(range=[size[0], 0], nticks=3, row=1)
    figure.update_yaxes(rangemode="tozero", row=2)
    figure.update_yaxes(range=[-reach, reach], row=3)
    for row, title in ((1, "depth"), (2, "temperature"), (3, "difference, %")):
        figure.update_yaxes(title_text=title, row=row, col=1)
    for column, panel in enumerate(panels, 1):
        figure.update_xaxes(title_text=panel.title, row=3, col=column)
    return figure
