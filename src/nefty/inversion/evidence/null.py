"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on 100 sound parts of the test bed (seeds 5000 to 5099, kind ``sound``; edges, cold surroundings and uneven
heating included), of which so many regions per part reach a score, all that stands out explained and judged as in a
real run:

    score    2.6   3.0   3.4   3.8   4.0   4.2   4.5   5.0   5.5   6.0
    regions  0.96  0.68  0.46  0.25  0.20  0.14  0.09  0.05  0.03  0.02

They fall like exp(-(score - PLACE)/SCALE), as the largest of many looks does.
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 2.8, 0.72


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    return PLACE - SCALE * log(false_calls)
