"""Where the part is in the picture: what was heated, against a background that was not."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from nefty.data.facts import Step
from nefty.data.sequence import bounds

Box = tuple[int, int, int, int]
BACKGROUND = 0.3  # of the part's rise: what warms more is no background
FEWEST = 0.03  # the share of the picture that must be background
SMALLEST_PART = 0.05  # the share that must be part
MARGIN = 2  # pixels inside the outline that are left out, where it is blurred


def region_step(choice: Any, rise: np.ndarray) -> tuple[Box, Box | None, Step]:
    """The rows and columns (y0, y1, x0, x1) that are used, those that the part's outline suggests, and what to say.

    Args:
        choice: ``Preparation.roi``.
        rise: of the pixels soon after the flash, (y, x).
    """
    ny, nx = rise.shape
    suggested = find_outline(rise)
    if choice == "auto" and suggested is None:
        text = "No background that stayed cold was found, so the whole picture is used."
        return (0, ny, 0, nx), None, Step("region", text, {"rows": [0, ny], "columns": [0, nx]}, assumed=True)
    if choice == "off":
        text = "The whole picture."
        if suggested is not None:
            text += " The part seems to lie within rows {} to {} and columns {} to {}.".format(*suggested)
        return (0, ny, 0, nx), suggested, Step("region", text, {"rows": [0, ny], "columns": [0, nx]})
    region = resolved(suggested if choice == "auto" else choice, (ny, nx))
    top, bottom, left, right = region
    how = "inside the outline of what was heated" if choice == "auto" else "as given"
    text = f"Rows {top} to {bottom} of {ny} and columns {left} to {right} of {nx}, {how}."
    return region, suggested, Step("region", text, {"rows": [top, bottom], "columns": [left, right]})


def resolved(region: tuple | None, face: tuple[int, int]) -> Box:
    """A region with None for the ends and negative numbers from the end, checked and from 0."""
    top, bottom, left, right = region or (None,) * 4
    return (*bounds("rows", slice(top, bottom), face[0]), *bounds("columns", slice(left, right), face[1]))


def find_outline(rise: np.ndarray) -> Box | None:
    """The rectangle (y0, y1, x0, x1) inside the outline of the part; None if it fills the picture.

    Pixels beside the part that stay within the picture, of any outline, are found by the calibration of a real part.

    Args:
        rise: of the pixels soon after the flash, (y, x); NaN where there is none.
    """
    from skimage.filters import threshold_otsu

    here = np.isfinite(rise)
    if np.count_nonzero(here) < 64:
        return None
    values = np.clip(rise, *np.percentile(rise[here], [1, 99]))
    if not np.ptp(values[here]) > 0:
        return None
    hot = here & (values > threshold_otsu(values[here]))
    part, rest = float(np.median(values[hot])), values[here & ~hot]
    if part <= 0 or not rest.size or np.median(rest) > BACKGROUND * part or rest.size < FEWEST * here.sum():
        return None
    labelled: Any = ndimage.label(ndimage.binary_fill_holes(hot))
    places, count = labelled
    largest = places == 1 + int(np.argmax(ndimage.sum_labels(hot, places, range(1, count + 1))))
    rows, columns = np.flatnonzero(largest.mean(axis=1) > 0), np.flatnonzero(largest.mean(axis=0) > 0)
    top, bottom, left, right = _inside(largest, rows[0], rows[-1] + 1, columns[0], columns[-1] + 1)
    if (bottom - top) * (right - left) < SMALLEST_PART * rise.size:
        return None
    return top, bottom, left, right


def _inside(part: np.ndarray, top: int, bottom: int, left: int, right: int) -> Box:
    """The box made smaller from the side with most background, until nearly all of its edge is part; then a margin."""
    while bottom - top > 2 * MARGIN + 1 and right - left > 2 * MARGIN + 1:
        box = part[top:bottom, left:right]
        sides = [box[0].mean(), box[-1].mean(), box[:, 0].mean(), box[:, -1].mean()]
        worst = int(np.argmin(sides))
        if sides[worst] >= 0.95:
            break
        top, bottom = top + (worst == 0), bottom - (worst == 1)
        left, right = left + (worst == 2), right - (worst == 3)
    ny, nx = part.shape
    return (
        int(top + MARGIN * (top > 0)),
        int(bottom - MARGIN * (bottom < ny)),
        int(left + MARGIN * (left > 0)),
        int(right - MARGIN * (right < nx)),
    )
