"""Which depths the frames show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nefty.result.indications.indication import Indication


@dataclass(frozen=True)
class Reach:
    """From which depth to which a recording shows what is there; lengths in the grid's unit.

    What lies shallower was crossed by the heat before the first clear frame; from what lies deeper no heat came back
    before the last one: an echo from the depth z shows at t = z^2/(pi alpha), where the second derivative of ln T by
    ln t of an adiabatic slab has its peak.

    Args:
        shallowest: depth above which nothing is said.
        deepest: depth below which nothing is said.
    """

    shallowest: float
    deepest: float

    def has_at_rim(self, found: Indication, cell: float) -> bool:
        """Whether an indication begins within a cell of where the inspected depths begin, or reaches where they end.

        Args:
            found: the indication.
            cell: edge length of a cell along z.
        """
        above = self.shallowest > 0 and found.depth_to_top < self.shallowest + cell
        bottom = found.depth_to_top + (found.thickness if math.isfinite(found.thickness) else 0.0)
        return above or (not found.reaches_back and bottom > self.deepest - cell / 2)
