"""Boundary conditions are complete, consistent and cannot be misspelt."""

import math

import pytest

from nefty.core.errors import InputError
from nefty.physics.boundary import Boundary


def test_the_default_is_the_papers_synthetic_slab():
    b = Boundary()
    assert (b.lateral, b.front, b.back, b.h_front, b.h_back) == (
        "periodic",
        "adiabatic",
        "adiabatic",
        0.0,
        0.0,
    )


def test_whole_numbers_become_floats_and_equal_boundaries_are_equal():
    assert Boundary(back="robin", h_back=2) == Boundary(back="robin", h_back=2.0)
    assert isinstance(Boundary(back="robin", h_back=2).h_back, float)
    assert len({Boundary(), Boundary(), Boundary(lateral="adiabatic")}) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lateral": "periodik"}, "Did you mean 'periodic'"),
        ({"front": "Robin"}, "front='Robin' is unknown"),
        ({"back": None}, "back=None is unknown"),
        ({"robin": "centre"}, "'cell', 'surface'"),
        ({"front": "robin", "h_front": -1}, "h_front=-1 must be at least 0"),
        ({"back": "robin", "h_back": math.nan}, "h_back=nan is not finite"),
        ({"back": "robin", "h_back": "high"}, "h_back must be a number"),
        ({"h_front": 0.5}, r'no effect on an adiabatic face; set front="robin"'),
        ({"front": "robin", "h_back": 0.5}, r'set back="robin"'),
    ],
)
def test_bad_boundaries_are_named(given, message):
    with pytest.raises(InputError, match=message):
        Boundary(**given)
