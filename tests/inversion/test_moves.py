"""Moves of the bottoms of voids, on volumes that can be counted."""

import numpy as np
import pytest

from nefty.inversion.moves import FAMILIES, Relaxed, best_bottoms, bottom_of, move_bottoms, with_bottom
from nefty.inversion.recipe_sections import MoveSettings

SHAPE = (10, 12, 12)
VOID = -3.0
LAYER = np.arange(SHAPE[0])[:, None, None]
NOWHERE = np.zeros(SHAPE, dtype=bool)


def block(first, last, rows=slice(3, 8), columns=slice(2, 9)):
    cells = NOWHERE.copy()
    cells[first : last + 1, rows, columns] = True
    return cells


def stepped():
    """A top that falls by a layer every two columns, and a flat bottom at layer 7."""
    cells = block(2, 7)
    cells[2, :, 4:], cells[3, :, 6:] = False, False
    return cells


def too_deep_in_the_middle():
    """The block of layers 2 to 5, as descent leaves it: deeper in the middle, missing at the rim."""
    cells = block(2, 5) | block(6, 7, slice(4, 7), slice(4, 7))
    cells[5, 3] = False
    return cells


def distance(truth):
    """An objective with its minimum at a volume."""
    return lambda anomaly: float(np.sum((anomaly - VOID * truth) ** 2))


def test_the_families_by_hand():
    tops = [2, 2, 3, 3, 4, 4, 4]  # of the columns 2 to 8
    for family, bottoms in (
        ("flat", [6] * 7), ("parallel", [t + 3 for t in tops]), ("mirrored", [9 - t for t in tops]),
    ):  # fmt: skip
        depth = {"flat": 6, "parallel": 3, "mirrored": 9}[family]
        cells = bottom_of(family, stepped(), depth)
        for column, top, bottom in zip(range(2, 9), tops, bottoms, strict=True):
            assert np.nonzero(cells[:, 5, column])[0].tolist() == list(range(top, bottom + 1)), family
        assert not cells[:, 0].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_all_families_hold_a_block(family):
    depth = {"flat": 5, "parallel": 3, "mirrored": 7}[family]
    assert (bottom_of(family, too_deep_in_the_middle(), depth) == block(2, 5)).all()


def test_a_moved_bottom_leaves_other_voids_and_the_rest():
    own, other = block(2, 6), block(8, 9, slice(3, 5), slice(2, 4))
    anomaly = np.where(own | other, VOID, -0.01)
    moved = with_bottom(anomaly, own, other, block(2, 4))
    assert (moved[other] == VOID).all()
    assert (moved[block(2, 4)] == VOID).all()
    assert (moved[block(5, 7)] == 0).all()
    assert (moved[:, 0] == -0.01).all()


def test_the_best_bottom_is_found_downhill():
    own = too_deep_in_the_middle()
    best, lower = best_bottoms(np.where(own, VOID, 0.0), own, NOWHERE, distance(block(2, 5)))
    assert ((best < -1) == block(2, 5)).all()
    assert ((lower < -1) == block(2, 6)).all()


def test_what_is_best_already_is_not_moved():
    own = block(2, 5)
    assert not list(best_bottoms(np.where(own, VOID, 0.0), own, NOWHERE, distance(own)))


@pytest.mark.parametrize(("misfits", "moves"), [((3.0, 9.0), True), ((0.5, 0.9), True), ((0.5, 1.1), False)])
def test_a_move_is_kept_if_it_pays_and_leaves_what_was_fitted(misfits, moves):
    """It may fit the frames worse for the moment, but not where they were fitted to their noise."""
    own, value = too_deep_in_the_middle(), distance(block(2, 5))

    def relax(anomaly, steps, other):
        return Relaxed(value(anomaly), misfits[other is not None], anomaly)

    moved = move_bottoms(np.where(own, VOID, 0.0), value, relax, MoveSettings(), "periodic")
    assert ((moved < -1) == (block(2, 5) if moves else own)).all()


def test_a_move_that_does_not_pay_is_taken_back():
    own = too_deep_in_the_middle()

    def relax(anomaly, steps, other):
        return Relaxed(1.0 if other is None else 2.0, 3.0, anomaly)

    moved = move_bottoms(np.where(own, VOID, 0.0), distance(block(2, 5)), relax, MoveSettings(), "adiabatic")
    assert ((moved < -1) == own).all()


def test_small_voids_stay():
    own = block(2, 3, slice(3, 5), slice(3, 5))

    def relax(anomaly, steps, other):
        assert other is None
        return Relaxed(1.0, 3.0, anomaly)

    move_bottoms(np.where(own, VOID, 0.0), distance(NOWHERE), relax, MoveSettings(cells=9), "periodic")
