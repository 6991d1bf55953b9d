"""Facts that would explain what a reconstruction leaves, if they were a little different."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nefty.core.checks import one_of
from nefty.core.words import quantity
from nefty.data.facts import Units

#: Kinds of facts.
QUANTITIES = ("length", "time", "temperature", "speed", "ratio")
#: What has the unit of length in it, to the first power.
LENGTHS = ("length", "speed")


@dataclass(frozen=True)
class SuspectFact:
    """A stated fact that is suspected to be wrong.

    Args:
        name: in words, such as "depth of the flash".
        stated: its value, as it was stated or assumed.
        moved: the value that would explain the recording better, to first order.
        gain: by how much chi^2, the sum of squares of what sound places leave over the noise, would fall.
        quantity: what kind of number it is, one of ``QUANTITIES``.
    """

    name: str
    stated: float
    moved: float
    gain: float
    quantity: str = "ratio"

    def __post_init__(self) -> None:
        one_of("quantity", self.quantity, QUANTITIES)

    def scaled(self, factor: float) -> SuspectFact:
        """The same with lengths in another unit, of which ``factor`` make one of the present."""
        if self.quantity not in LENGTHS:
            return self
        return replace(self, stated=factor * self.stated, moved=factor * self.moved)

    def words(self, units: Units) -> str:
        """``"a depth of the flash of 0.196 instead of 0.2 (2 % less)"``.

        Args:
            units: of the recording.
        """
        unit = _unit(self.quantity, units)
        article = "an" if self.name[0] in "aeiou" else "a"
        size = f"{article} {self.name} of {quantity(self.moved, unit)} instead of {quantity(self.stated, unit)}"
        if self.stated == 0:
            return size
        change = self.moved / self.stated - 1
        return f"{size} ({100 * abs(change):.2g} % {'more' if change > 0 else 'less'})"


def _unit(kind: str, units: Units) -> str:
    if kind == "speed":
        return f"{units.length}/{units.time}" if units.length and units.time else ""
    return {"length": units.length, "time": units.time, "temperature": units.temperature, "ratio": ""}[kind]


def suspects_record(suspects: Iterable[SuspectFact]) -> dict[str, Any] | None:
    """As plain values and arrays; ``None`` if there are none."""
    suspects = tuple(suspects)
    if not suspects:
        return None
    return {
        "name": [fact.name for fact in suspects],
        "quantity": [fact.quantity for fact in suspects],
        **{key: np.array([getattr(fact, key) for fact in suspects]) for key in ("stated", "moved", "gain")},
    }


def read_suspects(record: Mapping[str, Any] | None) -> tuple[SuspectFact, ...]:
    """What ``suspects_record`` was taken of; none of files that know none."""
    if record is None:
        return ()
    columns = (record[key] for key in ("name", "stated", "moved", "gain", "quantity"))
    rows = zip(*columns, strict=True)
    return tuple(SuspectFact(str(name), float(s), float(m), float(g), str(q)) for name, s, m, g, q in rows)
