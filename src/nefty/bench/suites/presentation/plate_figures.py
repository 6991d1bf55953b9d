"""Depth maps of plates: the label on top, every method below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from nefty.bench.suites.presentation.columns import title_of
from nefty.bench.suites.presentation.images import image_rows
from nefty.report.figures.style import Scale
from nefty.report.pages.page import Section

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.task import Outcome

MOST = 4  # recordings, side by side
DEEPEST = 2.5  # mm, of the labels
#: Sound, and the five depths of the labels.
COLOURS = Scale(("#eef1f4", "#fca636", "#e16462", "#b12a90", "#6a00a8", "#0d0887"), from_zero=True)


def depth_maps(suite: Suite, done: Done) -> list[Section]:
    """The first recordings that most methods have, one figure for each folder."""
    sections = []
    for data in suite.plates:
        by_place: dict[tuple[str, int], dict[str, Outcome]] = {}
        for entry, outcome in done:
            if entry.data == data and outcome.maps:
                by_place.setdefault((entry.task.kind, entry.task.seed), {})[entry.row] = outcome
        if not by_place:
            continue
        most = max(len(found) for found in by_place.values())
        places = [place for place, found in by_place.items() if len(found) == most][:MOST]
        sections.append(
            Section(
                title_of(suite, "Depth maps", [data]),
                "Depth of the holes in mm, the label on top; sound pixels are grey. Orange lines are the true "
                "outlines. Depths beyond 2.5 mm have the colour of 2.5 mm.",
                good="Every outline is filled evenly with the colour of the label.",
                bad="Holes of one colour whatever their depth, halos around them, or spots where there is no outline.",
                do="Read the table of holes beside it: narrow and deep ones are lost first.",
                figure=_figure(suite, [by_place[place] for place in places], places),
            )
        )
    return sections


def _figure(suite: Suite, columns: list[dict[str, Outcome]], places: list[tuple[str, int]]) -> go.Figure:
    first = next(iter(columns[0].values()))
    shape = first.maps["true_depth"].shape
    names = [row.name for row in suite.methods if all(row.name in found for found in columns)]
    truths = [_millimetres(next(iter(found.values())).maps["true_depth"], shape) for found in columns]
    rows = {"label": np.stack(truths)}
    for name in names:
        rows[name] = np.stack([_millimetres(found[name].maps["depth"], shape) for found in columns])
    size = (1e3 * first.facts["pixel"] * shape[0], 1e3 * first.facts["pixel"] * shape[1])
    titles = [f"{kind} {number}" for kind, number in places]
    return image_rows(rows, titles, size, COLOURS, (0.0, DEEPEST), "depth", "mm", np.stack(truths) > 0)


def _millimetres(depth: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Depths in mm on as many pixels as ``shape``: more are cut off, missing ones are sound."""
    found = np.zeros(shape)
    rows, columns = (min(a, b) for a, b in zip(depth.shape, shape, strict=True))
    found[:rows, :columns] = np.nan_to_num(1e3 * depth[:rows, :columns])
    return found
