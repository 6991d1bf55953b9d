"""Images of a suite: slices of the volumes of one specimen, and errors of its surface temperature."""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import plotly.graph_objects as go

from nefty.bench.suites.presentation.columns import counted, group_of, parts, title_of
from nefty.bench.tasks.simulated import SLAB, Simulated
from nefty.core.grid import Grid
from nefty.data.preparation.sampling import evenly_in_log
from nefty.metrics.volume import THRESHOLD
from nefty.report.figures.images import coarseness, colour_bar
from nefty.report.figures.style import DIFFERENCE, DIFFUSIVITY, MUTED, ORANGE, Scale, dress
from nefty.report.pages.page import Section

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

Place = TypeVar("Place")

DEPTHS, TIMES = 5, 5
#: Largest whole number that stands for a value in an image: colours need no more, and two bytes hold it.
LARGEST = 9999
#: Pixels on the page: names of the rows, colour bar, width of all images, gap.
LEFT, RIGHT, ROOM, GAP = 150, 96, 780, 10
#: Of an image.
LARGEST_SIDE = 255
#: Share of the errors that the colours hold; few cells beyond do not pale the rest.
INSIDE = 99.5


@dataclass(frozen=True, eq=False)
class Example:
    """One specimen and what the methods made of it, in the suite's order."""

    kind: str
    seed: int
    outcomes: dict[str, Outcome]

    @property
    def any(self) -> Outcome:
        """One of the outcomes; all have the same recording."""
        return next(iter(self.outcomes.values()))

    @property
    def recording(self) -> Simulated:
        """How it was simulated."""
        found = self.any.task.recording
        assert isinstance(found, Simulated)  # plates have no such figures
        return found

    @property
    def grid(self) -> Grid:
        """Its cells."""
        return Grid(self.recording.shape, SLAB)

    @property
    def truth(self) -> np.ndarray:
        """The true volume, (z, y, x)."""
        return self.recording.specimen(self.kind, self.seed).alpha(self.grid)

    def __str__(self) -> str:
        facts = self.any.facts
        return f"{self.kind} specimen {self.seed}, {counted('', facts['defects'])}"


def example(suite: Suite, done: Done, data: Sequence[str], kind: str, group: int | None = None) -> Example | None:
    """The specimen on which the first method has its median IoU, out of those that all methods with results have.

    Args:
        suite: whose first method counts.
        done: entries and outcomes.
        data: data sets to choose from.
        kind: of specimen.
        group: number of defects or strata.
    """
    by_place: dict[tuple[str, int], dict[str, Outcome]] = {}
    for entry, outcome in done:
        if entry.data in data and entry.task.kind == kind and group in (None, group_of(outcome)):
            by_place.setdefault((entry.data, entry.task.seed), {})[entry.row] = outcome
    present = [row.name for row in suite.methods if any(row.name in found for found in by_place.values())]
    if not present:
        return None
    with_first = {place: found for place, found in by_place.items() if present[0] in found}
    most = max(len(found) for found in with_first.values())
    marks = {
        place: found[present[0]].scores.get("iou") or 0.0 for place, found in with_first.items() if len(found) == most
    }
    middle = median_low(marks.values())
    place = next(place for place, mark in marks.items() if mark == middle)
    found = with_first[place]
    return Example(kind, place[1], {name: found[name] for name in present if name in found})


def slices(suite: Suite, done: Done) -> list[Section]:
    """Slices of the truth and of every method's volume; for suites about robustness, by number of defects or strata."""
    chosen: list[tuple[tuple[str, ...], str, int | None]]
    if "robustness" in suite.tables:
        chosen = [
            ((data,), kind, group)
            for data, kind in _first_of_each_kind(parts(suite))
            for group in sorted({group_of(o) for e, o in done if e.data == data and e.task.kind == kind})
        ]
    else:
        chosen = [((data,), kind, None) for data, kind in _first_of_each_kind(parts(suite))]
    sections = []
    for data, kind, group in chosen:
        shown = example(suite, done, data, kind, group)
        if shown is None:
            continue
        what = "Slices" if group is None else f"Slices, {counted(kind, group)}"
        sections.append(
            Section(
                title_of(suite, what, data, kind),
                f"Diffusivity at constant depth, truth on top, of the {shown}: the one with the median IoU of the "
                "first method. All share the colours of the truth; orange lines are the true outlines.",
                good="Dark regions fill the outlines at the depths where the truth has them, and nowhere else.",
                bad="Defects smeared over all depths, rings around them, or a field without any.",
                do="Compare with the loss curves: a method that was still descending needs a larger budget.",
                figure=slices_figure(shown),
            )
        )
    return sections


def slices_figure(shown: Example) -> go.Figure:
    """Rows of slices (y, x), one per volume; columns of depths around the true defects."""
    truth, grid = shown.truth, shown.grid
    defect = truth < THRESHOLD
    layers = np.flatnonzero(defect.any(axis=(1, 2)))
    first, last = (layers[0], layers[-1]) if layers.size else (0, len(truth) - 1)
    first, last = max(first - 1, 0), min(last + 1, len(truth) - 1)
    chosen = np.unique(np.linspace(first, last, DEPTHS).round().astype(int))
    rows = {"truth": truth[chosen]}
    for name, outcome in shown.outcomes.items():
        mark = outcome.scores.get("iou")
        rows[name if mark is None else f"{name}\nIoU {mark:.2f}"] = np.asarray(outcome.alpha)[chosen]
    titles = [f"z = {(i + 0.5) * grid.spacing[0]:.3g}" for i in chosen]
    label = "diffusivity"
    limits = DIFFUSIVITY.limits(truth)
    return image_rows(rows, titles, grid.size[1:], DIFFUSIVITY, limits, label, "length²/time", defect[chosen])


def surface_errors(suite: Suite, done: Done) -> list[Section]:
    """Errors of the surface temperature over time, simulated from the volumes, of one specimen per kind."""
    sections = []
    for data, kind in _first_of_each_kind(parts(suite)):
        shown = example(suite, done, [data], kind)
        if shown is None:
            continue
        sections.append(
            Section(
                title_of(suite, "Errors of the surface temperature", [data], kind),
                f"Frames simulated from each volume minus the true ones without noise, of the {shown}. "
                "All share their colours, which hold 99.5 % of the errors; orange lines are the defects.",
                good="White, or specks without a shape: the volume explains the frames.",
                bad="Blobs over the defects that stay or spread: their depth, extent or diffusivity is wrong.",
                do="Read it beside IoU: a white map over a wrong volume is the data-fit paradox.",
                figure=surface_errors_figure(shown),
            )
        )
    return sections


def surface_errors_figure(shown: Example) -> go.Figure:
    """Rows of maps (y, x), one per method; columns of times, evenly in log(t)."""
    from nefty.metrics.surface import resimulated

    recording = shown.recording
    sequence = recording.sequence(shown.kind, shown.seed, clean=True)
    errors = {name: resimulated(o, sequence, refine=1) - sequence.frames for name, o in shown.outcomes.items()}
    chosen = evenly_in_log(sequence.times, TIMES)
    most = max(float(np.percentile(np.abs(e[chosen]), INSIDE)) for e in errors.values())
    rows = {f"{name}\nRMSE {np.sqrt(np.mean(e**2)):.2g}": e[chosen] for name, e in errors.items()}
    titles = [f"t = {t:.3g}" for t in sequence.times[chosen]]
    footprint = (shown.truth < THRESHOLD).any(axis=0)
    outlines = np.broadcast_to(footprint, (len(chosen), *footprint.shape))
    limits = (-most, most) if most > 0 else (-1.0, 1.0)
    return image_rows(rows, titles, shown.grid.size[1:], DIFFERENCE, limits, "error", "temperature", outlines)


def image_rows(
    rows: Mapping[str, np.ndarray],
    titles: Sequence[str],
    size: tuple[float, float],
    scale: Scale,
    limits: tuple[float, float],
    label: str,
    unit: str,
    outlines: np.ndarray,
) -> go.Figure:
    """Images in rows and columns that share their colours, stored as whole numbers of two bytes.

    Args:
        rows: images (n, y, x) by name; a line break in a name is kept.
        titles: of the n columns.
        size: edge lengths along (y, x).
        scale: how values become colours.
        limits: of the colours.
        label: of the colour bar.
        unit: of the values.
        outlines: masks (n, y, x), drawn over the images of every row.
    """
    side = min((ROOM - GAP * (len(titles) - 1)) / len(titles), LARGEST_SIDE)
    high = side * size[0] / size[1]
    plots = len(rows) * high + GAP * (len(rows) - 1)
    power = _power(limits)
    hover = f"{label} %{{z}}e{-power}<extra></extra>"
    borders = [_outline(mask, size) for mask in outlines]
    traces: list[go.Heatmap] = []
    shapes: list[dict[str, Any]] = []
    names: list[dict[str, Any]] = []
    # A column shares its x axis and a row its y axis: few axes, and zooming into one image zooms into all.
    axes: dict[str, Any] = {}
    for j, title in enumerate(titles):
        left = j * (side + GAP) / ROOM
        axes[_axis("xaxis", j)] = {**_BARE, "domain": [left, min(left + side / ROOM, 1)], "range": [0, size[1]]}
        middle = {"x": left + side / ROOM / 2, "xanchor": "center", "y": 1, "yanchor": "bottom"}
        names.append({**middle, "text": html.escape(title)})
    for i, (name, images) in enumerate(rows.items()):
        top = 1 - i * (high + GAP) / plots
        axes[_axis("yaxis", i)] = {**_BARE, "domain": [max(top - high / plots, 0), top], "range": [size[0], 0]}
        beside = {"x": 0, "xshift": -12, "xanchor": "right", "align": "right"}
        names.append({**beside, "y": top - high / plots / 2, "text": _broken(name)})
        for j, values in enumerate(images):
            x, y = _axis("x", j), _axis("y", i)
            traces.append(_coded(values, size, power, hover).update(xaxis=x, yaxis=y))
            if borders[j]:
                line = {"color": ORANGE, "width": 1.2}
                shapes.append({"type": "path", "path": borders[j], "xref": x, "yref": y, "line": line})
    ticks = _ticks(*limits)
    marks = {"tickvals": [t * 10.0**power for t in ticks], "ticktext": [f"{t:g}" for t in ticks]}
    bar = colour_bar(f"{label} ({unit})", scale) | marks | {"x": 1.015, "len": 1.0, "y": 0.5}
    low, most = (float(end) * 10.0**power for end in limits)
    figure = dress(go.Figure(), height=round(plots), below=24)
    figure.update_layout(
        margin={"l": LEFT, "r": RIGHT},
        coloraxis={"colorscale": scale.name, "cmin": low, "cmax": most, "colorbar": bar},
        shapes=shapes,
        annotations=[{"xref": "paper", "yref": "paper", "showarrow": False, **name} for name in names],
        **axes,
    )
    return figure.add_traces(traces)


_BARE = {"showticklabels": False, "ticks": "", "showline": True, "mirror": "all", "linecolor": MUTED, "zeroline": False}


def _axis(name: str, index: int) -> str:
    """Plotly's name of an axis: x, x2, x3."""
    return name if index == 0 else f"{name}{index + 1}"


def _coded(values: np.ndarray, size: tuple[float, float], power: int, hover: str) -> go.Heatmap:
    """An image of values times 10^power, rounded."""
    step = coarseness((values.shape[0], values.shape[1]))
    coarse = np.asarray(values, dtype=np.float64)[::step, ::step]
    codes = np.clip(np.rint(coarse * 10.0**power), -(2**15), 2**15 - 1).astype(np.int16)
    down, across = size[0] / codes.shape[0], size[1] / codes.shape[1]
    return go.Heatmap(
        z=codes, x0=across / 2, dx=across, y0=down / 2, dy=down, coloraxis="coloraxis", hovertemplate=hover
    )


def _outline(mask: np.ndarray, size: tuple[float, float]) -> str:
    """The border of a mask along the cell edges, as a path of strokes, which takes less room than a line of points."""
    down, across = size[0] / mask.shape[0], size[1] / mask.shape[1]
    padded = np.pad(np.asarray(mask, dtype=bool), 1)
    level = _runs((padded[1:] != padded[:-1])[:, 1:-1])
    upright = _runs((padded[:, 1:] != padded[:, :-1])[1:-1].T)
    strokes = [f"M{first * across:.3g},{row * down:.3g}H{last * across:.3g}" for row, first, last in level]
    strokes += [f"M{column * across:.3g},{first * down:.3g}V{last * down:.3g}" for column, first, last in upright]
    return "".join(strokes)


def _runs(flags: np.ndarray) -> list[tuple[int, int, int]]:
    """Row, start and stop of the runs of true values in each row."""
    steps = np.diff(np.pad(flags.astype(np.int8), ((0, 0), (1, 1))))
    starts, stops = np.argwhere(steps == 1), np.argwhere(steps == -1)
    return [(int(row), int(first), int(last)) for (row, first), (_, last) in zip(starts, stops, strict=True)]


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers between two, about five."""
    rough = (high - low) / 5
    unit = 10.0 ** math.floor(math.log10(rough))
    step = unit * next(m for m in (1, 2, 5, 10) if m * unit >= rough * (1 - 1e-9))
    return [round(i * step, 12) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _power(limits: tuple[float, float]) -> int:
    """The power of ten that brings the larger limit below ``LARGEST``, and no further."""
    return math.floor(math.log10(LARGEST / max(abs(end) for end in limits)))


def _broken(name: str) -> str:
    """A name in lines that fit beside the images; Plotly reads markup in names."""
    lines = [line for part in name.split("\n") for line in textwrap.wrap(part, 18)]
    return "<br>".join(html.escape(line) for line in lines)


def _first_of_each_kind(places: Iterable[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """Of data and kinds, the first data of each kind: images take room."""
    found: dict[str, Place] = {}
    for data, kind in places:
        found.setdefault(kind, data)
    return [(data, kind) for kind, data in found.items()]
