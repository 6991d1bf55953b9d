"""Which facts of the user the calibration moved, and by how much, in plain words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nefty.core.words import quantity
from nefty.data.facts import CalibratedValue

#: Standard deviations of a fact from which on a move is told, and beyond which the recording contradicts it.
TOLD, CONTRADICTED = 1.0, 2.5


@dataclass(frozen=True)
class MovedFact:
    """A fact that the recording would have otherwise.

    Args:
        name: of the fact.
        widths: standard deviations of the fact by which it was moved.
        text: ``"diffusivity through the thickness 12 % above what was stated"``.
    """

    name: str
    widths: float
    text: str

    @property
    def contradicted(self) -> bool:
        """Whether it was moved farther than a user errs."""
        return self.widths > CONTRADICTED


def moved_facts(calibration: Iterable[CalibratedValue]) -> list[MovedFact]:
    """The facts that were moved by more than their width, the farthest first."""
    moved = [MovedFact(row.name, widths, _words(row)) for row in calibration if (widths := _widths(row)) > TOLD]
    return sorted(moved, key=lambda fact: -fact.widths)


def _widths(row: CalibratedValue) -> float:
    """By how many standard deviations of the fact; 0 where nothing was stated."""
    return 0.0 if row.start is None or not row.width else abs(row.value - row.start) / row.width


def _words(row: CalibratedValue) -> str:
    start = row.start or 0.0
    if start == 0:
        more = "more" if row.value > 0 else "less"
        return f"{row.name} {quantity(abs(row.value), row.unit)} {more} than was stated"
    change = row.value / start - 1
    if change > 1:
        return f"{row.name} {1 + change:.2g} times what was stated"
    return f"{row.name} {100 * abs(change):.2g} % {'above' if change > 0 else 'below'} what was stated"
