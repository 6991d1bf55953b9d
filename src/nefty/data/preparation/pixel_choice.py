"""Which pixels of the picture count: those inside a polygon, without rectangles that are left out."""

from __future__ import annotations

from collections.abc import Sequence as Listing

import numpy as np

from nefty.core.errors import InputError
from nefty.data.facts import Step
from nefty.data.preparation.outline import Box, resolved
from nefty.data.preparation.prepared import counted
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash

WHOLE_STAYS = "the rest does not count, but stays a part of the model, for heat flows to and from it."
Corners = Listing[tuple[float, float]]
Rectangle = tuple[int | None, int | None, int | None, int | None]


def chosen_pixels(polygon: Corners | None, left_out: Listing[Rectangle], face: tuple[int, int]) -> np.ndarray | None:
    """Pixels (y, x) that count; None if all do.

    Args:
        polygon: corners (y, x) in pixels, from 0 at the outer corner of the first pixel.
        left_out: rectangles (y0, y1, x0, x1), first and one past last.
        face: rows and columns of the picture.
    """
    if polygon is None and not left_out:
        return None
    chosen = np.ones(face, bool) if polygon is None else inside_polygon(polygon, face)
    for rectangle in left_out:
        top, bottom, left, right = resolved(rectangle, face)
        chosen[top:bottom, left:right] = False
    if not chosen.any():
        raise InputError("no pixel is left inside the polygon and outside of what is left out; draw them anew.")
    return chosen


def inside_polygon(polygon: Corners, face: tuple[int, int]) -> np.ndarray:
    """Pixels (y, x) whose centre lies inside, by the number of sides that a ray to the right crosses, odd or even."""
    y, x = np.arange(face[0])[:, None] + 0.5, np.arange(face[1])[None, :] + 0.5
    inside = np.zeros(face, bool)
    for (y0, x0), (y1, x1) in zip(polygon, [*polygon[1:], polygon[0]], strict=True):
        if y0 != y1:
            inside ^= ((y0 <= y) != (y1 <= y)) & (x < x0 + (y - y0) * (x1 - x0) / (y1 - y0))
    return inside


def chosen_step(
    polygon: Corners | None, left_out: Listing[Rectangle], chosen: np.ndarray | None, region: Box, said: Step
) -> tuple[Box, Step]:
    """The region cut to what the polygon encloses, and what to say.

    Args:
        polygon: as given.
        left_out: as given.
        chosen: what ``chosen_pixels`` makes of both.
        region: rows and columns (y0, y1, x0, x1) that are used so far.
        said: of it so far.
    """
    if chosen is None:
        return region, said
    top, bottom, left, right = region
    here = chosen[top:bottom, left:right]
    if not here.any():
        raise InputError("the polygon, or what is left out, leaves no pixel of the region; draw them anew.")
    text, values = said.text, dict(said.values)
    if polygon is not None:
        rows, columns = np.flatnonzero(here.any(axis=1)), np.flatnonzero(here.any(axis=0))
        top, bottom = top + int(rows[0]), top + int(rows[-1]) + 1
        left, right = left + int(columns[0]), left + int(columns[-1]) + 1
        text += f" Cut to a polygon of {counted(len(polygon), 'corner')}, "
        text += f"rows {top} to {bottom} and columns {left} to {right}."
        values |= {"rows": [top, bottom], "columns": [left, right], "polygon": [list(corner) for corner in polygon]}
    if left_out:
        text += f" {counted(len(left_out), 'rectangle')} left out."
        values |= {"left out": [list(resolved(one, chosen.shape)) for one in left_out]}
    inside = int(chosen[top:bottom, left:right].sum())
    text += f" {inside} of its {(bottom - top) * (right - left)} pixels count."
    return (top, bottom, left, right), Step(said.name, text, values, said.assumed)


def heats_a_spot(sequence: Sequence) -> bool:
    """Whether the file knows that a narrow flash heated the part unevenly: then heat crosses the sides of any piece of
    it, which as a part of its own would have insulated ones.
    """
    return isinstance(sequence.excitation, GaussianFlash)


def counted_step(
    region: Box, chosen: np.ndarray | None, face: tuple[int, int], said: Step
) -> tuple[Box, np.ndarray | None, Step]:
    """A region as pixels that count, in a part that is not cut: the whole face, the pixels (y, x), and what to say.

    Args:
        region: rows and columns (y0, y1, x0, x1) that are used.
        chosen: what ``chosen_pixels`` made.
        face: rows and columns of the picture.
        said: of the region so far.
    """
    whole = (0, face[0], 0, face[1])
    if region == whole:
        return whole, chosen, said
    inside = np.zeros(face, bool)
    inside[region[0] : region[1], region[2] : region[3]] = True
    counts = inside if chosen is None else inside & chosen
    text = f"{said.text} {WHOLE_STAYS.capitalize()}"
    return whole, counts, Step(said.name, text, said.values, said.assumed)
