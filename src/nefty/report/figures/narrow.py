"""Panels that stand side by side on a screen and under each other on a phone.

Both layouts are computed here and travel with the figure; the page's script applies the one that fits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.basedatatypes import BasePlotlyType

#: Width in pixels below which the page is narrow; the template's style sheet says the same.
NARROW = 640

#: Margins left and right on a phone, and room between two panels, in pixels.
LEFT, RIGHT, BETWEEN = 50, 16, 72


def stack_when_narrow(
    figure: go.Figure,
    heights: Sequence[int] = (),
    *,
    order: Sequence[int] | None = None,
    between: int = BETWEEN,
    bar: float = 0.0,
    also: Mapping[str, Any] | None = None,
) -> go.Figure:
    """Let the panels of a figure stand under each other on a narrow page, in place.

    The panels are the figure's first axes, and their titles, if any, its first annotations, as ``make_subplots``
    leaves them. Colour bars move along with the traces that own them. Without panels, as in 3D, the figure only
    gets narrower.

    Args:
        figure: panels in rows and columns.
        heights: of each panel in pixels.
        order: indices of the panels from top to bottom; as they are if not given.
        between: room between two panels in pixels.
        bar: share of the width that colour bars take.
        also: other parts of the layout, by their path, and their values on a narrow page.
    """
    order = list(range(len(heights))) if order is None else order
    now: Any = figure.layout
    layout: dict[str, Any] = dict(also or {})
    spans: dict[int, tuple[float, float]] = {}
    if heights:
        top, below = now.margin.t, now.margin.b
        plots = sum(heights) + between * (len(heights) - 1)
        layout |= {"height": top + plots + below, "margin.l": LEFT, "margin.r": RIGHT}
        used = 0
        titles = len(now.annotations or ()) if len(heights) > 1 else 0
        for i in order:
            spans[i] = (1 - (used + heights[i]) / plots, 1 - used / plots)
            used += heights[i] + between
            number = "" if i == 0 else str(i + 1)
            layout |= {f"xaxis{number}.domain": [0, 1 - bar], f"yaxis{number}.domain": list(spans[i])}
            if i < titles:
                layout |= {f"annotations[{i}].x": (1 - bar) / 2, f"annotations[{i}].y": spans[i][1]}
    traces, style = _bars(figure, spans, 1 - bar + 0.02)
    bars = {key: [_now(figure.data[i], key) for i in traces] for key in style}
    wide = {key: _plain(now[key]) for key in layout}
    now.meta = {
        "narrow": {"layout": layout, "style": style, "traces": traces},
        "wide": {"layout": wide, "style": bars, "traces": traces},
    }
    return figure


def shrinks(figure: go.Figure) -> bool:
    """Whether a figure can be drawn on a narrow page, rather than scrolled sideways."""
    layout: Any = figure.layout
    return isinstance(layout.meta, dict) and "narrow" in layout.meta


def _bars(
    figure: go.Figure, spans: dict[int, tuple[float, float]], x: float
) -> tuple[list[int], dict[str, list[float]]]:
    """The traces with a colour bar of their own, and where it goes."""
    traces: list[int] = []
    style: dict[str, list[float]] = {}
    for index, trace in enumerate(figure.data):
        values: Any = trace
        if values.type == "heatmap" and values.coloraxis is None:
            low, high = spans[int((values.xaxis or "x")[1:] or 1) - 1]
            traces.append(index)
            for key, value in (("colorbar.x", x), ("colorbar.y", (low + high) / 2), ("colorbar.len", high - low)):
                style.setdefault(key, []).append(value)
    return traces, style


def _now(trace: Any, key: str) -> float:
    defaults = {"colorbar.y": 0.5, "colorbar.len": 1.0}
    return defaults[key] if trace[key] is None else trace[key]


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return value.to_plotly_json() if isinstance(value, BasePlotlyType) else value
