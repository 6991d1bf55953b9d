"""Plotly figures of image stacks with a slider: frames over time, slices over depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.figures.images import (
    colour_bar,
    compact,
    edge,
    gap,
    heatmap,
    height_of,
    image_axes,
    narrow_height,
    right_edge,
)
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import DIFFUSIVITY, MUTED, RULE, AxisUnits, Scale, axis_title, dress


@dataclass(frozen=True, eq=False)
class Stack:
    """Images that share one place in a figure and are stepped through with a slider.

    Args:
        title: what the images are.
        values: (n, y, x), one image per step; or (y, x), one image for all steps.
        scale: how values become colours.
        label: quantity and unit beside the colour bar.
        outline: optional mask (y, x) whose edge is drawn over every image.
        limits: of the colours; those of ``scale`` if not given.
    """

    title: str
    values: np.ndarray
    scale: Scale
    label: str
    outline: np.ndarray | None = None
    limits: tuple[float, float] | None = None


def frames_slider(
    stacks: Sequence[Stack],
    times: np.ndarray,
    size: tuple[float, float],
    units: AxisUnits | None = None,
    *,
    start: int = 0,
) -> go.Figure:
    """Recordings side by side, (t, y, x) each, with one time slider and a play button.

    ``start`` is the frame shown first, and in print.
    """
    units = units or AxisUnits()
    steps = [f"{t:.4g}" for t in np.asarray(times)]
    return stack_slider(stacks, steps, axis_title("t", units.time), size, units, play=True, start=start)


def slices_slider(
    volume: np.ndarray,
    size: tuple[float, float, float],
    units: AxisUnits | None = None,
    *,
    title: str = "Diffusivity",
    scale: Scale = DIFFUSIVITY,
    truth: np.ndarray | None = None,
    start: int = 0,
) -> go.Figure:
    """Slices of a volume (z, y, x) at constant depth with a depth slider; the truth beside it where known.

    Both volumes share the colours of the truth, so that equal colours are equal values. ``start`` is the slice shown
    first, and in print.
    """
    units = units or AxisUnits()
    depth = size[0]
    label = axis_title("diffusivity", units.diffusivity)
    shared = scale.limits(volume if truth is None else truth)
    stacks = [Stack(title, volume, scale, label, limits=shared)]
    if truth is not None:
        stacks.append(Stack("Truth", truth, scale, label, limits=shared))
    steps = [f"{(i + 0.5) * depth / len(volume):.3g}" for i in range(len(volume))]
    return stack_slider(stacks, steps, axis_title("z", units.length), size[1:], units, start=start)


def stack_slider(
    stacks: Sequence[Stack],
    steps: Sequence[str],
    name: str,
    size: tuple[float, float],
    units: AxisUnits,
    *,
    play: bool = False,
    start: int = 0,
) -> go.Figure:
    """Panels in a row whose images change together.

    Args:
        stacks: the panels.
        steps: what the slider says at each step.
        name: of the quantity that the slider steps through.
        size: edge lengths of the images along (y, x).
        units: words for the axes.
        play: whether there is a play button.
        start: the step shown first, and in print.
    """
    for stack in stacks:
        if stack.values.ndim != 2 and (stack.values.ndim != 3 or len(stack.values) != len(steps)):
            raise InputError(
                f"the images {stack.title!r} have shape {stack.values.shape}, the slider has {len(steps)} "
                "steps; give an array (n, y, x) with one image per step."
            )
    columns = len(stacks)
    figure = make_subplots(
        1, columns, subplot_titles=[stack.title for stack in stacks], horizontal_spacing=gap(columns)
    )
    for column, stack in enumerate(stacks, 1):
        low, high = stack.limits or stack.scale.limits(stack.values)
        bar = colour_bar(stack.label, stack.scale) | {"x": right_edge(figure, column) + 0.008}
        image = stack.values if stack.values.ndim == 2 else stack.values[start]
        trace = heatmap(image, size, stack.label, units, colorscale=stack.scale.name)
        figure.add_trace(trace.update(zmin=low, zmax=high, colorbar=bar), 1, column)
    for column, stack in enumerate(stacks, 1):
        if stack.outline is not None:
            figure.add_trace(edge(stack.outline, size), 1, column)
    moving = [column for column, stack in enumerate(stacks) if stack.values.ndim == 3]
    figure.frames = [
        go.Frame(name=str(i), data=[go.Heatmap(z=compact(stacks[c].values[i])) for c in moving], traces=moving)
        for i in range(len(steps))
    ]
    wide = max(columns, 2)
    dress(figure, height=height_of(wide, size, gap(wide)), below=136)
    for column in range(1, columns + 1):
        image_axes(figure, 1, column, size, units, y_title=column == 1)
    figure.update_layout(
        sliders=[_slider(steps, f"{name} = ", start, left=0.1 if play else 0.0)],
        updatemenus=[_player()] if play else [],
    )
    room = {"sliders[0].x": 0.3, "sliders[0].len": 0.7} if play else {}
    return stack_when_narrow(figure, [narrow_height(size)] * columns, bar=0.2, also=room)


def _slider(steps: Sequence[str], prefix: str, start: int, *, left: float) -> dict[str, Any]:
    now = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {
        "active": start,
        "x": left,
        "len": 1 - left,
        "y": 0,
        "pad": {"t": 52, "b": 0},
        "currentvalue": {"prefix": prefix, "font": {"size": 13}, "xanchor": "left", "offset": 8},
        "font": {"size": 11, "color": MUTED},
        "bordercolor": RULE,
        "bgcolor": "#eef1f4",
        "tickcolor": RULE,
        "steps": [{"label": step, "method": "animate", "args": [[str(i)], now]} for i, step in enumerate(steps)],
    }


def _player() -> dict[str, Any]:
    run = {"frame": {"duration": 80, "redraw": True}, "transition": {"duration": 0}, "fromcurrent": True}
    halt = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "pad": {"t": 80, "r": 8},
        "bordercolor": RULE,
        "font": {"size": 12},
        "buttons": [
            {"label": "▶", "method": "animate", "args": [None, run]},
            {"label": "❚❚", "method": "animate", "args": [[None], halt]},
        ],
    }
