"""Plotly figures of single images: maps in a row, a plan with its cross-section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.images import colour_bar, edge, gap, heatmap, height_of, image_axes, right_edge
from nefty.report.style import MUTED, Scale, Units, axis_title, dress


@dataclass(frozen=True, eq=False)
class View:
    """One volume seen from the front and in a cut: ``plan`` (y, x) and ``section`` (z, x).

    ``outline`` is an optional pair of masks with the same shapes.
    """

    title: str
    plan: np.ndarray
    section: np.ndarray
    scale: Scale
    label: str
    outline: tuple[np.ndarray, np.ndarray] | None = None


def map_row(
    maps: Sequence[np.ndarray],
    titles: Sequence[str],
    size: tuple[float, float],
    scale: Scale,
    label: str,
    units: Units | None = None,
    *,
    outline: np.ndarray | None = None,
) -> go.Figure:
    """Small maps (y, x) in one row that share one colour scale."""
    units = units or Units()
    if len(maps) != len(titles) or not maps:
        raise InputError(f"map_row got {len(maps)} maps and {len(titles)} titles; give one title per map.")
    low, high = scale.limits(np.stack(maps))
    columns = len(maps)
    figure = make_subplots(1, columns, subplot_titles=list(titles), horizontal_spacing=0.02, shared_yaxes=True)
    for column, values in enumerate(maps, 1):
        figure.add_trace(heatmap(values, size, label, units, coloraxis="coloraxis"), 1, column)
        if outline is not None:
            figure.add_trace(edge(outline, size), 1, column)
    bar = colour_bar(label, scale) | {"x": 1.01}
    figure.update_layout(coloraxis={"colorscale": scale.name, "cmin": low, "cmax": high, "colorbar": bar})
    dress(figure, height=height_of(columns, size, 0.02))
    for column in range(1, columns + 1):
        image_axes(figure, 1, column, size, units, y_title=column == 1)
    return figure


def plan_and_section(
    views: Sequence[View],
    size: tuple[float, float, float],
    units: Units | None = None,
    *,
    cut_y: float | None = None,
) -> go.Figure:
    """One column per view: seen from the front above, cut open below (depth stretched).

    Args:
        views: what to show; each keeps its own colour scale, shared by its plan and its section.
        size: edge lengths of the part along (z, y, x).
        units: words for the axes.
        cut_y: where the section was taken; drawn as a line in the plans.
    """
    units = units or Units()
    columns = len(views)
    figure = make_subplots(
        2,
        columns,
        subplot_titles=[view.title for view in views],
        row_heights=[0.74, 0.26],
        vertical_spacing=0.13,
        horizontal_spacing=gap(columns),
    )
    for column, view in enumerate(views, 1):
        low, high = view.scale.limits(np.concatenate([view.plan.ravel(), view.section.ravel()]))
        axis = f"coloraxis{column if column > 1 else ''}"
        figure.add_trace(heatmap(view.plan, size[1:], view.label, units, coloraxis=axis), 1, column)
        section = heatmap(view.section, (size[0], size[2]), view.label, units, down="z", coloraxis=axis)
        figure.add_trace(section, 2, column)
        if view.outline is not None:
            figure.add_trace(edge(view.outline[0], size[1:]), 1, column)
            figure.add_trace(edge(view.outline[1], (size[0], size[2])), 2, column)
        if cut_y is not None:
            figure.add_hline(y=cut_y, line={"color": MUTED, "width": 1}, row=1, col=column)  # pyright: ignore[reportArgumentType]
        bar = colour_bar(view.label, view.scale) | {"x": right_edge(figure, column) + 0.008}
        figure.update_layout({axis: {"colorscale": view.scale.name, "cmin": low, "cmax": high, "colorbar": bar}})
    dress(figure, height=566)
    for column in range(1, columns + 1):
        image_axes(figure, 1, column, size[1:], units, y_title=column == 1, x_title=False)
        figure.update_xaxes(title_text=axis_title("x", units.length), range=[0, size[2]], row=2, col=column)
        figure.update_yaxes(range=[size[0], 0], nticks=5, row=2, col=column)
    figure.update_yaxes(title_text=axis_title("depth z", units.length), row=2, col=1)
    return figure
