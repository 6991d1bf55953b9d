"""Confidence intervals against scipy and a table."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nefty.core.errors import InputError
from nefty.metrics.summary import breakdown, mean_interval


def test_a_textbook_case():
    mean, half = mean_interval([1, 2, 3, 4, 5])  # s = sqrt(2.5), t(0.975, 4) = 2.776
    assert mean == 3
    assert half == pytest.approx(2.7764451 * math.sqrt(2.5 / 5))


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=30).filter(lambda v: np.std(v) > 1e-3), st.floats(0.5, 0.999)
)
def test_it_is_scipys_interval(values, confidence):
    mean, half = mean_interval(iter(values), confidence=confidence)
    low, high = stats.t.interval(confidence, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
    assert (mean - half, mean + half) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_it_holds_the_expectation_as_often_as_it_says(rng):
    inside = [abs(mean - 1) <= half for mean, half in (mean_interval(rng.normal(1, 2, 6)) for _ in range(2000))]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)  # 4 standard errors


def test_one_value_has_no_interval_and_equal_values_a_narrow_one():
    mean, half = mean_interval([0.7])
    assert mean == 0.7
    assert math.isnan(half)
    assert mean_interval([0.5, 0.5, 0.5]) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("values", "confidence", "message"),
    [
        ([], 0.95, "at least one number"),
        ([1.0, math.nan], 0.95, r"values\[1\]=nan is not finite"),
        ([math.inf], 0.95, r"values\[0\]=inf is not finite"),
        (np.ones((2, 2)), 0.95, r"shape \(2, 2\)"),
        ([1.0, 2.0], 95, "confidence=95 must lie between 0 and 1"),
    ],
)
def test_bad_values_are_named(values, confidence, message):
    with pytest.raises(InputError, match=message):
        mean_interval(values, confidence=confidence)


def test_a_breakdown_is_the_interval_of_each_group():
    values, layers = [0.4, 0.5, 0.9, 0.6, 0.7], [3, 4, 3, 4, 5]
    table = breakdown(iter(values), iter(layers), confidence=0.9)
    assert list(table) == [3, 4, 5]
    assert table[3] == mean_interval([0.4, 0.9], confidence=0.9)
    assert table[4] == mean_interval([0.5, 0.6], confidence=0.9)
    assert table[5][0] == 0.7
    assert math.isnan(table[5][1])
    assert breakdown([], []) == {}


def test_a_breakdown_needs_one_group_per_value():
    with pytest.raises(InputError, match="2 values and 1 groups"):
        breakdown([1.0, 2.0], ["a"])
    with pytest.raises(InputError, match="inf is not finite"):
        breakdown([1.0, math.inf], ["a", "b"])
