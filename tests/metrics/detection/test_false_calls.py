"""Rates of false calls: their exact intervals, and what cannot be."""

import math

import pytest
from scipy.stats import binom, poisson

from nefty.core.errors import InputError
from nefty.metrics import FalseCalls, hit_miss


@pytest.mark.parametrize(("count", "of"), [(3, 20), (17, 4), (1, 1)])
def test_the_ends_are_those_of_poisson(count, of):
    """At the low end as many or more have 2.5 %, at the high end as few or fewer."""
    low, high = FalseCalls(count, of).interval()
    assert poisson.sf(count - 1, low * of) == pytest.approx(0.025)
    assert poisson.cdf(count, high * of) == pytest.approx(0.025)


@pytest.mark.parametrize(("count", "of"), [(3, 20), (1, 2)])
def test_the_ends_of_places_are_those_of_the_binomial(count, of):
    low, high = FalseCalls(count, of, "sound place").interval(0.9)
    assert binom.sf(count - 1, of, low) == pytest.approx(0.05)
    assert binom.cdf(count, of, high) == pytest.approx(0.05)


def test_none_and_all_have_closed_forms():
    assert FalseCalls(0, 20).interval() == (0.0, pytest.approx(-math.log(0.025) / 20))
    assert FalseCalls(0, 20, "sound place").interval() == (0.0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert FalseCalls(20, 20, "sound place").interval() == (pytest.approx(0.025 ** (1 / 20)), 1.0)


def test_they_stand_beside_the_sizes():
    sizes, hits = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6], [0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    assert "false calls: not measured" in str(hit_miss(sizes, hits))
    assert hit_miss(sizes, hits).as_dict()["false_call_rate"] is None
    pod = hit_miss(sizes, hits, false_calls=FalseCalls(3, 20))
    assert "false calls: 3 in 20 parts, 0.15 per part (0.031 to 0.44), 95 %" in str(pod)
    assert pod.as_dict()["false_call_rate"]["high"] == pytest.approx(0.4384, abs=1e-4)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((-1, 3), "-1 false calls in 3 parts cannot be"),
        ((1, 0), "1 false calls in 0 parts cannot be"),
        ((4, 3, "sound place"), "4 of 3 sound places"),
        ((1, 3, "image"), "per='image'"),
    ],
)
def test_what_cannot_be_is_named(given, message):
    with pytest.raises(InputError, match=message):
        FalseCalls(*given)
