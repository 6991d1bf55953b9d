import numpy as np
import pytest

from nefty.classical.estimate import DepthEstimate, lift
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.metrics.projection import project

GRID = Grid((10, 1, 4), (1.0, 1.0, 4.0))


def estimate(depths, mask=None):
    return DepthEstimate(np.array([depths]), None if mask is None else np.array([mask]), "hand", "by hand")


def test_cells_from_the_depth_down_become_defect():
    volume = lift(estimate([0.3, 0.42, np.nan, 0.95], [True, True, False, True]), GRID, 0.2, 0.01, thickness=0.2)
    defect = [np.flatnonzero(volume[:, 0, x] == 0.01).tolist() for x in range(4)]
    assert defect == [[3, 4], [4, 5], [], [9]]
    assert set(np.unique(volume)) == {0.01, 0.2}


def test_without_a_thickness_it_reaches_the_back_and_layers_keep_their_bulk():
    bulk = np.linspace(0.1, 0.2, 10)
    volume = lift(estimate([0.75, 0.5, 0.5, 0.5], [True, False, False, False]), GRID, bulk, 0.01)
    assert np.flatnonzero(volume[:, 0, 0] == 0.01).tolist() == [7, 8, 9]
    np.testing.assert_array_equal(volume[:, 0, 1], bulk)


def test_a_defect_thinner_than_a_cell_still_has_one():
    volume = lift(estimate([0.37, 1.0, 1.0, 1.0], [True, False, False, False]), GRID, 0.2, 0.01, thickness=0.01)
    assert np.flatnonzero(volume[:, 0, 0] == 0.01).tolist() == [3]


def test_depths_alone_are_defects_where_they_are_shallower_than_the_median():
    found = estimate([1.0, 1.02, 0.4, 0.98]).shallower()
    assert found.mask is not None
    assert found.mask.tolist() == [[False, False, True, False]]
    assert "median" in found.note
    own = estimate([1.0, 1.0, 0.4, 1.0], [True, False, False, False])
    assert own.shallower() is own


def test_what_was_lifted_projects_back():
    wide = Grid((10, 4, 4), (1.0, 4.0, 4.0))
    depth = np.full((4, 4), np.nan)
    depth[1:3, 1:3] = 0.4
    volume = lift(DepthEstimate(depth, np.isfinite(depth), "hand"), wide, 0.2, 0.01, thickness=0.3)
    seen = project(volume, wide, np.full(10, 0.2), rule=0.03)
    np.testing.assert_array_equal(seen.mask, np.isfinite(depth))
    np.testing.assert_allclose(seen.depth[1:3, 1:3], 0.4, atol=0.1)


def test_shapes_and_values_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="depth map"):
        lift(DepthEstimate(np.ones((2, 2)), None, "hand"), GRID, 0.2, 0.01)
    with pytest.raises(InputError, match="bulk"):
        lift(estimate([1.0] * 4), GRID, [0.1, 0.2], 0.01)
    with pytest.raises(InputError, match="defect"):
        lift(estimate([1.0] * 4), GRID, 0.2, 0.0)
