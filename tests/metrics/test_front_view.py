import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.metrics.front_view import front_view
from nefty.result.own_view import OwnView
from nefty.result.reconstruction import Reconstruction


def reconstruction(alpha, **more):
    grid = Grid(alpha.shape, (1.0, 4.0, 4.0))
    frames = np.ones((3, *alpha.shape[1:]))
    background = np.full(alpha.shape[0], 0.15)
    return Reconstruction(grid, alpha, background, np.arange(1.0, 4.0), frames, frames, **more)


@pytest.fixture
def alpha():
    """A hole that is open to the back, from z = 0.375 on, 6 x 6 of 16 x 16 pixels."""
    found = np.full((16, 16, 16), 0.15)
    found[6:, 5:11, 5:11] = 0.005
    return found


def test_volumes_are_projected_in_both_ways(alpha):
    rec = reconstruction(alpha)
    ours, paper = front_view(rec), front_view(rec, "paper")
    over = alpha[-1] < 0.1
    np.testing.assert_array_equal(ours.mask, over)
    np.testing.assert_array_equal(paper.mask, over)
    np.testing.assert_allclose(ours.depth[over], 0.375, atol=0.02)
    np.testing.assert_allclose(paper.depth[over], (0.375 + 1) / 2)  # the median of its voxels, not its top


def test_a_method_with_its_own_map_is_not_projected(alpha):
    mask = np.zeros((16, 16), dtype=bool)
    mask[2:4, 2:4] = True
    rec = reconstruction(alpha, own_view=OwnView(mask, np.where(mask, 0.2, np.nan)))
    for projection in ("nefty", "paper"):
        seen = front_view(rec, projection)
        np.testing.assert_array_equal(seen.mask, mask)
        np.testing.assert_array_equal(seen.depth, np.where(mask, 0.2, np.nan))
