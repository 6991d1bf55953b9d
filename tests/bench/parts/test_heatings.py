"""The same part under several heatings."""

import numpy as np
import pytest

from nefty.bench.parts import heatings


@pytest.mark.parametrize("heating", heatings.ENERGY)
def test_what_the_user_says_of_the_heating_is_how_the_part_was_heated(heating):
    history = heatings._part(heatings.CASES[0], heating, 16).heat.history
    times, rates = heatings._curve(history).T
    total = np.concatenate([[0.0], np.cumsum(np.diff(times) * (rates[1:] + rates[:-1]) / 2)])
    assert total / total[-1] == pytest.approx([history.delivered(t) for t in times], abs=1e-3)


def test_a_lock_in_recording_of_the_test_bed_is_reconstructed():
    """From its file and the measured course of the heating to a depth, as on the test bed."""
    row = heatings._row(heatings.CASES[0], "lock-in", 16, seed=0)
    assert row["found"] == "yes"
    assert row["false"] == 0
    assert row["error"] == pytest.approx(0, abs=0.15)
