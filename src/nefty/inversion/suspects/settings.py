"""Which facts are suspected: the section ``suspects`` of a recipe."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from nefty.core.configuration import Part
from nefty.inversion.number_kinds import Count, Fraction, Positive


class SuspectSettings(Part):
    """Which stated fact, if it were a little different, would explain what sound places leave.

    asked: whether that is asked, of recipes whose background is layered or constant.
    error_rate: probability that noise alone names a fact.
    most: share of what is left beyond noise that a fact must explain to be named.
    as_good: facts that leave at most so many times what the best of them leaves are named with it.
    beside: thicknesses around what was found that do not count.
    steps: of Gauss-Newton, at most. settled: largest step of a logarithm, or of a fact as a share of it, that is not
        worth another. step: of a fact, as a share of it, by which its derivative is taken. largest_step: of a fact.
    """

    asked: bool = True
    error_rate: Annotated[float, Field(gt=0, lt=1)] = 1e-4
    most: Fraction = 0.5
    as_good: Annotated[float, Field(ge=1)] = 2.0
    steps: Count = 8
    settled: Positive = 2e-4
    step: Positive = 0.01
    largest_step: Positive = 0.3
    beside: Positive = 0.5
