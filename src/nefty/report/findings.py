"""What a report shows of a reconstruction: its defects, those of the truth, and which belongs to which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.ndimage import distance_transform_edt
from scipy.optimize import linear_sum_assignment

from nefty.report.page import Table
from nefty.report.style import Units
from nefty.report.words import decimals
from nefty.result.defects import DefectFinding
from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True, eq=False)
class Findings:
    """A reconstruction with everything that the figures need, each computed once."""

    rec: Reconstruction

    @cached_property
    def defects(self) -> list[DefectFinding]:
        """The defects that were found."""
        return self.rec.defects()

    @cached_property
    def mask(self) -> np.ndarray:
        """Cells that are defect, (z, y, x)."""
        return np.asarray(self.rec.segmentation().mask)

    @cached_property
    def footprint(self) -> np.ndarray:
        """Pixels with a defect under them, (y, x)."""
        return np.asarray(self.mask.any(axis=0))

    @cached_property
    def ratio(self) -> np.ndarray:
        """Diffusivity over that of the sound part at the same depth, (z, y, x)."""
        return self.rec.alpha / self.rec.background[:, None, None]

    @cached_property
    def truth(self) -> Findings | None:
        """The same of the true part, found by the same rule; ``None`` if it is not known on this grid."""
        true = self.rec.truth
        if true is None or true.shape != self.rec.grid.shape:
            return None
        true = np.asarray(true, dtype=np.float64)
        return Findings(replace(self.rec, alpha=true, background=np.percentile(true, 90, axis=(1, 2)), truth=None))

    @cached_property
    def pairs(self) -> list[tuple[DefectFinding | None, DefectFinding | None]]:
        """Found and true defects that belong together; ``None`` where one has no counterpart."""
        true = self.truth.defects if self.truth is not None else []
        return paired(self.defects, true)

    @cached_property
    def faces(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Name, measured and fitted frames (t, y, x) of each recorded face."""
        if self.rec.measured.ndim == 3:
            return [("the recorded face", self.rec.measured, self.rec.fitted)]
        return [
            (name, *frames) for name, *frames in zip(("front", "back"), self.rec.measured, self.rec.fitted, strict=True)
        ]

    @cached_property
    def points(self) -> list[tuple[str, tuple[int, int]]]:
        """Pixels (y, x) to compare decays at: over the largest defects, and one over sound material."""
        seen = np.asarray(np.isfinite(self.rec.measured).any(axis=tuple(range(self.rec.measured.ndim - 2))))
        spacing = self.rec.grid.spacing[1:]
        found = [
            (f"defect {d.label}", _nearest(seen, *(int(c / s) for c, s in zip(d.centre[1:], spacing, strict=True))))
            for d in self.defects[:5]
        ]
        sound = self._sound_pixel(seen)
        return [*found, ("sound material", sound)] if sound is not None else found

    def _sound_pixel(self, seen: np.ndarray) -> tuple[int, int] | None:
        """A well heated pixel far from every defect: the best product of first warmth and distance."""
        warmth = np.nan_to_num(np.abs(self.rec.fitted.reshape(-1, *self.rec.fitted.shape[-3:])[0, 0]))
        distance = distance_transform_edt(~self.footprint) if self.footprint.any() else np.ones(warmth.shape)
        merit = np.where(seen, warmth * np.asarray(distance), 0.0)
        if not merit.max() > 0:
            return None
        y, x = np.unravel_index(int(merit.argmax()), merit.shape)
        return int(y), int(x)


def paired(
    found: list[DefectFinding], true: list[DefectFinding]
) -> list[tuple[DefectFinding | None, DefectFinding | None]]:
    """Match defects by the lateral distance of their centres; centres further apart than their sizes do not match."""
    cost = np.array([[_distance(a, b) for b in true] for a in found]).reshape(len(found), len(true))
    reach = np.array([[(a.diameter + b.diameter) / 2 for b in true] for a in found]).reshape(cost.shape)
    partner = {int(i): int(j) for i, j in zip(*linear_sum_assignment(np.minimum(cost, 1e6 * reach + 1)), strict=True)}
    partner = {i: j for i, j in partner.items() if cost[i, j] <= reach[i, j]}
    pairs: list[tuple[DefectFinding | None, DefectFinding | None]] = [
        (defect, true[partner[i]] if i in partner else None) for i, defect in enumerate(found)
    ]
    return pairs + [(None, defect) for j, defect in enumerate(true) if j not in partner.values()]


def defect_table(
    pairs: list[tuple[DefectFinding | None, DefectFinding | None]],
    spacing: tuple[float, float, float],
    units: Units,
    *,
    truth: bool,
) -> Table:
    """One row per defect, the true one below it in a quieter voice.

    Args:
        pairs: found and true defects.
        spacing: of the cells along (z, y, x); a length shows a tenth of it.
        units: words for the columns.
        truth: whether the truth is known, so that a defect without counterpart is worth a word.
    """
    length = f" ({units.length})" if units.length else ""
    volume = f" ({units.length}³)" if units.length else ""
    columns = ("", f"centre x, y{length}", f"size x × y{length}", f"depth to top{length}", f"depth to centre{length}")
    columns += (f"thickness{length}", "contrast", f"volume{volume}")
    deep, wide = decimals(spacing[0]), decimals(min(spacing[1:]))
    rows: list[tuple[str, ...]] = []
    quiet: list[int] = []
    for found, true in pairs:
        if found is not None:
            lone = ", not in the truth" if truth and true is None else ""
            rows.append(_row(f"{found.label}{lone}", found, deep, wide))
        if true is not None:
            quiet.append(len(rows))
            rows.append(_row("truth" if found is not None else "truth, missed", true, deep, wide))
    return Table(columns, rows, quiet)


def _row(name: str, defect: DefectFinding, deep: int, wide: int) -> tuple[str, ...]:
    _, y, x = defect.centre
    back = ", to the back face" if defect.reaches_back else ""
    return (
        name,
        f"{x:.{wide}f}, {y:.{wide}f}",
        f"{defect.size_x:.{wide}f} × {defect.size_y:.{wide}f}",
        f"{defect.depth_to_top:.{deep}f}",
        f"{defect.depth_to_centre:.{deep}f}",
        f"{defect.thickness:.{deep}f}{back}",
        f"{100 * defect.contrast:.0f} %",
        f"{defect.volume:.3g}",
    )


def _distance(a: DefectFinding, b: DefectFinding) -> float:
    return float(np.hypot(a.centre[1] - b.centre[1], a.centre[2] - b.centre[2]))


def _nearest(seen: np.ndarray, y: int, x: int) -> tuple[int, int]:
    """The pixel that counts and is nearest to (y, x)."""
    if not seen.any():
        return min(y, seen.shape[0] - 1), min(x, seen.shape[1] - 1)
    places = np.argwhere(seen)
    v, u = places[np.square(places - [y, x]).sum(axis=1).argmin()]
    return int(v), int(u)
