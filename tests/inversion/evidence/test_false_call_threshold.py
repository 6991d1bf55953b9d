"""From false calls to a threshold."""

import numpy as np
import pytest

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


@pytest.mark.parametrize(("score", "calls"), [(3.61, 1.32), (3.76, 0.95), (3.96, 0.58), (4.36, 0.09), (4.96, 0.05)])
def test_it_follows_what_sound_parts_showed(score, calls):
    """Within the scatter of the counts: 11 regions in 120 parts tell a rate to a third, 0.25 of a score."""
    assert threshold(calls) == pytest.approx(score, abs=0.3)
