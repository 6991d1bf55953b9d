"""C-scan style maps: depth to the top of the defects, seen from the front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.figures.images import colour_bar, edge, gap, heatmap, height_of, image_axes, narrow_height, right_edge
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import AxisUnits, Scale, dress

SOUND = "#eef1f4"


@dataclass(frozen=True, eq=False)
class DepthMap:
    """One panel.

    Args:
        title: what it is.
        values: (y, x), NaN where nothing is.
        scale: how values become colours.
        label: quantity and unit beside the colour bar.
        limits: of the colours; those of ``scale`` if not given.
        outline: optional mask (y, x) whose edge is drawn.
        marks: words and their places (y, x).
    """

    title: str
    values: np.ndarray
    scale: Scale
    label: str
    limits: tuple[float, float] | None = None
    outline: np.ndarray | None = None
    marks: Sequence[tuple[str, tuple[float, float]]] = ()


def depth_maps(maps: Sequence[DepthMap], size: tuple[float, float], units: AxisUnits | None = None) -> go.Figure:
    """Maps side by side, each with its colour bar; sound material is light grey.

    Args:
        maps: the panels.
        size: edge lengths along (y, x).
        units: words for the axes.
    """
    if not maps:
        raise InputError("no maps to draw; give at least one.")
    units = units or AxisUnits()
    columns = len(maps)
    figure = make_subplots(1, columns, subplot_titles=[m.title for m in maps], horizontal_spacing=gap(columns))
    if columns == 1:  # as wide as one of two
        end = (1 - gap(2)) / 2
        figure.update_xaxes(domain=[0, end])
        figure.update_annotations(x=end / 2)
    for column, panel in enumerate(maps, 1):
        low, high = panel.limits or panel.scale.limits(panel.values)
        bar = colour_bar(panel.label, panel.scale) | {"x": right_edge(figure, column) + 0.008}
        trace = heatmap(panel.values, size, panel.label, units, colorscale=panel.scale.name)
        figure.add_trace(trace.update(zmin=low, zmax=high, colorbar=bar, hoverongaps=False), 1, column)
        if panel.outline is not None:
            figure.add_trace(edge(panel.outline, size), 1, column)
        if panel.marks:
            figure.add_trace(_marks(panel.marks), 1, column)
    wide = max(columns, 2)
    dress(figure, height=height_of(wide, size, gap(wide)))
    figure.update_layout(plot_bgcolor=SOUND)
    for column in range(1, columns + 1):
        image_axes(figure, 1, column, size, units, y_title=column == 1)
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(showgrid=False)
    return stack_when_narrow(figure, [narrow_height(size)] * columns, bar=0.2)


def _marks(marks: Sequence[tuple[str, tuple[float, float]]]) -> go.Scatter:
    """Numbers in white discs, readable on any colour."""
    return go.Scatter(
        x=[x for _, (_, x) in marks],
        y=[y for _, (y, _) in marks],
        text=[word for word, _ in marks],
        mode="markers+text",
        marker={"size": 19, "color": "rgba(255, 255, 255, 0.88)"},
        textfont={"size": 12},
        hoverinfo="skip",
        showlegend=False,
        cliponaxis=False,
    )
