"""Intervals of probabilities."""

from __future__ import annotations

import pytest

from nefty.core.errors import InputError
from nefty.metrics.summary import wilson


def test_it_is_the_interval_of_the_textbook():
    assert wilson(8, 10) == pytest.approx((0.4901, 0.9433), abs=1e-3)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=1e-3)


def test_without_trials_nothing_is_known():
    assert wilson(0, 0) == (0.0, 1.0)
    with pytest.raises(InputError, match="cannot be"):
        wilson(3, 2)
