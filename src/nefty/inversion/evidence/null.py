"""From false calls to a threshold: how often sound parts stand out by how much.

Measured on sound parts of the test bed (kind ``sound``; edges, cold surroundings and uneven heating included). A lower
threshold also lets more be fitted, so each was tried by itself: so many regions were called when the whole search was
run with it (decisions 024 to 030).

    threshold  4.96  4.70  4.50  4.40  4.35  4.33  4.20  4.05  3.96  3.90  3.76  3.61
    parts       431    70    70    60    70    60   100    70    60    70    90    60
    regions      21     6     8     5    11     6    28    25    35    45    87    79

A Poisson law whose rate falls exponentially explains all twelve (deviance 9.9 for 10 degrees of freedom):

    rate = exp(-(threshold - 3.72) / 0.3726)

It is followed from ``SOME`` calls per part on. At the default rate it lies 0.12 below the threshold that was measured
by itself, on 431 parts; between the two is a straight line in the logarithm of the rate. Fewer calls than the default's
fall like the largest of many looks, exp(-score/SCALE).
"""

from __future__ import annotations

from math import log

PLACE, SCALE = 2.8, 0.72
FEW, SOME = 0.05, 0.2  # false calls per part, where the slope changes
BETWEEN, BEYOND = 0.4594, 0.3726  # by how much the threshold falls while the false calls grow by a factor of e


def threshold(false_calls: float) -> float:
    """Score that so many regions of a sound part exceed, on average."""
    few, some, many = min(false_calls, FEW), min(max(false_calls, FEW), SOME), max(false_calls, SOME)
    return PLACE - SCALE * log(few) - BETWEEN * log(some / FEW) - BEYOND * log(many / SOME)
