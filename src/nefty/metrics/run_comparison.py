"""Two runs of one part: which indications are new, have grown, or are gone.

Both are laid onto the pixels of their recordings' frames, and moved sideways where at least two indications agree on
how far. What one run did not look at is neither new nor gone, and what lies there has not grown.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from nefty.core.errors import InputError
from nefty.metrics.pairing import paired
from nefty.result.frame_pixels import frame_pixels
from nefty.result.indications.indication import Indication
from nefty.result.reconstruction import Reconstruction

FARTHEST = 0.25  # of the part's shorter side: a larger shift is not looked for
FEWEST = 2  # indications that must agree on a shift


class Change(Enum):
    """What became of an indication."""

    NEW = "new"
    GROWN = "grown"
    SAME = "no change"
    SMALLER = "smaller"
    GONE = "gone"
    NOT_BEFORE = "not inspected before"
    NOT_AFTER = "not inspected after"


@dataclass(frozen=True)
class Compared:
    """One indication in both runs; lengths in the grids' unit.

    Args:
        change: what became of it.
        before: in the first run, or None.
        after: in the second, or None.
        place: its centre (y, x) on the frames of the first run's recording.
        wider: change of the diameter of the disc with its area, as far as both runs looked; NaN where it is in one run
            alone.
        deeper: change of the depth to the top; NaN where it is in one run alone.
        apart: whether the 90 % intervals of its diameters do not overlap, so that each run by itself tells the change;
            None where a run has no intervals.
    """

    change: Change
    before: Indication | None
    after: Indication | None
    place: tuple[float, float]
    wider: float
    deeper: float
    apart: bool | None = None


@dataclass(frozen=True)
class RunComparison:
    """Two runs, laid over each other.

    Args:
        shift: (y, x) by which the second was moved to lie over the first, in the grids' unit.
        agreeing: indications that agree on it; 0 if it was given, or nothing was moved.
        margin: change of a diameter up to which an indication counts as unchanged: a cell at each of its edges.
        rows: indications, those of the first run first.
        cautions: what speaks against comparing them, in words.
    """

    shift: tuple[float, float]
    agreeing: int
    margin: float
    rows: tuple[Compared, ...]
    cautions: tuple[str, ...]

    def counted(self, change: Change) -> int:
        """How many indications changed so."""
        return sum(row.change is change for row in self.rows)


def compare_runs(
    before: Reconstruction, after: Reconstruction, shift: tuple[float, float] | None = None
) -> RunComparison:
    """Lay two runs of one part over each other and pair their indications.

    Args:
        before: the first run.
        after: the second.
        shift: (y, x) by which the second must be moved to lie over the first; found from the indications if not given.

    Raises:
        InputError: one is in metres and the other is not.
    """
    if before.facts.units.in_metres != after.facts.units.in_metres:
        raise InputError(
            "one run is in metres and the other has no unit of length; compare runs that know thickness and pixel."
        )
    first, second = _on_frames(before), _on_frames(after)
    side = min(*before.grid.size[1:], *after.grid.size[1:])
    found, agreeing = ((0.0, 0.0), 0) if shift is not None else find_shift(first, second, FARTHEST * side)
    moved = [_moved(one, shift or found) for one in second]
    margin = 2 * max(*before.grid.spacing[1:], *after.grid.spacing[1:])
    looks = _Look.at(before), _Look.at(after, shift or found)
    rows = tuple(_compared(a, b, *looks, margin) for a, b in paired(first, moved))
    sizes = _diameters(before), _diameters(after)
    rows = tuple(dataclasses.replace(row, apart=_apart(row, *sizes)) for row in rows)
    return RunComparison(shift or found, agreeing, margin, rows, tuple(_cautions(before, after)))


def _diameters(rec: Reconstruction) -> dict[int, tuple[float, float]]:
    """Intervals of the diameters by label, where they were measured for such parts."""
    return {one.label: (one.diameter_low, one.diameter_high) for one in rec.evidence() if np.isfinite(one.diameter_low)}


def _apart(row: Compared, before: dict[int, tuple[float, float]], after: dict[int, tuple[float, float]]) -> bool | None:
    """Whether the intervals of a row's diameters do not overlap."""
    first = before.get(row.before.label) if row.before is not None else None
    second = after.get(row.after.label) if row.after is not None else None
    if first is None or second is None:
        return None
    return first[1] < second[0] or second[1] < first[0]


def find_shift(
    first: Sequence[Indication], second: Sequence[Indication], farthest: float
) -> tuple[tuple[float, float], int]:
    """The shift (y, x) of the second onto the first on which most indications agree, and how many; none below two.

    Args:
        first: in one place.
        second: in another.
        farthest: shift that is looked for.
    """
    ways = [(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]) for a in first for b in second]
    ways = [way for way in ways if float(np.hypot(*way)) <= farthest]
    still = _agreeing(first, second, (0.0, 0.0))
    best = max(ways, key=lambda way: (len(_agreeing(first, second, way)), -float(np.hypot(*way))), default=(0.0, 0.0))
    pairs = _agreeing(first, second, best)
    if len(pairs) < FEWEST or len(pairs) < len(still):
        return (0.0, 0.0), 0
    pairs = still if len(still) == len(pairs) else pairs  # moved as little as can be
    y, x = np.median([(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]) for a, b in pairs], axis=0)
    return (float(y), float(x)), len(pairs)


def _agreeing(
    first: Sequence[Indication], second: Sequence[Indication], way: tuple[float, float]
) -> list[tuple[Indication, Indication]]:
    """Pairs whose centres then lie within a quarter of their diameters."""
    return [
        (a, b)
        for a in first
        for b in second
        if np.hypot(a.centre[1] - b.centre[1] - way[0], a.centre[2] - b.centre[2] - way[1])
        <= (a.diameter + b.diameter) / 4
    ]


def _on_frames(rec: Reconstruction) -> list[Indication]:
    """Its indications with centres in lengths from the corner of the recording's frames."""
    corner = _corner(rec)
    return [_moved(one, corner) for one in rec.indications()]


def _corner(rec: Reconstruction) -> tuple[float, float]:
    """Where the grid begins on the frames, (y, x) in lengths."""
    pixels = frame_pixels(rec.grid, rec.facts.window)
    return pixels.top * pixels.spacing[0], pixels.left * pixels.spacing[1]


def _moved(one: Indication, way: tuple[float, float]) -> Indication:
    z, y, x = one.centre
    return dataclasses.replace(one, centre=(z, y + way[0], x + way[1]))


@dataclass(frozen=True, eq=False)
class _Look:
    """What one run looked at, on the frames of the first run's recording.

    Args:
        corner: where its grid begins, (y, x).
        spacing: of its cells, (y, x).
        seen: cells (y, x) that count.
        labels: number of the indication of each cell, (z, y, x); 0 for none.
    """

    corner: tuple[float, float]
    spacing: tuple[float, float]
    seen: np.ndarray
    labels: np.ndarray

    @staticmethod
    def at(rec: Reconstruction, shift: tuple[float, float] = (0.0, 0.0)) -> _Look:
        """Of a run that is moved by (y, x)."""
        y, x = _corner(rec)
        seen = np.asarray(np.isfinite(rec.measured).any(axis=tuple(range(rec.measured.ndim - 2))))
        _, dy, dx = rec.grid.spacing
        return _Look((y + shift[0], x + shift[1]), (dy, dx), seen, rec.segmentation().labels)

    def saw(self, places: np.ndarray) -> np.ndarray:
        """Which of some places (n, y and x) it looked at."""
        cells = np.floor((places - self.corner) / self.spacing).astype(int)
        inside = np.asarray(((cells >= 0) & (cells < self.seen.shape)).all(axis=1))
        row, column = np.where(inside[:, None], cells, 0).T
        return inside & self.seen[row, column]

    def diameter(self, one: Indication, other: _Look) -> float:
        """Of the disc with the area of an indication, as far as another run looked there, too."""
        cells = np.argwhere((self.labels == one.label).any(axis=0))
        if not len(cells):
            return one.diameter
        shared = other.saw((cells + 0.5) * self.spacing + self.corner)
        return one.diameter * float(np.sqrt(shared.mean()))


def _compared(a: Indication | None, b: Indication | None, before: _Look, after: _Look, margin: float) -> Compared:
    """A pair, named by what became of it."""
    if a is not None and b is not None:
        wider = after.diameter(b, before) - before.diameter(a, after)
        change = Change.GROWN if wider > margin else Change.SMALLER if wider < -margin else Change.SAME
        return Compared(change, a, b, a.centre[1:], wider, b.depth_to_top - a.depth_to_top)
    if a is not None:
        there = after.saw(np.array([a.centre[1:]]))[0]
        return Compared(Change.GONE if there else Change.NOT_AFTER, a, None, a.centre[1:], np.nan, np.nan)
    assert b is not None
    there = before.saw(np.array([b.centre[1:]]))[0]
    return Compared(Change.NEW if there else Change.NOT_BEFORE, None, b, b.centre[1:], np.nan, np.nan)


def _cautions(before: Reconstruction, after: Reconstruction) -> list[str]:
    said = []
    for name, rec in (("first", before), ("second", after)):
        level = rec.verdict().level
        if not level.judges:
            said.append(f"The {name} run claims nothing ({level.value}), so that nothing follows from a comparison.")
    one, other = before.grid.size[0], after.grid.size[0]
    if abs(one - other) > 0.05 * max(one, other):
        said.append(f"The thickness is {one:.4g} in the first run and {other:.4g} in the second: is it the same part?")
    return said
