"""What of a part was not inspected and why, and whether the recording was long enough for the depth that matters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nefty.data.facts import NoteKind

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: Steps of the preparation that leave pixels out, and kinds of notes that say so.
STEPS = ("region", "dead pixels", "saturation")
NOTES = (NoteKind.LEFT_OUT, NoteKind.REGION)


@dataclass(frozen=True)
class NotInspected:
    """Pixels of the frames that do not count.

    Args:
        share: of the pixels that were reconstructed, 0 to 1.
        area: of them, in the square of the grid's unit.
        why: sentences; what the inspector recorded comes first.
    """

    share: float
    area: float
    why: tuple[str, ...]


@dataclass(frozen=True)
class DepthOfInterest:
    """Whether heat came back from as deep as the part matters before the recording ended.

    Args:
        depth: down to which the part matters, in the grid's unit.
        recorded: whether somebody said so; else it is the thickness.
        shallowest: depth above which nothing is said.
        deepest: depth below which nothing is said.
        needed: time after the flash at which an echo from ``depth`` shows, z^2/(pi alpha), in the unit of the times.
        ends: time of the last frame.
    """

    depth: float
    recorded: bool
    shallowest: float
    deepest: float
    needed: float
    ends: float

    @property
    def long_enough(self) -> bool:
        """Whether the recording ended late enough."""
        return self.needed <= self.ends * (1 + 1e-9)


def not_inspected(rec: Reconstruction) -> NotInspected:
    """What was left out of what was reconstructed, and why."""
    said = rec.facts.record.not_inspected if rec.facts.record is not None else ""
    steps = [step.sentence for step in rec.facts.steps if step.name in STEPS]
    notes = [note.text for note in rec.facts.notes if note.kind in NOTES and note.text not in steps]
    share = 1 - rec.inspected_pixels
    _, height, width = rec.grid.size
    return NotInspected(share, share * height * width, tuple(text for text in (said, *steps, *notes) if text))


def depth_of_interest(rec: Reconstruction) -> DepthOfInterest | None:
    """``None`` where the unit of lengths is not known."""
    metres = rec.facts.units.metres
    if metres is None:
        return None
    interest = None if rec.facts.record is None else rec.facts.record.interest
    thickness = rec.grid.size[0]
    depth = thickness if interest is None else interest / metres
    alpha = rec.bulk if rec.bulk is not None else float(np.exp(np.mean(np.log(rec.background))))
    ends = float(rec.times[-1])
    reached = min(thickness, math.sqrt(math.pi * alpha * ends))
    return DepthOfInterest(
        depth=depth,
        recorded=interest is not None,
        shallowest=0.0 if rec.reach is None else rec.reach.shallowest,
        deepest=reached if rec.reach is None else rec.reach.deepest,
        needed=depth**2 / (math.pi * alpha),
        ends=ends,
    )
