"""Three slices of a volume through one point: from the front, along x and along y."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from nefty.core.errors import InputError
from nefty.report.figures.images import colour_bar, edge, heatmap
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import ORANGE, AxisUnits, Scale, axis_title, dress

#: Names of the panels, in the order of their traces: what a click on each of them tells.
PANELS = ("front", "along x", "along y")
LINE = "rgba(230, 159, 0, 0.9)"


@dataclass(frozen=True, eq=False)
class SlicedVolume:
    """What is cut.

    Args:
        values: (z, y, x).
        inside: cells of indications, of the same shape, whose outline is drawn; None for none.
        size: edge lengths along (z, y, x).
        scale: how values become colours.
        label: quantity and unit beside the colour bar.
        limits: of the colours.
    """

    values: np.ndarray
    inside: np.ndarray | None
    size: tuple[float, float, float]
    scale: Scale
    label: str
    limits: tuple[float, float]


def linked_slices(volume: SlicedVolume, at: tuple[float, float, float], units: AxisUnits | None = None) -> go.Figure:
    """The slice at a depth, seen from the front, and beside it the part opened along x and along y, through a point.

    The first three traces are the three images, in the order of ``PANELS``; lines show where the others cut.

    Args:
        volume: what is cut.
        at: the point (z, y, x), in lengths; moved into the volume if it lies outside.
        units: words for the axes.
    """
    units = units or AxisUnits()
    if volume.values.ndim != 3:
        raise InputError(f"a volume has axes (z, y, x); got shape {volume.values.shape}.")
    size = volume.size
    k, j, i = (cell_of(p, s, n) for p, s, n in zip(at, size, volume.values.shape, strict=True))
    z, y, x = ((c + 0.5) * s / n for c, s, n in zip((k, j, i), size, volume.values.shape, strict=True))
    figure = make_subplots(
        2,
        2,
        specs=[[{"rowspan": 2}, {}], [None, {}]],
        column_widths=[0.5, 0.5],
        horizontal_spacing=0.1,
        vertical_spacing=0.26,
        subplot_titles=[
            f"At depth {z:.3g} {units.length}".rstrip(),
            f"Cut along x, at y = {y:.3g} {units.length}".rstrip(),
            f"Cut along y, at x = {x:.3g} {units.length}".rstrip(),
        ],
    )
    cuts = [volume.values[k], volume.values[:, j], volume.values[:, :, i]]
    sizes = [(size[1], size[2]), (size[0], size[2]), (size[0], size[1])]
    places = [(1, 1), (1, 2), (2, 2)]
    for values, face, (row, column), down in zip(cuts, sizes, places, ("y", "depth", "depth"), strict=True):
        figure.add_trace(heatmap(values, face, volume.label, units, down=down, coloraxis="coloraxis"), row, column)
    inside = volume.inside
    if inside is not None:
        masks = [inside[k], inside[:, j], inside[:, :, i]]
        for mask, face, (row, column) in zip(masks, sizes, places, strict=True):
            if mask.any():
                figure.add_trace(edge(mask, face, ORANGE), row, column)
    crosses = [((0, size[2]), (y, y)), ((x, x), (0, size[1]))], [((0, size[2]), (z, z)), ((x, x), (0, size[0]))]
    crosses = (*crosses, [((0, size[1]), (z, z)), ((y, y), (0, size[0]))])
    for lines, (row, column) in zip(crosses, places, strict=True):
        for xs, ys in lines:
            line = {"color": LINE, "width": 1, "dash": "dot"}
            figure.add_trace(go.Scatter(x=xs, y=ys, mode="lines", line=line, hoverinfo="skip"), row, column)
    return _dressed(figure, volume, units)


def cell_of(place: float, length: float, cells: int) -> int:
    """The cell in which a place along an axis lies."""
    return int(np.clip(np.floor(place / length * cells), 0, cells - 1))


def _dressed(figure: go.Figure, volume: SlicedVolume, units: AxisUnits) -> go.Figure:
    size, (low, high) = volume.size, volume.limits
    bar = colour_bar(volume.label, volume.scale) | {"x": 1.01, "len": 1.0}
    figure.update_layout(coloraxis={"colorscale": volume.scale.name, "cmin": low, "cmax": high, "colorbar": bar})
    dress(figure, height=380)
    figure.update_xaxes(showgrid=False, constrain="domain")
    figure.update_yaxes(showgrid=False)
    figure.update_xaxes(range=[0, size[2]], title_text=axis_title("x", units.length), row=1, col=1)
    figure.update_yaxes(
        range=[size[1], 0],
        title_text=axis_title("y", units.length),
        scaleanchor="x",
        constrain="domain",
        constraintoward="top",
        row=1,
        col=1,
    )
    for row, length, word in ((1, size[2], "x"), (2, size[1], "y")):
        figure.update_xaxes(range=[0, length], title_text=axis_title(word, units.length), row=row, col=2)
        figure.update_yaxes(range=[size[0], 0], title_text=axis_title("depth", units.length), nticks=4, row=row, col=2)
    figure.update_layout(margin={"r": 90})
    return stack_when_narrow(figure, [240, 90, 90], bar=0.2, also={"coloraxis.colorbar.x": 0.82})
