"""What figures of quantities over time share: a place's curve, and a logarithmic axis.

Time is logarithmic, because heat needs the square of a depth to get there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.errors import InputError


@dataclass(frozen=True, eq=False)
class Curve:
    """One place on the surface over time.

    Args:
        label: which place.
        measured: values at the times of the figure, drawn as dots; None for none.
        fitted: the model's values at the same times, drawn as a line; None for none.
    """

    label: str
    measured: np.ndarray | None
    fitted: np.ndarray | None = None


def log_ticks(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> list[float]:
    """The numbers ``steps`` times powers of ten between ``low`` and ``high``; the ends if there are none."""
    if not 0 < low < high:
        raise InputError(f"a logarithmic axis needs 0 < low < high, got {low:g} and {high:g}.")
    decades = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [m * 10.0**d for d in decades for m in steps]
    return [round(t, 12) for t in ticks if low <= t <= high] or [low, high]


def log_axis(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> dict[str, Any]:
    """Settings of a logarithmic axis from ``low`` to ``high`` with ticks at ``log_ticks``."""
    ticks = log_ticks(low, high, steps)
    return {
        "type": "log",
        "range": [np.log10(low), np.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }
