"""Intervals by split conformal prediction: what they promise, and for which results."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.result.indications.intervals import (
    Factors,
    Group,
    conformal,
    factors_for,
    factors_from_json,
    factors_to_json,
)


@given(st.integers(0, 10_000))
def test_a_new_value_lies_inside_as_often_as_promised(seed):
    """Of 400 draws of 60 known values and a new one each; 90 % less three standard errors."""
    rng = np.random.default_rng(seed)
    values = rng.standard_t(3, (400, 61))
    inside = [low <= new <= high for *known, new in values for low, high in [conformal(known, [1.0] * 60)]]
    assert 0.9 - 0.045 < np.mean(inside) < 0.985


def test_with_few_values_nothing_is_promised():
    assert conformal([1.0] * 10, [1.0] * 10) == (-math.inf, math.inf)
    assert conformal([], []) == (-math.inf, math.inf)
    low, high = conformal(list(range(99)), [1.0] * 99)
    assert (low, high) == (4, 94)


def test_defects_of_one_part_count_less():
    """One part with fifty equal defects does not decide what the other parts show."""
    values, weights = [*np.linspace(0, 1, 59), *[9.0] * 50], [*[1.0] * 59, *[1 / 50] * 50]
    assert conformal(values, weights)[1] < 2


FACTORS = Factors(
    "real",
    "abc",
    "by a test",
    7,
    (
        Group(2.0, 40, (0.8, 1.2), (0.7, 1.1), (0.5, 2.0), 0.2),
        Group(math.inf, 40, (0.9, 1.1), (0.9, 1.1), (0.8, 1.2), 0.1),
    ),
)


#: Of another recipe, on specimens without units.
OTHERS = replace(FACTORS, recipe="fast", code="xyz", parts=9, unitless=True)
BOTH = {"real": FACTORS, "fast": OTHERS}


def test_factors_survive_their_file_and_know_their_groups():
    assert factors_from_json(factors_to_json(BOTH)) == BOTH
    assert FACTORS.group(1.0).offset == 0.2
    assert FACTORS.group(2.5).offset == 0.1


@pytest.mark.parametrize(
    ("recipe", "code", "unitless", "word"),
    [
        ("neural", "abc", True, "for the recipe real and fast, not for neural"),
        ("real", "other", False, "another version"),
        ("fast", "abc", True, "another version"),
        ("fast", "xyz", False, "without units; for parts in metres use real"),
        ("real", "abc", False, "measured on 7 simulated parts"),
        ("real", "abc", True, "measured on 7 simulated parts"),
        ("fast", "xyz", True, "measured on 9 simulated specimens without units"),
    ],
)
def test_they_are_refused_for_another_recipe_or_code_or_kind_of_part(monkeypatch, recipe, code, unitless, word):
    monkeypatch.setattr("nefty.result.indications.intervals.stored_factors", lambda: BOTH)
    found, why = factors_for({"recipe": recipe, "code of indications": code}, unitless=unitless)
    assert word in why
    assert found is (BOTH[recipe] if word.startswith("measured on") else None)


def test_without_a_file_there_are_none(monkeypatch):
    monkeypatch.setattr("nefty.result.indications.intervals.stored_factors", dict)
    assert factors_for({"recipe": "real"}, unitless=False) == (None, "No intervals were measured.")
