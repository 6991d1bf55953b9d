"""From false calls to a threshold."""

import re

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2

from nefty.inversion.evidence import null
from nefty.inversion.evidence.null import BETWEEN, BEYOND, FEW, SCALE, SOME, threshold


def test_fewer_false_calls_need_more_evidence():
    scores = [threshold(calls) for calls in np.geomspace(1e-3, 10, 30)]
    assert (np.diff(scores) < 0).all()
    assert 2 < threshold(1.0) < threshold(0.05) < 8


def test_a_tenth_of_them_costs_the_same_step_within_each_stretch():
    assert threshold(FEW / 100) - threshold(FEW / 10) == pytest.approx(threshold(FEW / 10) - threshold(FEW))
    assert threshold(FEW / 10) - threshold(FEW) == pytest.approx(SCALE * np.log(10))
    assert threshold(FEW) - threshold(2 * FEW) == pytest.approx(BETWEEN * np.log(2))
    assert threshold(SOME) - threshold(10 * SOME) == pytest.approx(BEYOND * np.log(10))


#: Threshold, parts, and regions that were called in them: the table in ``null``.
TRIED = (
    *((4.96, 431, 21), (4.70, 70, 6), (4.50, 70, 8), (4.40, 60, 5), (4.35, 70, 11), (4.33, 60, 6), (4.20, 100, 28)),
    *((4.05, 70, 25), (3.96, 60, 35), (3.90, 70, 45), (3.76, 90, 87), (3.61, 60, 79)),
)


def test_it_follows_what_sound_parts_showed():
    """The counts scatter around the stated rates as counts do: a deviance that chance exceeds once in twenty times."""
    deviance = 0.0
    for score, parts, called in TRIED:
        rate = float(np.asarray(brentq(lambda calls, at=score: threshold(calls) - at, 1e-3, 10)))
        expected = parts * rate
        deviance += 2 * (called * np.log(called / expected) - (called - expected))
    assert deviance < chi2.ppf(0.95, len(TRIED))


def test_the_table_is_the_one_that_the_module_shows():
    rows = re.findall(r"^ +(?:threshold|parts|regions) +([\d. ]+)$", null.__doc__ or "", re.MULTILINE)
    said = [tuple(map(float, row)) for row in zip(*(row.split() for row in rows), strict=True)]
    assert said == [tuple(map(float, row)) for row in TRIED]
