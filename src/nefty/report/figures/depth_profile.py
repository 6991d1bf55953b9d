"""Diffusivity against depth: what the background is made of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BLUE, INK, MUTED, RULE, AxisUnits, axis_title, dress


def depth_profile(
    background: np.ndarray,
    thickness: float,
    units: AxisUnits | None = None,
    *,
    sound: np.ndarray | None = None,
    truth: np.ndarray | None = None,
    spans: Sequence[tuple[str, float, float]] = (),
) -> go.Figure:
    """The calibrated background as a staircase over depth, from the front face on the left to the back.

    Args:
        background: diffusivity of each layer of cells, (z,).
        thickness: of the part.
        units: words for the axes.
        sound: reconstructed columns without defects, (z, columns); their spread is a band, 10 to 90 %.
        truth: the true background, (z,).
        spans: name, top and bottom of each defect, drawn as brackets at the bottom.
    """
    units = units or AxisUnits()
    figure = go.Figure()
    faces = np.linspace(0, thickness, len(background) + 1)
    peak = [float(np.max(background))]
    if sound is not None and sound.size:
        low, middle, high = np.percentile(sound, [10, 50, 90], axis=1)
        x, top = _stairs(faces, high)
        _, bottom = _stairs(faces, low)
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([top, bottom[::-1]]),
            fill="toself",
            fillcolor="rgba(0, 114, 178, 0.14)",
            line={"width": 0},
            mode="lines",
            hoverinfo="skip",
            name="reconstruction beside the indications, 10 to 90 %",
        )
        x, y = _stairs(faces, middle)
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": BLUE, "width": 1.2, "dash": "dot"}, name="its median")
        peak.append(float(high.max()))
    x, y = _stairs(faces, background)
    figure.add_scatter(x=x, y=y, mode="lines", line={"color": BLUE, "width": 2.4}, name="calibrated background")
    if truth is not None:
        x, y = _stairs(faces, truth)
        figure.add_scatter(x=x, y=y, mode="lines", line={"color": INK, "width": 1.6, "dash": "dash"}, name="truth")
        peak.append(float(np.max(truth)))
    figure.update_traces(hovertemplate="depth %{x:.3~g}<br>diffusivity %{y:.4~g}<extra>%{fullData.name}</extra>")
    dress(figure, height=300, below=56, legend=True)
    ceiling = 1.12 * max(peak)
    for row, (name, top, bottom) in enumerate(spans):
        height = ceiling * (0.06 + 0.07 * row)
        figure.add_scatter(
            x=[top, bottom],
            y=[height, height],
            mode="lines+markers",
            line={"color": MUTED, "width": 2},
            marker={"symbol": "line-ns", "size": 9, "line": {"color": MUTED, "width": 2}},
            hovertemplate=f"{name}: depth %{{x:.3~g}}<extra></extra>",
            showlegend=False,
        )
        figure.add_annotation(
            x=bottom, y=height, text=name, showarrow=False, xanchor="left", xshift=8, font={"size": 12, "color": MUTED}
        )
    figure.update_xaxes(title_text=axis_title("depth", units.length), range=[0, thickness], gridcolor=RULE)
    figure.update_yaxes(title_text=axis_title("diffusivity", units.diffusivity), range=[0, ceiling], gridcolor=RULE)
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}})
    return stack_when_narrow(figure, [260])


def _stairs(faces: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the staircase that has one tread per cell."""
    return np.repeat(faces, 2)[1:-1], np.repeat(np.asarray(values, dtype=np.float64), 2)
