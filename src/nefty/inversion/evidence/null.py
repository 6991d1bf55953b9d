"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on sound parts of the test bed; the number of regions per part that stand out by more than s falls like
exp(-(s - PLACE)/SCALE), as the largest of many looks does.
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 3.85, 0.44


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    return PLACE - SCALE * log(false_calls)
