"""What the frames themselves show, before anything is called an indication: regions and how clearly each stands out.

A region's score is what its matched filter gives over the scatter that the same filter has at other places of this very
recording, with all other regions explained. The threshold follows from the number of false calls per sound part that
the user accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.core.errors import InputError
from nefty.result.limits import Limits

#: Insulation R/(R + z/alpha) from which on a region was taken for a hole in files of version 0.2.0 and before.
OPEN_BEFORE = 0.9
#: Share of a region's insulation at which its edge lies.
EDGE = 0.5
#: Share of the threshold from which on a region that is not called counts as just missed.
NEARLY = 0.7
#: Thresholds from which on something is beyond doubt.
CLEAR = 2.0


@dataclass(frozen=True)
class RegionEvidence:
    """One region; lengths and times in the units of the recording.

    Args:
        score: standard deviations by which it stands out.
        depth: of its middle, of the sheet that fits; NaN where the volume tells it.
        resistance: R of its middle, the integral of 1/alpha - 1/alpha_background over its thickness, time/length.
        insulation: R/(R + z/alpha) of its middle, 0 to 1.
        open_to_back: whether a hole explains the frames better than a film or a gap with sound material below it.
    """

    score: float
    depth: float = float("nan")
    resistance: float = float("nan")
    insulation: float = float("nan")
    open_to_back: bool = False


@dataclass(frozen=True, eq=False)
class FrameEvidence:
    """Regions that the frames may show, and which of them are called.

    Args:
        labels: number of the region, from 1, of each pixel (y, x), or of each cell (z, y, x) of a volume; 0 for none.
        regions: in the order of their numbers.
        threshold: score from which on a region is called.
        false_calls: expected number of false calls in a sound part at that threshold.
        score_map: the largest score of any template at each pixel, (y, x), nothing explained.
        coldest: the largest score of the sign that no defect has; in a part that is understood it is as small as the
            threshold.
        limits: what would have been seen; ``None`` if that was not worked out.
        spreads: factor by which heat spreads faster along y and x than stated, by the edges of what was found.
        insulation: of the sheets at each pixel, (y, x): a pixel that a region covers in part has less than its middle;
            ``None`` where no sheets were fitted.
    """

    labels: np.ndarray
    regions: tuple[RegionEvidence, ...]
    threshold: float
    false_calls: float
    score_map: np.ndarray
    coldest: float
    limits: Limits | None = None
    spreads: tuple[float, float] = (1.0, 1.0)
    insulation: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.labels.max(initial=0) > len(self.regions):
            raise InputError(
                f"labels name {self.labels.max()} regions, of which only {len(self.regions)} are described."
            )

    @property
    def called(self) -> tuple[int, ...]:
        """Numbers of the regions that stand out enough, the clearest first."""
        names = [n for n, region in enumerate(self.regions, 1) if region.score >= self.threshold]
        return tuple(sorted(names, key=lambda n: -self.regions[n - 1].score))

    @property
    def missed(self) -> tuple[int, ...]:
        """Numbers of the regions that do not, the clearest first."""
        names = [n for n, region in enumerate(self.regions, 1) if region.score < self.threshold]
        return tuple(sorted(names, key=lambda n: -self.regions[n - 1].score))

    @property
    def unresolved(self) -> tuple[int, int] | None:
        """Pixel (y, x) where something stands out beyond doubt while nothing at all is called; ``None`` otherwise.

        Then what is there was not resolved into regions: it is too wide for the frame, or unlike a defect.
        """
        if self.called or not self.of_sheets or self.score_map.max(initial=0.0) < CLEAR * self.threshold:
            return None
        row, column = np.unravel_index(int(self.score_map.argmax()), self.score_map.shape)
        return int(row), int(column)

    @property
    def just_missed(self) -> tuple[int, ...]:
        """Numbers of the regions that nearly do, the clearest first."""
        return tuple(n for n in self.missed if self.regions[n - 1].score >= NEARLY * self.threshold)

    def footprint(self, number: int) -> np.ndarray:
        """Pixels (y, x) of a region."""
        own = self.labels == number
        return own if self.of_sheets else np.asarray(own.any(axis=0))

    def finer_footprint(self, number: int, finer: int) -> np.ndarray:
        """The same on pixels of which ``finer`` make one along each side, (finer y, finer x).

        An edge lies where the insulation, linear between the middles of pixels, is half of the region's own.

        Args:
            number: of the region.
            finer: at least 1.
        """
        own, blocks = self.footprint(number), np.ones((finer, finer), dtype=bool)
        if finer == 1 or self.insulation is None:
            return np.kron(own, blocks).astype(bool)
        around = np.asarray(ndimage.binary_dilation(own, np.ones((3, 3))), dtype=bool)
        around &= np.isin(self.labels, (0, number))
        padded = np.pad(self.insulation, 1, mode="edge")
        values = np.asarray(ndimage.zoom(padded, finer, order=1, mode="nearest", grid_mode=True))
        inside = values[finer:-finer, finer:-finer] > EDGE * self.regions[number - 1].insulation
        return np.asarray(np.kron(around, blocks), dtype=bool) & inside

    @property
    def of_sheets(self) -> bool:
        """Whether its regions are sheets under pixels, and not regions of a volume's cells."""
        return self.labels.ndim == 2

    def scaled(self, factor: float) -> FrameEvidence:
        """The same with lengths in another unit, of which ``factor`` make one of the present."""
        regions = [replace(r, depth=factor * r.depth, resistance=r.resistance / factor) for r in self.regions]
        limits = None if self.limits is None else self.limits.scaled(factor)
        return replace(self, regions=tuple(regions), limits=limits)

    def record(self) -> dict[str, Any]:
        """As plain values and arrays."""
        names = ("score", "depth", "resistance", "insulation")
        columns = {name: np.array([getattr(r, name) for r in self.regions], dtype=np.float64) for name in names}
        return {
            "labels": np.asarray(self.labels, dtype=np.int32),
            **columns,
            "open_to_back": np.array([r.open_to_back for r in self.regions], dtype=bool),
            "threshold": self.threshold,
            "false_calls": self.false_calls,
            "score_map": np.asarray(self.score_map, dtype=np.float32),
            "coldest": self.coldest,
            "limits": None if self.limits is None else self.limits.record(),
            "spreads": np.array(self.spreads),
            "insulation_map": None if self.insulation is None else np.asarray(self.insulation, dtype=np.float32),
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> FrameEvidence:
        """What ``record`` was taken of."""
        names = ("score", "depth", "resistance", "insulation")
        spreads = record.get("spreads", (1.0, 1.0))
        columns = [np.atleast_1d(record[name]) for name in names]
        columns.append(np.atleast_1d(record.get("open_to_back", columns[-1] > OPEN_BEFORE)))
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return FrameEvidence(
            labels=np.asarray(record["labels"]),
            regions=tuple(RegionEvidence(*row) for row in rows),
            threshold=float(record["threshold"]),
            false_calls=float(record["false_calls"]),
            score_map=np.asarray(record["score_map"], dtype=np.float64),
            coldest=float(record["coldest"]),
            spreads=(float(spreads[0]), float(spreads[1])),
            insulation=None if (own := record.get("insulation_map")) is None else np.asarray(own, dtype=np.float64),
            limits=None if (limits := record.get("limits")) is None else Limits.from_record(limits),
        )
