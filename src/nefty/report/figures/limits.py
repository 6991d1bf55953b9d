"""What would have been seen: the smallest diameter that is found at each depth."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from nefty.report.figures.curves import log_axis
from nefty.report.figures.style import BLUE, RULE, VERMILION, AxisUnits, axis_title, dress
from nefty.result.limits import Limits

COLOURS = (BLUE, VERMILION)


def limit_curves(limits: Limits, finest: float, units: AxisUnits | None = None) -> go.Figure:
    """Diameter against depth, the front face on top; to the right of a curve defects are found.

    Args:
        limits: of a recording.
        finest: least diameter of the axis, such as a pixel.
        units: words for the axes.
    """
    units, figure = units or AxisUnits(), go.Figure()
    for name, own, colour in zip(limits.names, limits.diameters, COLOURS, strict=False):
        figure.add_scatter(
            x=own,
            y=limits.depths,
            mode="lines+markers",
            line={"color": colour, "width": 2.4},
            name=name,
            hovertemplate=f"{name}<br>%{{y:.3~g}} deep: from %{{x:.3~g}} wide<extra></extra>",
        )
    dress(figure, height=340, below=60, legend=True)
    figure.update_xaxes(
        title_text=axis_title("smallest diameter found with 90 %", units.length),
        gridcolor=RULE,
        **log_axis(0.8 * min(finest, _least(limits.diameters, finest)), 1.2 * max(limits.largest, finest)),
    )
    figure.update_yaxes(
        title_text=axis_title("depth", units.length), range=[1.08 * float(limits.depths.max(initial=0.0)), 0]
    )
    return figure


def _least(values: np.ndarray, otherwise: float) -> float:
    known = values[np.isfinite(values)]
    return float(known.min()) if known.size else otherwise
