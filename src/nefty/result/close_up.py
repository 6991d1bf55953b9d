"""Of what a result is a closer look."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nefty.core.words import quantity


@dataclass(frozen=True)
class CloseUp:
    """One indication of an overview, solved again in smaller cells.

    Args:
        indication: its number there, from 1.
        run: name of the overview's folder; empty if it has none.
        joined: camera pixels along each side of a cell of the overview.
        depth: to its top, as the overview has it, in the unit of the overview's grid.
        diameter: of the disc of its area, as the overview has it.
    """

    indication: int
    run: str = ""
    joined: int = 1
    depth: float = float("nan")
    diameter: float = float("nan")

    def scaled(self, factor: float) -> CloseUp:
        """The same with lengths in another unit, of which ``factor`` make one of the present."""
        return replace(self, depth=factor * self.depth, diameter=factor * self.diameter)

    def sentence(self, unit: str) -> str:
        """What the report says first of it; ``unit`` is the word for that of its lengths."""
        of = f"the run {self.run}" if self.run else "an overview"
        there = (
            f"{self.joined} x {self.joined} camera pixels were one cell" if self.joined > 1 else "cells were as small"
        )
        return (
            f"A close-up of indication {self.indication} of {of}, in the camera's own pixels and with what that run "
            f"calibrated. There {there}, and it was {quantity(self.depth, unit)} deep, with the area of a disc of "
            f"{quantity(self.diameter, unit)}."
        )
