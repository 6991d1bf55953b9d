"""The defects as surfaces in the translucent part, in 3D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from scipy.ndimage import binary_dilation, zoom
from skimage.measure import find_contours, marching_cubes

from nefty.core.errors import InputError
from nefty.report.figures.images import colour_bar
from nefty.report.figures.narrow import stack_when_narrow
from nefty.report.figures.style import DEPTH, INK, MUTED, RULE, AxisUnits, axis_title, dress

#: Thickness of the drawn part as a share of its longer side; thinner parts are stretched to it.
DRAWN_THICKNESS = 0.35

#: Opacity of what may be there.
VEILED = 0.22

#: Cells beyond which a volume is made coarser before its surface is drawn.
MOST_CELLS = 600_000


@dataclass(frozen=True, eq=False)
class Body:
    """A volume and the part of it whose surface is drawn.

    Args:
        values: (z, y, x), low inside.
        inside: mask of the same shape; the surface is drawn around it and nowhere else.
        level: value at the surface.
    """

    values: np.ndarray
    inside: np.ndarray
    level: float = 0.5

    def __post_init__(self) -> None:
        if self.values.shape != self.inside.shape or self.values.ndim != 3:
            raise InputError(
                f"a body needs values and a mask of one shape (z, y, x), got {self.values.shape} and "
                f"{self.inside.shape}."
            )


def defect_surfaces(
    found: Body,
    size: tuple[float, float, float],
    units: AxisUnits | None = None,
    *,
    veil: Body | None = None,
    truth: Body | None = None,
    labels: Sequence[tuple[str, tuple[float, float, float]]] = (),
) -> go.Figure:
    """Defects in 3D, coloured by depth; the front face is on top, as in the images x goes right and y forward.

    Args:
        found: what was reconstructed.
        size: edge lengths of the part along (z, y, x).
        units: words for the axes.
        veil: what may be there too, drawn around it so that one looks through.
        truth: drawn as rings, one per layer of cells.
        labels: words and their places (z, y, x).
    """
    units = units or AxisUnits()
    figure = go.Figure(_part(size))
    if truth is not None and truth.inside.any():
        figure.add_trace(_rings(truth, size))
    if found.inside.any():
        figure.add_trace(_surface(found, size, units, opacity=1.0 if truth is None else 0.65))
    if veil is not None and veil.inside.any():
        thin = _surface(veil, size, units, opacity=VEILED).update(name="not sure", hoverinfo="skip", hovertemplate=None)
        figure.add_trace(thin.update(showscale=not found.inside.any()))
    if labels:
        figure.add_trace(_words(labels, size))
    dress(figure, height=470, below=24, legend=truth is not None)
    stretch = depth_stretch(size)
    longest = max(size[1:])
    aspect = {"z": size[0] * stretch / longest, "y": size[1] / longest, "x": size[2] / longest}
    figure.update_layout(
        margin={"l": 0, "r": 24, "t": 36, "b": 8},
        legend={"x": 0, "y": 1, "xanchor": "left", "yanchor": "top", "font": {"size": 12}},
        scene={
            "aspectmode": "manual",
            "aspectratio": aspect,
            "camera": _camera(1.12),
            "dragmode": "orbit",
            "xaxis": _axis(axis_title("x", units.length), [0, size[2]]),
            "yaxis": _axis(axis_title("y", units.length), [size[1], 0]),
            "zaxis": _axis(axis_title("depth", units.length), [size[0], 0]) | {"nticks": 4},
        },
    )
    return stack_when_narrow(figure, also={"scene.camera": _camera(1.75), "height": 420, "scene.domain.x": [0, 0.86]})


def depth_stretch(size: tuple[float, float, float]) -> float:
    """How many times depth is stretched so that a thin part can be seen; 1 for a thick one."""
    wanted = DRAWN_THICKNESS * max(size[1:]) / size[0]
    if wanted <= 1:
        return 1.0
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max(step * power for step in (1, 1.5, 2, 3, 4, 5, 7) if step * power <= wanted * 1.001))


def _surface(body: Body, size: tuple[float, float, float], units: AxisUnits, *, opacity: float) -> go.Mesh3d:
    """Marching cubes around the mask; faces of the part close the surface."""
    values, spacing, origin = _ready(body, size)
    points, faces, _, _ = marching_cubes(values, body.level, spacing=spacing)
    z, y, x = np.clip(points + origin, 0, size).astype(np.float32).T
    i, j, k = faces.astype(np.uint16 if len(points) < 2**16 else np.uint32).T
    return go.Mesh3d(
        x=x,
        y=y,
        z=z,
        i=i,
        j=j,
        k=k,
        intensity=z,
        opacity=opacity,
        cmin=0,
        cmax=size[0],
        colorscale=DEPTH.name,
        colorbar=colour_bar(axis_title("depth", units.length), DEPTH) | {"len": 0.6, "x": 1.0},
        lighting={"ambient": 0.8, "diffuse": 0.6, "specular": 0.1, "roughness": 0.8, "fresnel": 0.05},
        lightposition={"x": -2000, "y": -4000, "z": 8000},
        hovertemplate="x %{x:.3~g}, y %{y:.3~g}<br>depth %{z:.3~g}<extra>reconstruction</extra>",
        name="reconstruction",
    )


def _rings(body: Body, size: tuple[float, float, float]) -> go.Scatter3d:
    """Contours of every layer of cells that the body reaches into."""
    values = _masked(body)
    dz, dy, dx = (length / n for length, n in zip(size, values.shape, strict=True))
    xs: list[np.ndarray] = []
    ys: list[np.ndarray] = []
    zs: list[np.ndarray] = []
    stop = np.array([np.nan])
    for layer in np.flatnonzero(body.inside.any(axis=(1, 2))):
        for ring in find_contours(np.pad(values[layer], 1, constant_values=_outside(body)), body.level):
            y, x = (ring - 0.5).T * [[dy], [dx]]
            xs += [np.clip(x, 0, size[2]), stop]
            ys += [np.clip(y, 0, size[1]), stop]
            zs += [np.full(len(x), (layer + 0.5) * dz), stop]
    x, y, z = (np.concatenate(parts or [stop]).astype(np.float32) for parts in (xs, ys, zs))
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="lines",
        line={"color": INK, "width": 2.5},
        name="truth, one ring per layer of cells",
        hoverinfo="skip",
        connectgaps=False,
    )


def _part(size: tuple[float, float, float]) -> list[Any]:
    """The translucent slab: its front face, its edges."""
    z, y, x = size
    front = go.Mesh3d(
        x=[0, x, x, 0],
        y=[0, 0, y, y],
        z=[0, 0, 0, 0],
        i=[0, 0],
        j=[1, 2],
        k=[2, 3],
        color="#9fb3c8",
        opacity=0.12,
        hoverinfo="skip",
        showlegend=False,
    )
    path = [
        (0, 0, 0),
        (0, 0, 1),
        (0, 1, 1),
        (0, 1, 0),
        (0, 0, 0),
        (1, 0, 0),
        (1, 0, 1),
        (1, 1, 1),
        (1, 1, 0),
        (1, 0, 0),
    ]
    path += [None, (0, 0, 1), (1, 0, 1), None, (0, 1, 1), (1, 1, 1), None, (0, 1, 0), (1, 1, 0)]  # pyright: ignore[reportAssignmentType]
    points = [(None,) * 3 if p is None else (p[0] * z, p[1] * y, p[2] * x) for p in path]
    zs, ys, xs = zip(*points, strict=True)
    edges = go.Scatter3d(
        x=xs, y=ys, z=zs, mode="lines", line={"color": MUTED, "width": 2}, hoverinfo="skip", showlegend=False
    )
    word = go.Scatter3d(
        x=[x / 2],
        y=[0],
        z=[0],
        mode="text",
        text=["front face (heated)"],
        textposition="top center",
        textfont={"size": 12, "color": MUTED},
        hoverinfo="skip",
        showlegend=False,
    )
    return [front, edges, word]


def _words(labels: Sequence[tuple[str, tuple[float, float, float]]], size: tuple[float, float, float]) -> go.Scatter3d:
    """Words over the part, each with a line down to its place."""
    x = [v for _, (_, _, at) in labels for v in (at, at, None)]
    y = [v for _, (_, at, _) in labels for v in (at, at, None)]
    z = [v for _, (at, _, _) in labels for v in (at, 0, None)]
    text = [v for word, _ in labels for v in ("", word, "")]
    return go.Scatter3d(
        x=x,
        y=y,
        z=z,
        mode="lines+text",
        line={"color": INK, "width": 1.5},
        text=text,
        textposition="top center",
        textfont={"size": 15, "color": INK},
        hoverinfo="skip",
        showlegend=False,
    )


def _camera(distance: float) -> dict[str, dict[str, float]]:
    eye = {"x": -0.4 * distance, "y": -1.2 * distance, "z": 0.8 * distance}
    return {"eye": eye, "center": {"x": 0, "y": 0, "z": -0.05}}


def _axis(title: str, span: list[float]) -> dict[str, Any]:
    return {
        "title": {"text": title, "font": {"size": 12, "color": INK}},
        "range": span,
        "showbackground": False,
        "gridcolor": RULE,
        "zeroline": False,
        "showspikes": False,
        "tickfont": {"size": 11, "color": MUTED},
    }


def _ready(body: Body, size: tuple[float, float, float]) -> tuple[np.ndarray, tuple[float, ...], np.ndarray]:
    """Values to draw a closed surface of, not too many; their spacing and the place of the first."""
    values = _masked(body)
    if values.size > MOST_CELLS:
        factor = float(np.sqrt(MOST_CELLS / float(values.size)))
        values = np.asarray(zoom(values, (1, factor, factor), order=1, mode="nearest", grid_mode=True))
    spacing = tuple(length / n for length, n in zip(size, values.shape, strict=True))
    return np.pad(values, 1, constant_values=_outside(body)), spacing, -np.asarray(spacing) / 2


def _masked(body: Body) -> np.ndarray:
    """The values near the mask, and high elsewhere, so that no surface is drawn there."""
    near = binary_dilation(body.inside, np.ones((3, 3, 3)))
    values = np.where(body.inside, np.minimum(body.values, np.nextafter(body.level, -np.inf)), body.values)
    values = np.where(~body.inside, np.maximum(values, body.level), values)
    return np.where(near, np.minimum(values, _outside(body)), _outside(body)).astype(np.float32)


def _outside(body: Body) -> float:
    return 2 * body.level if body.level > 0 else body.level + 1.0
