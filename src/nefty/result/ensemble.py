"""How sure a result is of itself: what refits with other noise and other facts say together.

The spread of an ensemble has no stated level. Intervals that hold are those of ``indications.intervals``; the ensemble
says which indications of one result are surer than others, and where in the part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nefty.core.errors import InputError

COLUMNS = ("depth", "diameter", "resistance")


@dataclass(frozen=True)
class RegionSpread:
    """Standard deviations over the members, NaN where fewer than two have the region.

    Args:
        depth: to the top, in the grid's unit.
        diameter: of the disc with the same area.
        resistance: as a share of it: of the logarithm of R.
        present: share of the members that have it.
    """

    depth: float
    diameter: float
    resistance: float
    present: float


@dataclass(frozen=True, eq=False)
class Ensemble:
    """What members say together; lengths and times in the units of the recording.

    Args:
        asked: how many members were to be made; fewer are there if they were interrupted.
        failed: of them, whose facts the recording cannot have.
        probability: that a cell is anomalous, 0 to 1, (z, y, x).
        spread: standard deviation of ln alpha, (z, y, x).
        depth: to the top of each indication in each member, (member, indication); NaN where a member lacks it.
        diameter: the same.
        resistance: R, the integral of 1/alpha - 1/alpha_background, time/length; the same.
        volume: of all that is anomalous, of each member, (member,).
    """

    asked: int
    probability: np.ndarray
    spread: np.ndarray
    depth: np.ndarray
    diameter: np.ndarray
    resistance: np.ndarray
    volume: np.ndarray
    failed: int = 0

    def __post_init__(self) -> None:
        if self.probability.shape != self.spread.shape:
            raise InputError(f"probability {self.probability.shape} and spread {self.spread.shape} differ in shape.")
        if not (self.probability.min() >= 0 and self.probability.max() <= 1):
            raise InputError(
                f"probability={self.probability.min():g}..{self.probability.max():g} must lie between 0 and 1."
            )
        for array in (self.probability, self.spread):
            array.setflags(write=False)

    @property
    def members(self) -> int:
        """How many there are."""
        return len(self.volume)

    @property
    def whole(self) -> bool:
        """Whether all are there that were asked for."""
        return self.members + self.failed >= self.asked

    def of(self, label: int) -> RegionSpread:
        """Spreads of the indication with that label, from 1."""
        if not 1 <= label <= self.depth.shape[1]:
            raise InputError(f"the ensemble has {self.depth.shape[1]} indications, none has the label {label}.")
        depth, diameter, resistance = (getattr(self, name)[:, label - 1] for name in COLUMNS)
        with np.errstate(invalid="ignore", divide="ignore"):
            logarithm = np.log(np.where(resistance > 0, resistance, np.nan))
        return RegionSpread(_std(depth), _std(diameter), _std(logarithm), float(np.isfinite(depth).mean()))

    def scaled(self, factor: float) -> Ensemble:
        """The same with lengths in another unit, of which ``factor`` make one of the present."""
        return replace(
            self,
            depth=factor * self.depth,
            diameter=factor * self.diameter,
            resistance=self.resistance / factor,
            volume=factor**3 * self.volume,
        )

    def record(self) -> dict[str, Any]:
        """As plain values and arrays."""
        return vars(self).copy()

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Ensemble:
        """What ``record`` was taken of."""
        columns = {name: np.asarray(record[name], dtype=np.float64) for name in (*COLUMNS, "volume")}
        volumes = {name: np.asarray(record[name], dtype=np.float32) for name in ("probability", "spread")}
        return Ensemble(asked=int(record["asked"]), failed=int(record["failed"]), **volumes, **columns)


def _std(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else float("nan")
