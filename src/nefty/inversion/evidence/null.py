"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on 100 sound parts of the test bed (seeds 5000 to 5099, kind ``sound``; edges, cold surroundings and uneven
heating included), of which so many places stand out per part:

    score   3.4   3.6   3.8   4.0   4.2   4.5   5.0   5.5
    places  1.76  0.95  0.59  0.37  0.20  0.06  0.03  0.01

They fall like exp(-(score - PLACE)/SCALE), as the largest of many looks does.
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 3.6, 0.41


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    return PLACE - SCALE * log(false_calls)
