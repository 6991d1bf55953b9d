"""What a part was calibrated to: all that a closer look at a piece of it takes over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class CalibratedPart:
    """The sound part of a recording, and how the camera saw it; always in the units of the recording itself.

    Args:
        alpha: diffusivity through the thickness.
        along: diffusivity along y and x over that.
        h_front: heat loss of the front over rho c, length/time.
        h_back: of the back.
        margin: how far beyond the frames the part was heated; infinite if its surroundings are not felt.
        delay: by how much later than stated the heat came.
        amplitude: the rise that the heat leaves in the part.
        times: of all frames after the pulse, (t,).
        common: what all pixels have in common besides the physics, c(t), (t,).
        level: temperature of a typical sound pixel, (t,).
        first: time of the first frame that the model explains at all.
        clear: time of the first frame that it explains as well as later ones.
        spreads: standard deviations of diffusivity, both losses, margin and delay, (5,); NaN for what was not fitted.
        converged: whether the fit came to rest.
    """

    alpha: float
    along: tuple[float, float]
    h_front: float
    h_back: float
    margin: float
    delay: float
    amplitude: float
    times: np.ndarray
    common: np.ndarray
    level: np.ndarray
    first: float
    clear: float
    spreads: np.ndarray
    converged: bool = True

    def record(self) -> dict[str, Any]:
        """As plain values and arrays."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**values, "along": np.array(self.along)}

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> CalibratedPart:
        """What ``record`` was taken of."""
        arrays = ("times", "common", "level", "spreads")
        y, x = np.asarray(record["along"]).tolist()
        values: dict[str, Any] = {"along": (y, x), "converged": bool(record["converged"])}
        for name in (field.name for field in fields(CalibratedPart) if field.name not in values):
            values[name] = np.asarray(record[name]) if name in arrays else float(record[name])
        return CalibratedPart(**values)
