"""Which facts the calibration moved."""

import pytest

from nefty.data.facts import CalibratedValue
from nefty.result.moved_facts import moved_facts

ALPHA = "diffusivity through the thickness"


def alpha(value):
    return CalibratedValue(ALPHA, value, 1.0, "m2/s", 0.01, 0.12)


@pytest.mark.parametrize(
    ("value", "words", "contradicted"),
    [
        (1.15, f"{ALPHA} 15 % above what was stated", False),
        (0.8, f"{ALPHA} 20 % below what was stated", False),
        (1.31, f"{ALPHA} 31 % above what was stated", True),
        (0.5, f"{ALPHA} 50 % below what was stated", True),
        (2.5, f"{ALPHA} 2.5 times what was stated", True),
    ],
)
def test_a_move_of_more_than_a_width_is_told(value, words, contradicted):
    (fact,) = moved_facts([alpha(value)])
    assert (fact.text, fact.contradicted) == (words, contradicted)
    assert fact.widths == pytest.approx(abs(value - 1) / 0.12)


def test_small_moves_guesses_and_facts_without_width_are_not():
    rows = [alpha(1.1), CalibratedValue("heating", 450.0, 1.0, "K"), CalibratedValue("heated margin", 0.01, None, "m")]
    assert moved_facts(rows) == []


def test_the_farthest_comes_first_and_what_was_zero_is_told_in_its_unit():
    later = CalibratedValue("delay of the heating", -0.012, 0.0, "s", None, 0.004)
    found = moved_facts([alpha(1.2), later])
    assert [fact.name for fact in found] == ["delay of the heating", ALPHA]
    assert found[0].text == "delay of the heating 0.012\u00a0s less than was stated"
