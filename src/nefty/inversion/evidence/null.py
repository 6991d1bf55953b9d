"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on 94 sound parts of the test bed (seeds 5000 to 5099, kind ``sound``; edges, cold surroundings and uneven
heating included), of which so many regions per part reach a score, all that stands out explained and judged as in a
real run:

    score    3.0   3.2   3.4   3.6   3.8   4.0   4.2   4.5   5.0   5.5
    regions  1.92  1.16  0.71  0.42  0.20  0.17  0.14  0.08  0.02  0.00

They fall like exp(-(score - PLACE)/SCALE), as the largest of many looks does.
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 3.3, 0.47


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    return PLACE - SCALE * log(false_calls)
