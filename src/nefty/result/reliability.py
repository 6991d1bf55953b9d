"""Stated against observed: a table that turns the raw probability of an ensemble into one that was counted.

An ensemble's share of members is sure or unsure in its own way. ``nefty bench run reliability`` counts how often cells
of a stated probability are anomalous. Where a table of that comes with the package, it holds for the recipe and the
code that it was measured with, like the factors of intervals; without one the raw probability stays.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from nefty.core.errors import InputError

FILE = "reliability.json"


@dataclass(frozen=True)
class Reliability:
    """What was observed at each stated probability, linear in between.

    Args:
        recipe: its name.
        code: hash of the code that finds indications.
        made: command, seeds and date, in words.
        stated: rising, from 0 to 1.
        observed: never falling, 0 to 1.
    """

    recipe: str
    code: str
    made: str
    stated: tuple[float, ...]
    observed: tuple[float, ...]

    def __post_init__(self) -> None:
        stated, observed = np.asarray(self.stated), np.asarray(self.observed)
        if len(stated) != len(observed) or len(stated) < 2 or stated[0] != 0 or stated[-1] != 1:
            raise InputError(f"stated={self.stated} and observed={self.observed} must be as long, stated from 0 to 1.")
        if (np.diff(stated) <= 0).any() or (np.diff(observed) < 0).any() or observed.min() < 0 or observed.max() > 1:
            raise InputError(
                f"observed={self.observed} must not fall, and lie between 0 and 1; sort stated={self.stated}."
            )

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """The probability that was observed where ``raw`` is stated."""
        return np.interp(raw, self.stated, self.observed).astype(raw.dtype)

    def to_json(self) -> str:
        """As text."""
        return json.dumps(vars(self), indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Reliability:
        """From the text of ``to_json``."""
        values: dict[str, Any] = json.loads(text)
        return Reliability(**{**values, "stated": tuple(values["stated"]), "observed": tuple(values["observed"])})


@cache
def stored_reliability() -> Reliability | None:
    """The table that comes with nefty; ``None`` if there is none."""
    file = resources.files("nefty.result") / FILE
    return Reliability.from_json(file.read_text(encoding="utf-8")) if file.is_file() else None


def reliability_for(provenance: Mapping[str, Any]) -> Reliability | None:
    """The table that holds for a result with this provenance; ``None`` if there is none."""
    known = stored_reliability()
    if known is None or provenance.get("recipe") != known.recipe:
        return None
    return known if provenance.get("code of indications") == known.code else None
