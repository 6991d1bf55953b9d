"""Intervals that hold: how far depth, size, place and resistance of an indication are off, as measured.

Factors were measured where the truth is known: those of ``real`` on parts of the test bed (``nefty bench run coverage
--write``), those of ``fast`` on the paper's kind of specimen (``coverage-specimens``). For each quantity they are the
range of true/found that holds 90 % of the defects, by split conformal prediction, so that for a new defect of the same
kind of part the interval covers the truth with at least that probability. They are grouped by how wide an indication is
over its depth, since narrow ones are blurred most. They hold for the recipe and the code that they were measured with,
and those of specimens without units only for such; for others there are none, and the reason is said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from typing import Any

from nefty.result.indications.indication import Indication

#: Probability with which an interval holds the truth.
LEVEL = 0.9
FILE = "factors.json"
ROUNDING = 1e-9  # of sums of weights


@dataclass(frozen=True)
class Group:
    """Factors of indications that are about as wide over their depth.

    Args:
        up_to: diameter over depth of the widest of them; infinite for the last group.
        defects: that they were measured on.
        depth: true over found, least and most.
        diameter: the same.
        resistance: the same.
        offset: distance of the centres over the diameter found, at most.
    """

    up_to: float
    defects: int
    depth: tuple[float, float]
    diameter: tuple[float, float]
    resistance: tuple[float, float]
    offset: float


@dataclass(frozen=True)
class Factors:
    """All groups, and what they hold for.

    Args:
        recipe: its name.
        code: hash of the code that finds indications.
        made: command, seeds and date, in words.
        parts: that they were measured on.
        groups: by rising width.
        unitless: whether these were specimens without units, whose facts are definitions; else parts whose users are
            as wrong about them as users are.
    """

    recipe: str
    code: str
    made: str
    parts: int
    groups: tuple[Group, ...]
    unitless: bool = False

    def group(self, aspect: float) -> Group:
        """That of an indication with this diameter over depth."""
        return next((group for group in self.groups if aspect <= group.up_to), self.groups[-1])

    def intervals(self, one: Indication) -> Intervals:
        """Of an indication."""
        group = self.group(one.diameter / one.depth_to_top if one.depth_to_top > 0 else math.inf)
        depth, diameter, resistance = (
            (value * low, value * high)
            for value, (low, high) in (
                (one.depth_to_top, group.depth),
                (one.diameter, group.diameter),
                (one.resistance, group.resistance),
            )
        )
        if not all(map(math.isfinite, group.resistance)):  # too few were measured
            resistance = (math.nan, math.nan)
        return Intervals(depth, diameter, resistance, group.offset * one.diameter)

    @property
    def measured_on(self) -> str:
        """What they were measured on, in words."""
        kind = "specimens without units" if self.unitless else "parts of other physics"
        return f"{self.parts} simulated {kind} ({self.made})"


@dataclass(frozen=True)
class Intervals:
    """What holds the truth with 90 % probability, each for itself; NaN for what is not known.

    Args:
        depth: to the top, least and most.
        diameter: of the disc with the same area.
        resistance: in the unit of ``Indication.resistance``.
        offset: distance from the true centre, at most.
    """

    depth: tuple[float, float]
    diameter: tuple[float, float]
    resistance: tuple[float, float]
    offset: float


@cache
def stored_factors() -> dict[str, Factors]:
    """Those that come with nefty, by recipe."""
    file = resources.files("nefty.result.indications") / FILE
    return factors_from_json(file.read_text(encoding="utf-8")) if file.is_file() else {}


def factors_to_json(factors: Mapping[str, Factors]) -> str:
    """Factors by recipe as text."""
    return json.dumps({recipe: asdict(one) for recipe, one in sorted(factors.items())}, indent=1) + "\n"


def factors_from_json(text: str) -> dict[str, Factors]:
    """From the text of ``factors_to_json``."""
    values: dict[str, dict[str, Any]] = json.loads(text)
    return {
        recipe: Factors(**{**one, "groups": tuple(_group(group) for group in one["groups"])})
        for recipe, one in values.items()
    }


def factors_for(provenance: Mapping[str, Any], *, unitless: bool) -> tuple[Factors | None, str]:
    """Factors that hold for a result, or why there are none.

    Args:
        provenance: of the result.
        unitless: whether its lengths have no unit.
    """
    stored, recipe = stored_factors(), provenance.get("recipe")
    known = stored.get(str(recipe))
    if not stored:
        return None, "No intervals were measured."
    if known is None:
        return None, f"Intervals were measured for the recipe {' and '.join(stored)}, not for {recipe}."
    if provenance.get("code of indications") != known.code:
        return None, "Intervals were measured with another version, or other settings, of what finds indications."
    if known.unitless and not unitless:
        return None, f"Intervals of {recipe} were measured on specimens without units; for parts in metres use real."
    return known, f"Intervals: measured on {known.measured_on}."


def conformal(values: Sequence[float], weights: Sequence[float], level: float = LEVEL) -> tuple[float, float]:
    """The range that holds a new value with that probability, both tails alike, by weighted split conformal prediction.

    The new value counts like the heaviest of the known ones, and may lie anywhere: with few values the range is
    infinite.

    Args:
        values: known ones.
        weights: of each.
        level: the probability.
    """
    pairs = sorted(zip(values, weights, strict=True))
    tail, new = (1 - level) / 2 + ROUNDING, max(weights, default=1.0)
    total, low, high = sum(weights) + new, float("-inf"), float("inf")
    below = 0.0
    for value, weight in pairs:
        below += weight
        if below <= tail * total:
            low = value
    above = 0.0
    for value, weight in reversed(pairs):
        above += weight
        if above <= tail * total:
            high = value
    return low, high


def _group(values: Mapping[str, Any]) -> Group:
    pairs = {name: tuple(values[name]) for name in ("depth", "diameter", "resistance")}
    return Group(**{**values, **pairs})
