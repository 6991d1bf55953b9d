"""From false calls to a threshold."""

import numpy as np
import pytest

from nefty.inversion.evidence.null import SCALE, threshold


def test_fewer_false_calls_need_more_evidence():
    scores = [threshold(calls) for calls in np.geomspace(1e-3, 10, 30)]
    assert (np.diff(scores) < 0).all()
    assert 2 < threshold(1.0) < threshold(0.05) < 8


def test_a_tenth_of_them_costs_the_same_step_everywhere():
    assert threshold(0.01) - threshold(0.1) == pytest.approx(threshold(0.1) - threshold(1.0))
    assert threshold(0.1) - threshold(1.0) == pytest.approx(SCALE * np.log(10))
