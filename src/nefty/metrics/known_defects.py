"""The defects that a part is known to have: from its true volume, its drilled holes, a mask, or a table."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Hole
from nefty.metrics.csv_columns import number_in, read_columns
from nefty.result.display_units import display_units
from nefty.result.frame_pixels import frame_pixels
from nefty.result.indications.components import label
from nefty.result.indications.indication import find_indications
from nefty.result.indications.segmentation import segment
from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class KnownDefect:
    """A defect that is there; lengths in the grid's unit.

    Args:
        centre: (z, y, x), z the depth of its top; NaN if that is not known.
        diameter: of the disc with the same area: its size in a POD.
        footprint: its pixels, (y, x).
    """

    centre: tuple[float, float, float]
    diameter: float
    footprint: np.ndarray

    @property
    def depth(self) -> float:
        """Of its top."""
        return self.centre[0]


def known_defects(rec: Reconstruction) -> list[KnownDefect]:
    """What a reconstruction knows: the true volume, else the holes, else the mask of ``facts.defects``."""
    if rec.truth is not None:
        return _of_volume(rec, np.asarray(rec.truth, dtype=np.float64))
    known = rec.facts.defects
    if known is not None and known.holes is not None:
        return holes_as_defects(rec, known.holes)
    if known is not None and known.mask is not None:
        return _of_mask(rec, known.mask)
    raise InputError(
        "this result does not know its defects; give them as a table, or with the recording: "
        "Sequence(facts=nefty.Facts(defects=nefty.KnownDefects(holes=... or mask=...)))."
    )


def holes_as_defects(rec: Reconstruction, holes: Iterable[Hole]) -> list[KnownDefect]:
    """Holes as known defects; those beyond what was reconstructed are left out."""
    pixels, (_, height, width) = frame_pixels(rec.grid, rec.facts.window), rec.grid.size
    found = []
    for hole in holes:
        y, x = pixels.place(*hole.centre)
        if not (0 <= y <= height and 0 <= x <= width):
            continue
        round_one = hole.kind == "round"
        area = hole.width[0] * hole.width[1] * (math.pi / 4 if round_one else 1.0)
        footprint = _covered(rec.grid, (y, x), hole.width, round_one=round_one)
        found.append(KnownDefect((hole.depth, y, x), math.sqrt(4 * area / math.pi), footprint))
    return found


def listed_defects(path: str | os.PathLike[str], rec: Reconstruction, run: str = "") -> list[KnownDefect]:
    """Round defects from a CSV table with the columns ``x``, ``y``, ``size``, in the unit that is shown (mm).

    Places count from the corner of the frames as they were read. ``depth`` may be given too; where there is a column
    ``run``, only its rows with this run's name count.

    Args:
        path: the table.
        rec: the reconstruction.
        run: its name.
    """
    path, length = Path(path), display_units(rec.facts.units).length
    rows, columns, unit = read_columns(path)
    if missing := [name for name in ("x", "y", "size") if name not in columns]:
        raise InputError(f"{path} has no column {missing[0]}; a table of known defects needs x, y and size.")
    if unit and unit != length.word:
        raise InputError(f"{path} is in {unit!r}, the run {run} in {length.word!r}; convert the table.")
    holes = []
    for line, row in rows:
        if "run" in row and row["run"] != run:
            continue
        x, y, size = (number_in(path, line, name, row[name]) / length.factor for name in ("x", "y", "size"))
        depth = number_in(path, line, "depth", row.get("depth", ""), empty=math.nan) / length.factor
        holes.append(Hole("round", (y, x), (size, size), depth))
    return holes_as_defects(rec, holes)


def _covered(grid: Grid, centre: tuple[float, float], width: tuple[float, float], *, round_one: bool) -> np.ndarray:
    """Pixels whose centre lies over a hole, at least the nearest one."""
    (_, y, x), (_, dy, dx) = grid.centres(), grid.spacing
    v, u = ((p[0] - c) / (w / 2) for p, c, w in zip((y, x), centre, width, strict=True))
    inside = v**2 + u**2 <= 1 if round_one else np.maximum(np.abs(v), np.abs(u)) <= 1
    row, column = min(int(centre[0] / dy), grid.shape[1] - 1), min(int(centre[1] / dx), grid.shape[2] - 1)
    inside = np.array(inside)
    inside[row, column] = True
    return inside


def _of_volume(rec: Reconstruction, truth: np.ndarray) -> list[KnownDefect]:
    background = np.percentile(truth, 90, axis=(1, 2))
    found = segment(truth, background, rec.grid, "default", rec.lateral)
    return [
        KnownDefect((d.depth_to_top, *d.centre[1:]), d.diameter, (found.labels == d.label).any(axis=0))
        for d in find_indications(truth, background, rec.grid, found)
    ]


def _of_mask(rec: Reconstruction, mask: np.ndarray) -> list[KnownDefect]:
    if mask.shape != rec.grid.shape[1:]:
        raise InputError(
            f"the mask of known defects has shape {mask.shape}, the pixels are {rec.grid.shape[1:]} (y, x); give them "
            "as a table."
        )
    labels, number = label(mask, periodic=False)
    _, dy, dx = rec.grid.spacing
    found = []
    for name in range(1, number + 1):
        own = labels == name
        row, column = np.argwhere(own).mean(axis=0) + 0.5
        area = float(own.sum()) * dy * dx
        centre = (math.nan, float(row) * dy, float(column) * dx)
        found.append(KnownDefect(centre, math.sqrt(4 * area / math.pi), own))
    return found
