"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on sound parts of the test bed (kind ``sound``; edges, cold surroundings and uneven heating included): so many
regions per part reach a score, all that stands out explained and judged as in a real run. Below a score of 5 on 54
parts (seeds 3809808 to 3809861, decision 029), run with the threshold of one call per part; from there on 100 (seeds
5000 to 5099, decision 018), which later parts have borne out since:

    score    3.8   4.0   4.2   4.4  |  5.0   5.5   6.0
    regions  0.63  0.44  0.26  0.20 |  0.05  0.03  0.02

They fall like exp(-score/MANY) down to KNEE, and like exp(-score/SCALE) from there, as the largest of many looks does.
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 2.8, 0.72
KNEE, MANY = 0.2, 0.125


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    few, many = min(false_calls, KNEE), max(false_calls, KNEE)
    return PLACE - SCALE * log(few) - MANY * log(many / KNEE)
