"""A recording frame by frame: its level, which frames are used, and which of them become one."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.report.figures.curves import log_axis
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import BLUE, MUTED, RULE, VERMILION, AxisUnits, axis_title, dress

MOST = 4000  # points of a curve
DECADES = 4  # of time, at most


def level_figure(
    levels: np.ndarray, used: np.ndarray, corrupt: np.ndarray, flash: int | None, units: AxisUnits | None = None
) -> go.Figure:
    """Mean rise of every frame, by its number.

    Args:
        levels: of all frames, (t,).
        used: numbers of the frames that are used.
        corrupt: numbers of those that cannot be.
        flash: number of the frame in which the flash falls.
        units: words for the axes.
    """
    units = units or AxisUnits()
    numbers = np.arange(levels.size)
    every = max(1, levels.size // MOST)
    figure = go.Figure()
    unused = np.setdiff1d(numbers, used)
    for some, name, colour in ((used[::every], "used", BLUE), (unused, "left out", MUTED)):
        figure.add_trace(
            go.Scatter(
                x=some,
                y=levels[some],
                mode="markers",
                marker={"size": 4, "color": colour},
                name=name,
                hovertemplate="frame %{x}: %{y:.5~g}<extra></extra>",
            )
        )
    if corrupt.size:
        mark = {"symbol": "x", "size": 9, "color": VERMILION}
        figure.add_trace(
            go.Scatter(x=corrupt, y=levels[corrupt], mode="markers", marker=mark, name="corrupt, left out")
        )
    if flash is not None:
        figure.add_vline(x=flash, line={"color": MUTED, "width": 1, "dash": "dot"})  # pyright: ignore[reportArgumentType]
    dress(figure, height=300, legend=True)
    figure.update_xaxes(title_text="Number of the frame in the file", gridcolor=RULE)
    figure.update_yaxes(title_text=axis_title("Mean rise", units.temperature), gridcolor=RULE)
    figure.update_layout(legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}, margin={"t": 84})
    return stack_when_narrow(figure, [240])


def window_figure(
    times: np.ndarray, counts: np.ndarray, noise: np.ndarray, first: np.ndarray, units: AxisUnits | None = None
) -> go.Figure:
    """How many frames make each mean, and the noise that is left.

    Args:
        times: of the means, after the flash, (n,).
        counts: of frames in each, (n,).
        noise: of each, (n,).
        first: number of the first frame of each in the file, (n,).
        units: words for the axes.
    """
    units = units or AxisUnits()
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=0.06)
    figure.add_trace(
        go.Scatter(
            x=times,
            y=counts,
            customdata=np.stack([first, first + counts - 1], axis=1),
            mode="lines+markers",
            line={"color": BLUE, "shape": "hvh", "width": 1.2},
            marker={"size": 5},
            hovertemplate="t = %{x:.4~g}: %{y} frames, from %{customdata[0]}<extra></extra>",
        ),
        1,
        1,
    )
    line = {"color": VERMILION, "width": 1.6}
    hover = "t = %{x:.4~g}: %{y:.3~g}<extra></extra>"
    figure.add_trace(go.Scatter(x=times, y=noise, mode="lines+markers", line=line, hovertemplate=hover), 2, 1)
    dress(figure, height=400)
    low, high = max(float(times[0]) / 1.1, float(times[-1]) / 10**DECADES), float(times[-1]) * 1.1
    figure.update_xaxes(gridcolor=RULE, **log_axis(low, high))
    figure.update_xaxes(title_text=axis_title("Time after the flash", units.time), row=2)
    figure.update_yaxes(rangemode="tozero", gridcolor=RULE)
    figure.update_yaxes(title_text="Frames in a mean", row=1)
    figure.update_yaxes(title_text=axis_title("Noise of it", units.temperature), row=2)
    return stack_when_narrow(figure, [200, 200], between=30)
