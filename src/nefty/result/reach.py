"""Which depths the frames can tell about."""

from __future__ import annotations

from dataclasses import dataclass


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
