"""Defect Edge F1: steps by hand, the definition cell by cell, volumes without edges."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nefty.core.errors import InputError
from nefty.metrics.edges import edge_f1

BULK, DEFECT = 0.15, 0.01
SOUND = np.full((4, 6, 6), BULK)


def step(at: int, low: float = DEFECT, cells: int = 16) -> np.ndarray:
    """Sound up to cell ``at``, then ``low``, along x."""
    return np.where(np.arange(cells) < at, BULK, low).reshape(1, 1, cells)


def block() -> np.ndarray:
    alpha = np.full((8, 12, 12), BULK)
    alpha[3:6, 4:9, 4:9] = DEFECT
    return alpha


@pytest.mark.parametrize(
    ("at", "f1"),
    [
        (8, 1.0),  # edge cells 7 and 8
        (9, 0.5),  # 8 and 9: one of two is right
        (7, 0.5),
        (10, 0.0),
        (14, 0.0),
    ],
)
def test_a_step_out_of_place(at, f1):
    assert edge_f1(step(at), step(8)) == pytest.approx(f1)


def test_an_edge_has_half_the_slope_of_the_steepest_true_one():
    at_60, at_40 = BULK - 0.6 * (BULK - DEFECT), BULK - 0.4 * (BULK - DEFECT)
    assert edge_f1(step(8, at_60), step(8)) == 1
    assert edge_f1(step(8, at_40), step(8)) == 0
    assert edge_f1(step(8, at_40), step(8), level=0.3) == 1


def test_precision_and_recall_by_hand():
    truth, alpha = step(8), step(8)
    alpha[0, 0, 9:12] = BULK  # a dip at 8, the step at 12: edge cells 7, 9, 11, 12; the true ones are 7 and 8
    assert edge_f1(alpha, truth) == pytest.approx(1 / 2)  # 7 and 9 lie within 2 cells of the boundary: P = R = 1/2
    assert edge_f1(alpha, truth, dilation=4) == pytest.approx(2 * (1 / 4) * (1 / 2) / (1 / 4 + 1 / 2))  # P = 1/4


def test_edges_far_from_the_true_boundary_do_not_count():
    truth = block()
    alpha = truth.copy()
    alpha[:, 0, 0] = DEFECT
    assert edge_f1(alpha, truth) == 1
    assert edge_f1(alpha, truth, dilation=5) < 1


def test_the_gradient_is_per_cell_so_that_walls_count_as_roofs_do():
    truth = block()
    column = np.broadcast_to(truth[4], truth.shape)  # walls without roof and floor
    assert edge_f1(column, truth) > 0.4
    assert edge_f1(column, truth, spacing=(1 / 16, 10 / 64, 10 / 64)) == 0  # per length walls are no edges


def definition(alpha: np.ndarray, truth: np.ndarray, reach: int) -> float:
    """The docstring, one cell after the other."""

    def slope(volume, cell):
        total = 0.0
        for axis, n in enumerate(volume.shape):
            low, high = list(cell), list(cell)
            low[axis], high[axis] = max(cell[axis] - 1, 0), min(cell[axis] + 1, n - 1)
            if high[axis] > low[axis]:
                total += ((volume[tuple(high)] - volume[tuple(low)]) / (high[axis] - low[axis])) ** 2
        return math.sqrt(total)

    def borders(volume):
        found = []
        for a, b in itertools.permutations(np.ndindex(*volume.shape), 2):
            if volume[a] < 0.03 <= volume[b] and sum(abs(i - j) for i, j in zip(a, b, strict=True)) == 1:
                found.append(a)
        return found

    cells, rim = list(np.ndindex(*truth.shape)), borders(truth)
    if not rim:
        return 0.0 if borders(alpha) else 1.0
    near = [c for c in cells if min(max(abs(i - j) for i, j in zip(c, b, strict=True)) for b in rim) <= reach]
    least = 0.5 * max(slope(truth, c) for c in cells)
    found, true = ({c for c in near if slope(v, c) >= least} for v in (alpha, truth))
    if not found and not true:
        return 1.0
    if not found & true:
        return 0.0
    precision, recall = len(found & true) / len(found), len(found & true) / len(true)
    return 2 * precision * recall / (precision + recall)


LEVELS = st.sampled_from([0.005, 0.0125, 0.1, 0.17, 0.2])


@given(
    arrays(np.float64, (2, 3, 4), elements=LEVELS), arrays(np.float64, (2, 3, 4), elements=LEVELS), st.integers(0, 2)
)
def test_it_is_the_definition(alpha, truth, reach):
    assert edge_f1(alpha, truth, dilation=reach) == pytest.approx(definition(alpha, truth, reach))


def test_without_edges_in_the_truth_finding_none_is_right():
    hollow = SOUND.copy()
    hollow[2, 3, 3] = DEFECT
    full = np.full(SOUND.shape, DEFECT)
    assert edge_f1(SOUND, SOUND) == edge_f1(full, full) == edge_f1(full, SOUND) == 1
    assert edge_f1(0.5 * SOUND, SOUND) == 1  # wrong, but without defect edges
    assert edge_f1(hollow, SOUND) == edge_f1(hollow, full) == 0
    assert edge_f1(SOUND, hollow) == edge_f1(full, hollow) == 0
    assert edge_f1(hollow, hollow) == 1


def test_strata_are_no_edges_of_defects():
    strata = SOUND.copy()
    strata[2:] = 0.1
    assert edge_f1(SOUND, strata) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0}, "level=0 must be above 0"),
        ({"dilation": -1}, "dilation=-1 must be a whole number"),
        ({"spacing": 1.0}, r"spacing=1.0 must be three distances.*grid.spacing"),
        ({"spacing": (1, 0, 1)}, "spacing along y=0 must be above 0"),
        ({"threshold": math.nan}, "threshold=nan"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        edge_f1(SOUND, SOUND, **options)
