"""From false calls to a threshold."""

import numpy as np
import pytest

from nefty.inversion.evidence.null import KNEE, MANY, SCALE, threshold


def test_fewer_false_calls_need_more_evidence():
    scores = [threshold(calls) for calls in np.geomspace(1e-3, 10, 30)]
    assert (np.diff(scores) < 0).all()
    assert 2 < threshold(1.0) < threshold(0.05) < 8


def test_a_tenth_of_them_costs_the_same_step_on_either_side_of_the_knee():
    assert threshold(KNEE / 100) - threshold(KNEE / 10) == pytest.approx(threshold(KNEE / 10) - threshold(KNEE))
    assert threshold(KNEE / 10) - threshold(KNEE) == pytest.approx(SCALE * np.log(10))
    assert threshold(KNEE) - threshold(10 * KNEE) == pytest.approx(MANY * np.log(10))


@pytest.mark.parametrize(("score", "calls"), [(3.8, 0.63), (4.0, 0.44), (4.2, 0.26), (4.4, 0.20), (5.0, 0.05)])
def test_it_follows_what_sound_parts_showed(score, calls):
    assert threshold(calls) == pytest.approx(score, abs=0.25)
