"""Times from the stamps of a camera's clock."""

from datetime import datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nefty.data.readers.cameras.stamps import clock, from_rate, from_stamps


@given(st.floats(1, 900), st.integers(2, 200))
def test_rounded_stamps_of_an_even_rate_are_even_again(rate, frames):
    times = np.arange(frames) / rate
    found = from_stamps(1.3e9 + np.round(times, 3))
    if found is None:  # two frames in one millisecond
        assert rate > 400
    else:
        assert np.ptp(np.diff(found)) < 1e-9
        assert np.abs(found - times).max() <= 2e-3


def test_uneven_stamps_stay():
    found = from_stamps(np.array([5.0, 5.1, 6.0]))
    assert found is not None
    assert found.tolist() == [0, 0.1, 1.0]
    assert from_stamps(np.array([5.0, 5.0, 6.0])) is None
    assert from_stamps(np.array([5.0, np.nan])) is None


def test_the_rate_stands_in_for_a_clock_that_stands():
    times, told = from_rate(np.full(4, 7.0), 50.0)
    assert times is not None
    assert times.tolist() == [0, 0.02, 0.04, 0.06]
    assert "50 frames per second" in told
    assert from_rate(np.full(4, np.nan), 0.0) == (None, "")


def test_a_clock_beyond_all_dates_says_nothing():
    assert clock(datetime(1970, 1, 1), 86400.0) == "1970-01-02 00:00:00"
    assert clock(datetime(1970, 1, 1), 1e300) == ""
