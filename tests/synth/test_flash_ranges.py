"""Flashes of a data set: fixed unless ranges are given, the same from the same seed."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.physics.pulses import GaussianFlash
from nefty.synth.flash_ranges import FlashRanges

FACE = (10.0, 8.0)


def test_nothing_is_drawn_by_default():
    assert {FlashRanges().draw(seed, FACE) for seed in range(5)} == {GaussianFlash(100.0, 2.5, 0.2)}


def test_what_is_drawn_lies_within_its_range_and_fills_it():
    ranges = FlashRanges(amplitude=(50.0, 150.0), width=(2.0, 4.0), depth=(0.1, 0.3), shift=1.5)
    flashes = [ranges.draw(seed, FACE) for seed in range(300)]
    assert flashes == [ranges.draw(seed, FACE) for seed in range(300)]
    columns = {
        (50.0, 150.0): [f.amplitude for f in flashes],
        (2.0, 4.0): [f.width for f in flashes],
        (0.1, 0.3): [f.depth for f in flashes],
        (3.5, 6.5): [f.centre[0] for f in flashes if f.centre],
        (2.5, 5.5): [f.centre[1] for f in flashes if f.centre],
    }
    for (low, high), values in columns.items():
        assert len(values) == 300
        assert low <= min(values) < low + 0.05 * (high - low)
        assert high - 0.05 * (high - low) < max(values) <= high
    assert (np.abs(np.corrcoef(list(columns.values())) - np.eye(5)) < 0.25).all()


def test_one_range_does_not_change_what_another_draws():
    both = FlashRanges(amplitude=(50.0, 150.0), depth=(0.1, 0.3)).draw(4, FACE)
    assert both.depth == FlashRanges(depth=(0.1, 0.3)).draw(4, FACE).depth


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"width": (3.0, 2.0)}, r"flash width=\(3.0, 2.0\) must be \(lowest, highest\)"),
        ({"depth": (0.0, 0.2)}, "must be above 0"),
        ({"amplitude": 100.0}, "must be two numbers"),
        ({"shift": -1.0}, "flash shift=-1"),
    ],
)
def test_ranges_that_are_none_are_refused(values, message):
    with pytest.raises(InputError, match=message):
        FlashRanges(**values)
