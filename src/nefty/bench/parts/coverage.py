"""How often intervals hold the truth on parts of the test bed or on specimens, and the factors that make them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.result.indications.intervals import Factors, Group, conformal

GROUPS = 3  # at most, by the width over the depth that was found, with as many defects each
QUANTITIES = ("depth", "diameter", "resistance", "offset")


@dataclass(frozen=True)
class Pair:
    """A visible defect and what an indication said of it.

    Args:
        weight: 1 over the visible defects of its part that were found, since those of one part are not independent.
        aspect: diameter over depth, as found.
        depth: true over found.
        diameter: the same.
        resistance: the same; NaN of holes, and where no resistance was found.
        offset: distance of the centres over the diameter found.
        kind: of the defect.
        visibility: of the defect; infinite where it was not reckoned.
    """

    weight: float
    aspect: float
    depth: float
    diameter: float
    resistance: float
    offset: float
    kind: str
    visibility: float


def pairs_of(parts: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Of the facts of judged parts (``nefty.bench.parts.score.trial_facts``); maps without a scale say no diameter."""
    found = []
    for facts in parts:
        found_ones = (d for d in facts["defects"] if d["visible"] and d["found"])
        own = [d for d in found_ones if d["found_depth"] is not None and d["pixel"] is not None]
        for d in own:
            known = d["resistance"] is not None and d["found_resistance"] is not None
            found.append(
                Pair(
                    weight=1 / len(own),
                    aspect=_over(d["found_diameter"] * d["pixel"], d["found_depth"]),
                    depth=_over(d["depth"], d["found_depth"]),
                    diameter=d["diameter"] / d["found_diameter"],
                    resistance=_over(d["resistance"], d["found_resistance"]) if known else math.nan,
                    offset=d["offset"] / d["found_diameter"],
                    kind=d["kind"],
                    visibility=math.inf if d["visibility"] is None else d["visibility"],
                )
            )
    return found


def fitted_factors(
    pairs: Sequence[Pair], *, recipe: str, code: str, made: str, parts: int, unitless: bool = False
) -> Factors:
    """Factors by split conformal prediction, in groups of as many defects each: as many as have ends.

    Args:
        pairs: defects and what was said of them.
        recipe: that was used.
        code: hash of the code that finds indications.
        made: command, seeds and date.
        parts: how many.
        unitless: whether they have no units.
    """
    found = (_groups(pairs, number) for number in range(GROUPS, 0, -1))
    known = next((groups for groups in found if all(_ends(group) for group in groups)), _groups(pairs, 1))
    return Factors(recipe, code, made, parts, known, unitless)


def held_out(parts: Sequence[Sequence[Pair]]) -> list[Factors | None]:
    """For each part the factors of all others, to be tried on it; ``None`` where no other has a defect.

    Args:
        parts: the defects of each part.
    """
    others = [[pair for j, part in enumerate(parts) if j != i for pair in part] for i in range(len(parts))]
    return [fitted_factors(own, recipe="", code="", made="", parts=len(parts) - 1) if own else None for own in others]


def _groups(pairs: Sequence[Pair], number: int) -> tuple[Group, ...]:
    edges = [*np.quantile([p.aspect for p in pairs], np.arange(1, number) / number).tolist(), math.inf]
    groups, last = [], -math.inf
    for edge in edges:
        own = [p for p in pairs if last < p.aspect <= edge]
        groups.append(
            Group(
                up_to=edge,
                defects=len(own),
                depth=_range(own, "depth"),
                diameter=_range(own, "diameter"),
                resistance=_range(own, "resistance"),
                offset=_most(own),
            )
        )
        last = edge
    return tuple(groups)


def _ends(group: Group) -> bool:
    """Whether depth, diameter and place have intervals that end; those of resistance need not."""
    return bool(np.isfinite([*group.depth, *group.diameter, group.offset]).all())


def covered(pair: Pair, factors: Factors, quantity: str) -> bool | None:
    """Whether the interval of a quantity holds the truth; ``None`` if the quantity is not known."""
    value, group = getattr(pair, quantity), factors.group(pair.aspect)
    if math.isnan(value):
        return None
    if quantity == "offset":
        return value <= group.offset
    low, high = getattr(group, quantity)
    return low <= value <= high


def width(pair: Pair, factors: Factors, quantity: str) -> float:
    """Of the interval of a quantity over the value found."""
    group = factors.group(pair.aspect)
    if quantity == "offset":
        return group.offset
    low, high = getattr(group, quantity)
    return high - low


def oracle(pairs: Sequence[Pair], quantity: str) -> float:
    """Width of the interval of one who knows how the errors of these very defects are distributed: between the 5th and
    the 95th percentile of true/found, or up to the 90th of the distance of centres; NaN without any.
    """
    errors = [getattr(pair, quantity) for pair in pairs]
    if not errors:
        return math.nan
    low, most, high = np.percentile(errors, (5, 90, 95))
    return float(most if quantity == "offset" else high - low)


def _over(true: float, found: float) -> float:
    return true / found if found > 0 else math.inf


def _range(own: Sequence[Pair], quantity: str) -> tuple[float, float]:
    known = [p for p in own if math.isfinite(getattr(p, quantity))]
    return conformal([getattr(p, quantity) for p in known], [p.weight for p in known])


def _most(own: Sequence[Pair]) -> float:
    """Distance that 90 % stay within: one tail only."""
    return conformal([p.offset for p in own], [p.weight for p in own], level=0.8)[1]
