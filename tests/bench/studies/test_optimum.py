"""The study of the path to the optimum, on volumes that can be counted and on a tiny slab."""

import numpy as np
import pytest

from nefty.bench.studies.mistakes import Mistakes, mistakes
from nefty.bench.studies.optimum import STARTS, first_volume, run

LAYERS = np.array([0.1, 0.1, 0.1, 0.2, 0.2, 0.2])


@pytest.fixture
def truth():
    """A void of the layers 1 to 4 under 3 x 3 pixels."""
    volume = np.broadcast_to(LAYERS[:, None, None], (6, 12, 12)).copy()
    volume[1:5, 4:7, 4:7] = 0.01
    return volume


def test_nothing_is_wrong_with_the_truth(truth):
    assert mistakes(truth, LAYERS, truth, LAYERS) == Mistakes(0, 0, 0, 0, 0.0)


def test_wrong_cells_are_told_apart(truth):
    found = truth.copy()
    found[1, 4, 4] = 0.1  # missing at the top
    found[0, 5, 5] = 0.01  # above it
    found[4, 4:7, 4] = 0.2  # missing at the bottom
    found[5, 5, 5] = 0.01  # below it
    found[2, 4:6, 8] = 0.01  # beside it
    found[3, 0, 0] = 0.01  # elsewhere
    wrong = mistakes(found, LAYERS * np.e, truth, LAYERS)
    assert (wrong.top, wrong.bottom, wrong.edge, wrong.far, wrong.cells) == (2, 4, 2, 1, 9)
    assert wrong.background == pytest.approx(1.0)


def test_starts_are_none_the_blurred_and_the_truth(truth):
    usual, blurred, exact = (first_volume(truth, start) for start in STARTS)
    assert usual is None
    assert exact is truth
    assert blurred is not None
    assert truth.min() < blurred.min() < blurred.max() <= truth.max() * (1 + 1e-12)


def test_every_specimen_is_inverted_from_every_start():
    results = run(kinds=("homogeneous",), seeds="0", shape=(6, 12, 12), frames=8, iterations=10)
    way, ends = results.tables
    assert [row["start"] for row in ends.rows] == list(STARTS)
    assert len(way.rows) == len(STARTS) * len(results.settings["recipe"]["stages"])
    assert all(0 <= row["iou"] <= 1 and row["misfit"] > 0 for row in ends.rows)
    assert way.rows[-1]["objective"].mean == ends.rows[-1]["objective"]
    assert "of 1" in results.notes[0]
