"""How numbers are written in tables. ``None`` is a dash."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

DASH = "-"


def _or_dash(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: DASH if value is None else write(value)


@_or_dash
def seconds(value: float) -> str:
    """``"0.021"``, ``"1.43"``, ``"26.4"``: three figures."""
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


@_or_dash
def spread(values: list[float]) -> str:
    """``"0.46 ±0.02"``: the median of some seconds, and half of their range."""
    if not values:
        return DASH
    middle = seconds(median(values))
    return middle if len(values) == 1 else f"{middle} ±{(max(values) - min(values)) / 2:.1g}"


@_or_dash
def size(value: float) -> str:
    """``"21.9 MiB"``, ``"5.1 GiB"``."""
    if value < 1000 * 2**20:
        return f"{value / 2**20:.3g} MiB"
    return f"{value / 2**30:.3g} GiB"


@_or_dash
def short(value: float) -> str:
    """Three figures, with an exponent where needed: ``"2.1e-05"``."""
    return f"{value:.3g}"


@_or_dash
def error(value: float) -> str:
    """``"2.6e-01"``, always with an exponent, so that columns compare."""
    return f"{value:.1e}"


@_or_dash
def whole(value: float) -> str:
    """``"65,536"``."""
    return f"{value:,.0f}"


@_or_dash
def times(value: float) -> str:
    """``"12.3 x"``."""
    return f"{value:.3g} x"


@_or_dash
def text(value: object) -> str:
    """The value as it is."""
    return str(value)
