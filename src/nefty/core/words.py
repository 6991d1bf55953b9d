"""Numbers as text: digits that mean something, units behind them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

SPACE = "\u00a0"  # where no line breaks
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def quantity(value: float, unit: str, *, digits: int = 3) -> str:
    """``"0.437 mm"``, kept on one line; the number alone without a unit."""
    return f"{value:.{digits}g}{SPACE}{unit}".rstrip(SPACE)


def decimals(step: float) -> int:
    """Decimals that show a tenth of ``step``, the smallest difference that matters; never negative."""
    return max(0, math.ceil(-math.log10(step / 10) - 1e-9)) if step > 0 else 0


def counted(number: int, noun: str) -> str:
    """``"three defects"``, ``"12 defects"``, ``"one defect"``."""
    word = NUMBERS[number] if number < len(NUMBERS) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"


def times(*factors: object) -> str:
    """``"10 × 10 × 1 mm"``, kept on one line."""
    return f"{SPACE}×{SPACE}".join(map(str, factors))


def span(low: float, high: float, unit: str) -> str:
    """``"0.1 to 0.2 mm"``; one number where they agree to three digits."""
    if f"{low:.3g}" == f"{high:.3g}":
        return quantity(low, unit)
    return f"{low:.3g} to {quantity(high, unit)}"


def duration(seconds: float) -> str:
    """``"85 ms"``, ``"12.3 s"``, ``"4 min 10 s"``, ``"2 h 5 min"``."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def outlined(values: Any) -> str:
    """Nested mappings and lists as indented text, a line for each value."""
    return "\n".join(_lines(values))


def _lines(values: Any) -> list[str]:
    if isinstance(values, Mapping):
        items = [(f"{key}:", value) for key, value in values.items()]
    else:
        items = [("-", value) for value in values]
    lines = []
    for head, value in items:
        if _is_nested(value):
            lines += [head, *(f"  {line}" for line in _lines(value))]
        else:
            lines.append(f"{head} {json.dumps(value, ensure_ascii=False, default=_plain)}")
    return lines


def _is_nested(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, (list, tuple)) and any(isinstance(v, (Mapping, list, tuple)) for v in value)


def _plain(value: Any) -> Any:
    """What JSON does not know: arrays by their shape if they are long, else by their values; the rest as text."""
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= 16 else f"array of shape {value.shape}"
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
