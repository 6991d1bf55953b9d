"""From places on the grid to the pixels that the camera wrote."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.grid import Grid
from nefty.data.facts import Window
from nefty.result.frame_pixels import frame_pixels

GRID = Grid((4, 10, 20), (1.0, 30.0, 40.0))  # pixels of 3 x 2


def test_without_preparation_a_place_lies_in_its_pixel():
    pixels = frame_pixels(GRID, Window())
    assert pixels.pixel(0.1, 0.1) == (0, 0)
    assert pixels.pixel(7.5, 5.0) == (2, 2)
    assert pixels.pixel(6.0, 4.0) == (2, 2)  # the border belongs to the second
    assert pixels.pixel(30.0, 40.0) == (9, 19)
    assert pixels.place(7.5, 5.0) == (7.5, 5.0)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 5), st.integers(0, 9), st.integers(0, 19))
def test_what_was_cut_and_averaged_is_undone(top, left, factor, row, column):
    raw = (top + 10 * factor, left + 20 * factor)
    pixels = frame_pixels(GRID, Window(top, left, factor))
    # The same by hand: an image that is 1 in the pixels behind the cell, cut, then averaged.
    y, x = (row + 0.5) * 3.0, (column + 0.5) * 2.0
    found = np.zeros(raw)
    found[pixels.pixel(y, x)] = 1
    cells = found[top:, left:].reshape(10, factor, 20, factor).sum(axis=(1, 3))
    assert cells[row, column] == 1
    corner = pixels.place(top * 3.0 / factor, left * 2.0 / factor)
    assert corner == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9))


def test_steps_follow_each_other():
    pixels = frame_pixels(GRID, Window().cut(4, 10).binned(2).cut(3, 5).binned(3))
    assert (pixels.top, pixels.left) == (4 + 2 * 3, 10 + 2 * 5)
    assert pixels.spacing == (0.5, pytest.approx(1 / 3))
    assert pixels.pixel(0, 0) == (10, 20)
