"""The grid: axis order, spacing, centres, refinement."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid

shapes = st.tuples(*[st.integers(1, 9)] * 3)
sizes = st.tuples(*[st.floats(1e-6, 1e6)] * 3)


@given(shapes, sizes)
@settings(deadline=None)
def test_cells_fill_the_box(shape, size):
    grid = Grid(shape, size)
    assert grid.cells == math.prod(shape)
    assert np.allclose(np.multiply(grid.spacing, grid.shape), size, rtol=1e-14)


@given(shapes, sizes)
@settings(deadline=None)
def test_centres_broadcast_to_the_shape_and_are_symmetric_in_the_box(shape, size):
    grid = Grid(shape, size)
    centres = grid.centres()
    assert np.broadcast_shapes(*(c.shape for c in centres)) == shape
    for axis, (c, d, length) in enumerate(zip(centres, grid.spacing, size, strict=True)):
        assert c.shape[axis] == shape[axis]
        c = c.ravel()
        assert np.allclose(c[0], d / 2)
        assert np.allclose(c + c[::-1], length)
        assert np.allclose(np.diff(c), d)


@given(shapes, sizes, st.integers(1, 4))
@settings(deadline=None)
def test_refined_cells_average_to_the_coarse_centres(shape, size, factor):
    grid = Grid(shape, size)
    fine = grid.refined(factor)
    assert fine.size == grid.size
    for coarse, c in zip(grid.centres(), fine.centres(), strict=True):
        assert np.allclose(c.reshape(-1, factor).mean(axis=1), coarse.ravel())


def test_axis_order_is_z_y_x():
    z, y, x = Grid((2, 3, 4), (2.0, 30.0, 400.0)).centres()
    assert z.ravel().tolist() == [0.5, 1.5]
    assert y.ravel().tolist() == [5.0, 15.0, 25.0]
    assert x.ravel().tolist() == [50.0, 150.0, 250.0, 350.0]


def test_lists_and_numpy_numbers_become_a_hashable_grid():
    grid = Grid([np.int64(2), 3, 4], np.array([1, 2, 3]))  # pyright: ignore[reportArgumentType]
    assert grid == Grid((2, 3, 4), (1.0, 2.0, 3.0))
    assert hash(grid) == hash(Grid((2, 3, 4), (1.0, 2.0, 3.0)))


def test_a_grid_cannot_be_changed():
    grid = Grid((2, 3, 4), (1.0, 1.0, 1.0))
    with pytest.raises(dataclasses.FrozenInstanceError):
        grid.shape = (1, 1, 1)  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("shape", "size", "message"),
    [
        ((4, 4), (1, 1, 1), r"shape=\(4, 4\) must have three entries, in the order \(z, y, x\)"),
        ((4, 4, 4), 1.0, "size=1.0 must have three entries"),
        ((4, 0, 4), (1, 1, 1), "along y=0"),
        ((4, 4, 2.5), (1, 1, 1), "along x=2.5"),
        ((4, 4, 4), (0, 1, 1), "along z=0 must be above 0"),
        ((4, 4, 4), (1, -2, 1), "along y=-2 must be above 0"),
        ((4, 4, 4), (1, 1, math.nan), "along x=nan is not finite"),
    ],
)
def test_bad_grids_are_named(shape, size, message):
    with pytest.raises(InputError, match=message):
        Grid(shape, size)


@pytest.mark.parametrize("factor", [0, -1, 1.5])
def test_bad_refinement_is_named(factor):
    with pytest.raises(InputError, match="factor="):
        Grid((1, 1, 1), (1, 1, 1)).refined(factor)
