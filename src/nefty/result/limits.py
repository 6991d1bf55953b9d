"""What would have been seen: the smallest defect at each depth that this recording shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

#: Probability with which a defect of the stated size is found.
PROBABILITY = 0.9


@dataclass(frozen=True, eq=False)
class Limits:
    """The smallest diameters of round defects that are found with 90 % probability; lengths in the recording's unit.

    Args:
        names: of the defects that are spoken of, such as "an air gap of 50 um".
        depths: (depth,).
        diameters: at a typical place of the frame, (name, depth); NaN where none that fits the frame is found.
        maps: at every place, (name, depth, y, x); NaN where nothing is found or looked at.
        largest: diameter of the largest defect that was asked about.
    """

    names: tuple[str, ...]
    depths: np.ndarray
    diameters: np.ndarray
    maps: np.ndarray
    largest: float

    def scaled(self, factor: float) -> Limits:
        """The same with lengths in another unit, of which ``factor`` make one of the present."""
        return replace(
            self,
            depths=factor * self.depths,
            diameters=factor * self.diameters,
            maps=factor * self.maps,
            largest=factor * self.largest,
        )

    def smallest(self, name: str, depth: float) -> float:
        """The smallest diameter of a defect with that name at a depth, between those of ``depths``; NaN if none."""
        own = self.diameters[self.names.index(name)]
        return float(np.interp(depth, self.depths, own, left=np.nan, right=np.nan))

    def sentence(self, unit: str) -> str:
        """In words, of the first of ``names``."""
        own, unit = self.diameters[0], f" {unit}" if unit else ""
        pairs = list(zip(self.depths, own, strict=True))
        seen = [f"{d:.2g}{unit} at {z:.2g}{unit} depth" for z, d in pairs if not np.isnan(d)]
        blind = [f"{z:.2g}{unit}" for z, d in pairs if np.isnan(d)]
        if not seen:
            return (
                f"What would have been seen: {self.names[0]} up to {self.largest:.2g}{unit} wide would not have been "
                "found at any depth with 90 % probability. The recording cannot clear the part."
            )
        last = f"; at {' and '.join(blind)} none up to {self.largest:.2g}{unit}" if blind else ""
        return (
            f"What would have been seen: {self.names[0]} is found with 90 % probability from a diameter of "
            f"{', '.join(seen)} on{last}. Smaller ones may be there."
        )

    def record(self) -> dict[str, Any]:
        """As plain values and arrays."""
        return {
            "names": list(self.names),
            "depths": self.depths,
            "diameters": self.diameters,
            "maps": self.maps.astype(np.float32),
            "largest": self.largest,
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Limits:
        """What ``record`` was taken of."""
        return Limits(
            names=tuple(str(name) for name in record["names"]),
            depths=np.asarray(record["depths"], dtype=np.float64),
            diameters=np.asarray(record["diameters"], dtype=np.float64),
            maps=np.asarray(record["maps"], dtype=np.float64),
            largest=float(record["largest"]),
        )
