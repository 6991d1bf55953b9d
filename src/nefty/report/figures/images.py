"""The parts that figures of images are made of.

Images are (y, x) with row 0 on top, as the camera sees them; sections are (z, x) with the front face on top.
Lengths on the axes come from ``size``, the edge lengths of the image along its rows and columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from nefty.report.figures.style import MUTED, AxisUnits, Scale, axis_title

#: Values in one stack of images beyond which layers or frames are left out, to keep the page small: 1.3 MB each.
MOST_VALUES = 240_000
#: Images wider than this are drawn with fewer pixels; a panel on the page has about three times as many.
MOST_PIXELS = 128
#: Width in pixels that the panels and the gaps between them share on the page.
ROOM = 860
#: Height in pixels of a panel, whatever the image's shape.
LOWEST, HIGHEST = 16, 4 * ROOM
OUTLINE = "rgba(0, 0, 0, 0.65)"


def heatmap(
    values: np.ndarray, size: tuple[float, float], label: str, units: AxisUnits, *, down: str = "y", **colours: Any
) -> go.Heatmap:
    """An image with cell centres as coordinates; ``down`` names its vertical axis."""
    rows, columns = values.shape
    return go.Heatmap(
        z=compact(values),
        x0=size[1] / columns / 2,
        dx=size[1] / columns,
        y0=size[0] / rows / 2,
        dy=size[0] / rows,
        hovertemplate=f"x %{{x:.3~g}}, {down} %{{y:.3~g}} {units.length}<br>{label}: %{{z:.4~g}}<extra></extra>",
        **colours,
    )


def image_axes(
    figure: go.Figure, row: int, column: int, size: tuple[float, float], units: AxisUnits, **titles: bool
) -> None:
    """Equal lengths along x and y, row 0 on top."""
    name = next(figure.select_xaxes(row=row, col=column)).plotly_name.replace("axis", "")
    figure.update_xaxes(range=[0, size[1]], constrain="domain", constraintoward="right", row=row, col=column)
    figure.update_yaxes(
        range=[size[0], 0],
        scaleanchor=name,
        constrain="domain",
        constraintoward="top",
        row=row,
        col=column,
    )
    if titles.get("x_title", True):
        figure.update_xaxes(title_text=axis_title("x", units.length), row=row, col=column)
    if titles.get("y_title", True):
        figure.update_yaxes(title_text=axis_title("y", units.length), row=row, col=column)


def edge(mask: np.ndarray, size: tuple[float, float], colour: str = OUTLINE) -> go.Scatter:
    """The border of a mask, drawn along the cell edges."""
    padded = np.pad(np.asarray(mask, dtype=bool), 1)
    down, across = size[0] / mask.shape[0], size[1] / mask.shape[1]
    x: list[float | None] = []
    y: list[float | None] = []
    for row, column in np.argwhere(padded[:, 1:] != padded[:, :-1]):
        x += [column * across, column * across, None]
        y += [(row - 1) * down, row * down, None]
    for row, column in np.argwhere(padded[1:] != padded[:-1]):
        x += [(column - 1) * across, column * across, None]
        y += [row * down, row * down, None]
    line = {"color": colour, "width": 1.2}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)


def colour_bar(label: str, scale: Scale) -> dict[str, Any]:
    """A slim colour bar, as high as its plot, with its label along it."""
    return {
        "title": {"text": label, "side": "right", "font": {"size": 12}},
        "thickness": 12,
        "ypad": 0,
        "outlinewidth": 0,
        "tickformat": scale.tick_format,
        "tickfont": {"size": 11, "color": MUTED},
        "ticks": "outside",
        "ticklen": 3,
        "tickcolor": MUTED,
    }


def right_edge(figure: go.Figure, column: int) -> float:
    """Where a column of plots ends, as a fraction of the figure's width."""
    return next(figure.select_xaxes(row=1, col=column)).domain[1]


def height_of(columns: int, size: tuple[float, float], gap: float) -> int:
    """Height in pixels at which images in so many columns fill their width on the page; for a line of pixels less."""
    return round(np.clip(ROOM * (1 - gap * (columns - 1)) / columns * size[0] / size[1], LOWEST, HIGHEST))


def narrow_height(size: tuple[float, float]) -> int:
    """Height in pixels at which one image fills its width on a phone."""
    return round(np.clip(218 * size[0] / size[1], LOWEST, 420))


def gap(columns: int) -> float:
    """Room between the panels for a colour bar."""
    return 0.17 if columns == 2 else 0.34 / columns


def coarseness(image: tuple[int, int]) -> int:
    """By which factor an image of so many rows and columns is made coarser."""
    return -(-max(image) // MOST_PIXELS)


def most_images(image: tuple[int, int]) -> int:
    """How many images of so many rows and columns, made coarser, one stack may hold."""
    factor = coarseness(image)
    return max(MOST_VALUES // (-(-image[0] // factor) * -(-image[1] // factor)), 2)


def compact(values: np.ndarray) -> np.ndarray:
    """Single precision, which Plotly embeds in binary: enough for colours, and a page half as large."""
    return np.ascontiguousarray(values, dtype=np.float32)
