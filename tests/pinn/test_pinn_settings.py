import math

import pytest

from nefty.core.errors import InputError
from nefty.pinn.settings import resolve, settings


def test_defaults_are_the_papers():
    found = resolve({"variant": "gradnorm"})
    assert (found.temperature.depth, found.temperature.width) == (5, 128)
    assert found.points.collocation == 24576
    assert found.iterations == 22000
    assert found.rates.temperature == 1e-3
    assert (found.diffusivity.low, found.diffusivity.high) == (0.003, 0.25)


def test_variants_bring_what_their_authors_use():
    spinn = resolve({"variant": "spinn"}).points
    assert spinn.redraw == 100
    assert math.prod(spinn.axes) == spinn.collocation == 24576  # the paper's number of points
    assert resolve({"variant": "dcgd"}).rates.final == pytest.approx(0.9**22, rel=0.02)
    assert resolve({"variant": "causal"}).rates.final == pytest.approx(0.9 ** (22 / 5), rel=0.02)
    assert resolve({"variant": "dcgd", "rates.final": 1.0}).rates.final == 1.0


def test_dotted_keys_and_sections_are_the_same_and_the_result_can_be_given_again():
    dotted = settings({"variant": "dcgd", "rates.temperature": 0.01, "rule": "average"})
    nested = settings({"variant": "dcgd", "rates": {"temperature": 0.01}, "rule": "average"})
    assert dotted == nested == settings(dotted)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variant": "spin"}, "spinn"),
        ({"variant": "gradnorm", "iteration": 3}, "iterations"),
        ({"variant": "gradnorm", "rates.temperatur": 3}, "temperature"),
        ({"variant": "gradnorm", "points.collocation": 0}, "points.collocation=0"),
        ({"variant": "dcgd", "rule": "centre"}, "center"),
        ({}, "variant"),
        ({"variant": "gradnorm", "iterations.x": 3}, "iterations"),
        ({"variant": "spinn", "size": "small", "rates.temperature.x": 1}, "'temperature' is a value"),
        ({"variant": "spinn", "diffusivity.high": 0.003}, "high=0.003 must be"),
    ],
)
def test_what_is_not_known_is_refused_with_the_nearest_name(changes, words):
    with pytest.raises(InputError, match=words):
        settings(changes)


def test_the_small_size_is_a_set_of_defaults():
    small = resolve({"variant": "causal", "size": "small", "points.data": 7})
    assert (small.points.collocation, small.points.data) == (1024, 7)
    assert small.rates.hold > 0
    assert resolve(small.model_dump()) == small
    with pytest.raises(InputError, match="small"):
        resolve({"variant": "causal", "size": "smal"})
