"""The units that people read: millimetres where the grid is in metres. Inside, nothing is ever converted.

| quantity | in the grid's units | shown |
|---|---|---|
| length, area, volume | m, m2, m3 | mm, mm², mm³ |
| diffusivity | m2/s | mm²/s |
| resistance | m2K/W, of a grid in metres | the same |
| time, temperature | as they are | as they are |

A grid in another unit, or in none, is shown as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nefty.core.grid import Grid
from nefty.data.facts import Units
from nefty.result.reach import Reach

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: Millimetres per metre.
MILLI = 1e3
#: What the word for a unit may hold besides letters and digits, and how long it may be.
SIGNS, LONGEST = " °%/.·*^_-'", 24


@dataclass(frozen=True)
class Shown:
    """How numbers of one quantity are shown.

    Args:
        factor: number shown over number held.
        word: of the unit; empty if it is not known.
    """

    factor: float
    word: str

    def __call__(self, value: Any) -> Any:
        """The number, or array, that is shown."""
        return self.factor * value

    @property
    def plain(self) -> str:
        """The word without raised digits, for files: ``"mm2/s"``."""
        return self.word.replace("²", "2").replace("³", "3")


@dataclass(frozen=True)
class DisplayUnits:
    """Factor and word of every quantity."""

    length: Shown
    area: Shown
    volume: Shown
    time: Shown
    temperature: Shown
    diffusivity: Shown
    resistance: Shown


def display_units(units: Units) -> DisplayUnits:
    """What the units of a recording or a reconstruction ask for; words that a file made up are cleaned."""
    time, metres = unit_word(units.time), units.in_metres
    length, factor = ("mm", MILLI) if metres else (unit_word(units.length), 1.0)
    derived = f"{length}²/{time}" if length and time else ""
    return DisplayUnits(
        length=Shown(factor, length),
        area=Shown(factor**2, length and f"{length}²"),
        volume=Shown(factor**3, length and f"{length}³"),
        time=Shown(1.0, time),
        temperature=Shown(1.0, unit_word(units.temperature)),
        diffusivity=Shown(factor**2, derived if metres else unit_word(units.diffusivity) or derived),
        resistance=Shown(1.0, "m²K/W" if units.metres is not None else ""),
    )


def unit_word(given: Any) -> str:
    """The word for a unit that a file states, fit for tables and pages: short, and nothing but letters, digits and
    the signs of units; so it parts no columns and starts no formula.
    """
    word = "".join(letter for letter in str(given or "") if letter.isalnum() or letter in SIGNS)
    return " ".join(word.split()).lstrip("-")[:LONGEST]


def in_display_units(rec: Reconstruction) -> Reconstruction:
    """The same reconstruction with its grid and diffusivities in the units that are shown.

    Its units say so; all its other facts, such as the places of known holes, stay as they were.
    """
    units = display_units(rec.facts.units)
    if units.length.factor == 1:
        return rec
    z, y, x = (units.length(s) for s in rec.grid.size)
    own = rec.own_view
    words = replace(rec.facts.units, length=units.length.word, diffusivity=units.diffusivity.word)
    return replace(
        rec,
        grid=Grid(rec.grid.shape, (z, y, x)),
        alpha=units.diffusivity(rec.alpha),
        background=units.diffusivity(rec.background),
        truth=None if rec.truth is None else units.diffusivity(rec.truth),
        bulk=None if rec.bulk is None else units.diffusivity(rec.bulk),
        reach=None if rec.reach is None else Reach(*map(units.length, (rec.reach.shallowest, rec.reach.deepest))),
        own_view=None if own is None else replace(own, depth=units.length(own.depth)),
        frame_evidence=None if rec.frame_evidence is None else rec.frame_evidence.scaled(units.length.factor),
        suspects=tuple(fact.scaled(units.length.factor) for fact in rec.suspects),
        close_up=None if rec.close_up is None else rec.close_up.scaled(units.length.factor),
        ensemble=None if rec.ensemble is None else rec.ensemble.scaled(units.length.factor),
        facts=rec.facts.replaced(units=words),
    )
