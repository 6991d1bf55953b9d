"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on sound parts of the test bed (kind ``sound``; edges, cold surroundings and uneven heating included). A lower
threshold also lets more be fitted, so each was tried by itself: so many regions per part were called when the whole
search was run with it. Decision 030, but for the first, which is of decisions 024 to 030:

    threshold  4.96  4.40  4.33  3.96  3.76  3.61
    parts      401   60    60    60    60    60
    regions    0.05  0.08  0.10  0.58  0.95  1.32

The thresholds of ``FEW``, ``SOME`` and one call per part are read off that, those between and beyond by straight lines
in the logarithm of the rate. Fewer than ``FEW`` fall like the largest of many looks, exp(-score/SCALE).
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 2.8, 0.72
FEW, SOME = 0.05, 0.2  # false calls per part, where the slope changes
BETWEEN, BEYOND = 0.546, 0.273  # by how much the threshold falls while the false calls grow by a factor of e


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    few, some, many = min(false_calls, FEW), min(max(false_calls, FEW), SOME), max(false_calls, SOME)
    return PLACE - SCALE * log(few) - BETWEEN * log(some / FEW) - BEYOND * log(many / SOME)
