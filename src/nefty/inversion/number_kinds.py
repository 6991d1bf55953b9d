"""Kinds of numbers that a recipe holds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=1)]
