"""B-scan style cuts: the part opened along a line, the front face on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.figures.images import colour_bar, edge, heatmap
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import ORANGE, AxisUnits, Scale, axis_title, dress


@dataclass(frozen=True, eq=False)
class Cut:
    """One cut (z, x): what was found, and beside it what to compare with.

    Args:
        title: where it was taken.
        found: values (z, x).
        beside: the same of the truth, or ``None``.
        outlines: optional masks (z, x) drawn over ``found`` and ``beside``.
    """

    title: str
    found: np.ndarray
    beside: np.ndarray | None = None
    outlines: tuple[np.ndarray | None, np.ndarray | None] = (None, None)


def cut_rows(
    cuts: Sequence[Cut],
    size: tuple[float, float],
    scale: Scale,
    label: str,
    units: AxisUnits | None = None,
    *,
    limits: tuple[float, float] | None = None,
) -> go.Figure:
    """One row per cut, depth downwards and stretched, one colour scale for all.

    Args:
        cuts: what to show.
        size: edge lengths along (z, x).
        scale: how values become colours.
        label: quantity and unit beside the colour bar.
        units: words for the axes.
        limits: of the colours.
    """
    if not cuts:
        raise InputError("no cuts to draw; give at least one.")
    units = units or AxisUnits()
    columns = 2 if cuts[0].beside is not None else 1
    titles = [word for cut in cuts for word in (cut.title, "Truth")[:columns]]
    height = 110 * len(cuts) + 56 * (len(cuts) - 1)
    figure = make_subplots(
        len(cuts),
        columns,
        subplot_titles=titles,
        horizontal_spacing=0.06,
        vertical_spacing=56 / height if len(cuts) > 1 else 0,
        shared_xaxes=True,
    )
    low, high = limits or scale.limits(np.stack([cut.found for cut in cuts]))
    for row, cut in enumerate(cuts, 1):
        for column, values in enumerate((cut.found, cut.beside)[:columns], 1):
            if values is not None:
                image = heatmap(values, size, label, units, down="z", coloraxis="coloraxis")
                figure.add_trace(image, row, column)
            outline = cut.outlines[column - 1]
            if outline is not None:
                figure.add_trace(edge(outline, size, ORANGE), row, column)
    bar = colour_bar(label, scale) | {"x": 1.01, "len": 1.0}
    figure.update_layout(coloraxis={"colorscale": scale.name, "cmin": low, "cmax": high, "colorbar": bar})
    dress(figure, height=height)
    figure.update_xaxes(range=[0, size[1]])
    figure.update_yaxes(range=[size[0], 0], nticks=4)
    figure.update_yaxes(title_text=axis_title("depth", units.length), col=1)
    figure.update_xaxes(title_text=axis_title("x", units.length), row=len(cuts))
    panels = len(cuts) * columns
    also: dict[str, Any] = {"coloraxis.colorbar.x": 0.82}
    if columns == 2:  # the last two panels have the axis title; on a phone one of them stands above the other
        also[f"xaxis{panels - 1 if panels > 2 else ''}.title.text"] = ""
    return stack_when_narrow(figure, [70] * panels, between=48, bar=0.2, also=also)
