"""Depths with their bands, one beside the other, the front face on top."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from nefty.core.errors import InputError
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import INK, MUTED, RULE, SKY, VERMILION, AxisUnits, axis_title, dress

#: So many fit side by side on a page.
MOST = 30


@dataclass(frozen=True)
class DepthBand:
    """One indication.

    Args:
        name: below it.
        depth: to its top.
        low: least depth of the band.
        high: largest depth of the band.
        thickness: of the indication, drawn as a pale bar below its top; NaN where it is not known.
        truth: the true depth, where known.
    """

    name: str
    depth: float
    low: float
    high: float
    thickness: float
    truth: float | None = None


def depth_bands(bands: Sequence[DepthBand], thickness: float, units: AxisUnits | None = None) -> go.Figure:
    """Each depth as a dot in its band, between the front face on top and the back face below.

    Args:
        bands: what to draw; the first ``MOST`` are.
        thickness: of the part.
        units: words for the axes.
    """
    if not bands:
        raise InputError("no depths to draw; give at least one.")
    units, bands = units or AxisUnits(), bands[:MOST]
    figure = go.Figure()
    names = [band.name for band in bands]
    figure.add_bar(
        x=names,
        y=[min(band.thickness, thickness - band.depth) if math.isfinite(band.thickness) else None for band in bands],
        base=[band.depth for band in bands],
        width=0.34,
        marker={"color": SKY, "opacity": 0.35},
        name="thickness",
        showlegend=any(math.isfinite(band.thickness) for band in bands),
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=names,
        y=[band.depth for band in bands],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [band.high - band.depth for band in bands],
            "arrayminus": [band.depth - band.low for band in bands],
            "thickness": 1.8,
            "width": 9,
            "color": INK,
        },
        mode="markers",
        marker={"size": 9, "color": INK},
        customdata=[(band.low, band.high) for band in bands],
        hovertemplate="indication %{x}<br>depth to the top %{y:.3~g}<br>band %{customdata[0]:.3~g} to "
        "%{customdata[1]:.3~g}<extra></extra>",
        name="depth to the top, with its interval or band",
    )
    known = [band for band in bands if band.truth is not None]
    if known:
        figure.add_scatter(
            x=[band.name for band in known],
            y=[band.truth for band in known],
            mode="markers",
            marker={"symbol": "line-ew", "size": 26, "line": {"color": VERMILION, "width": 2.4}},
            hovertemplate="truth %{y:.3~g}<extra></extra>",
            name="truth",
        )
    dress(figure, height=300, below=56, legend=True)
    figure.update_xaxes(type="category", title_text="indication", range=[-0.6, max(len(bands), 5) - 0.4])
    figure.update_yaxes(title_text=axis_title("depth", units.length), range=[1.02 * thickness, 0], gridcolor=RULE)
    figure.add_hline(y=thickness, line={"color": MUTED, "width": 1.4, "dash": "dot"})  # pyright: ignore[reportArgumentType]
    figure.add_annotation(
        x=1, y=thickness, xref="paper", text="back face", showarrow=False, xanchor="right", yanchor="bottom",
        font={"size": 12, "color": MUTED},
    )  # fmt: skip
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}})
    return stack_when_narrow(figure, [260])
