"""Depth, thickness and size of defects whose geometry is known."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.grid import Grid
from nefty.result.indications.crossings import extent, first_crossing, last_crossing
from nefty.result.indications.depth_map import depth_map
from nefty.result.indications.indication import find_indications
from nefty.result.indications.segmentation import Segmentation, segment
from nefty.synth.specimen import Defect, draw_specimen
from support.volumes import blurred, cell_means

SMALL = Grid((16, 24, 24), (1.0, 3.75, 3.75))  # the cells of the paper's grid, a smaller plate
BULK = 0.15


def disc(z=0.5, y=1.875, x=1.875, half=0.13, radii=(1.0, 1.0), alpha=0.01, shape="cylinder"):
    return Defect(shape, (z, y, x), (half, *radii), 0.0, alpha)


def measured(alpha, background, grid, rule="default", lateral="adiabatic"):
    return find_indications(alpha, background, grid, segment(alpha, background, grid, rule, lateral))


@pytest.mark.parametrize("smooth", [0.0, 0.7])
@pytest.mark.parametrize("shift", np.linspace(0, 0.9, 4))
def test_a_disc_between_the_cells_is_measured_well_within_one(smooth, shift):
    dz, dy, dx = SMALL.spacing
    true = disc(z=0.5 + shift * dz, y=1.875 + shift * dy, x=1.875 - shift * dx, half=0.15, radii=(1.1, 0.8))
    background = np.full(16, BULK)
    alpha = blurred(cell_means((true,), SMALL, BULK), background, smooth)
    (found,) = measured(alpha, background, SMALL)
    assert abs(found.depth_to_top - true.top) < 0.15 * dz
    assert abs(found.thickness - 0.30) < 0.25 * dz
    assert abs(found.depth_to_centre - true.centre[0]) < 0.1 * dz
    assert abs(found.centre[1] - true.centre[1]) < 0.1 * dy
    assert abs(found.centre[2] - true.centre[2]) < 0.1 * dx
    assert abs(found.size_y - 2.2) < 0.35 * dy
    assert abs(found.size_x - 1.6) < 0.35 * dx
    assert found.area == pytest.approx(math.pi * 1.1 * 0.8, rel=0.08)
    assert found.diameter == pytest.approx(2 * math.sqrt(1.1 * 0.8), rel=0.04)
    assert found.depth_to_centre == found.centre[0]
    assert not found.reaches_back
    depths = depth_map(alpha, background, SMALL, segment(alpha, background, SMALL))
    assert abs(np.nanmedian(depths) - true.top) < 0.15 * dz


def test_a_sharp_box_has_exact_numbers():
    grid = Grid((8, 10, 10), (4.0, 20.0, 10.0))
    alpha = np.full(grid.shape, 2.0)
    alpha[2:4, 3:6, 5:9] = 0.2
    alpha[3, 4, 7] = 0.1
    (found,) = measured(alpha, np.full(8, 2.0), grid)
    assert (found.label, found.cells) == (1, 24)
    assert found.volume == pytest.approx(24 * 0.5 * 2 * 1)
    assert found.area == pytest.approx(12 * 2)
    assert found.alpha_min == pytest.approx(0.1)
    assert found.alpha_mean == pytest.approx((23 * 0.2 + 0.1) / 24)
    assert found.contrast == pytest.approx(1 - found.alpha_mean / 2)
    assert found.depth_to_top == pytest.approx(1.0, abs=0.05)
    assert found.thickness == pytest.approx(1.0, abs=0.1)
    assert found.size_y == pytest.approx(6.0, abs=0.3)
    assert found.size_x == pytest.approx(4.0, abs=0.15)
    np.testing.assert_allclose(found.centre[1:], (9.0, 7.0), atol=0.1)


def test_the_top_of_a_dome_is_its_apex():
    true = disc(z=0.55, half=0.2, radii=(1.3, 1.3), shape="ellipsoid")
    alpha, background = cell_means((true,), SMALL, BULK), np.full(16, BULK)
    (found,) = measured(blurred(alpha, background, 0.6), background, SMALL)
    assert abs(found.depth_to_top - true.top) < 0.4 * SMALL.spacing[0]
    assert abs(found.size_x - 2.6) < SMALL.spacing[2]


def test_strata_do_not_move_the_top():
    background = np.where(np.arange(16) < 7, 0.2, 0.1)
    alpha = background[:, None, None] * cell_means((disc(z=0.5, half=0.15, alpha=0.07),), SMALL, 1.0)
    (found,) = measured(blurred(alpha, background), background, SMALL)
    assert abs(found.depth_to_top - 0.35) < 0.15 * SMALL.spacing[0]


def test_open_at_the_front_and_through_to_the_back():
    alpha, background = np.full(SMALL.shape, BULK), np.full(16, BULK)
    alpha[10:, 5:15, 5:15] = 0.01
    alpha[:3, 18:23, 18:23] = 0.01
    hole, open_front = measured(alpha, background, SMALL)
    assert hole.reaches_back
    assert hole.depth_to_top == pytest.approx(10 / 16)
    assert hole.thickness == pytest.approx(6 / 16)
    assert open_front.depth_to_top == 0
    assert not open_front.reaches_back


def test_defects_are_sorted_by_volume_and_do_not_disturb_each_other(grid):
    two = (disc(z=0.3, y=3, x=3, half=0.1), disc(z=0.6, y=3, x=5.5, half=0.2, radii=(1.2, 1.2)))
    background = np.full(16, BULK)
    alpha = cell_means(two, grid, BULK, finer=2)
    large, small = measured(alpha, background, grid)
    assert (large.label, small.label) == (1, 2)
    assert large.volume > small.volume
    for found, true in ((large, two[1]), (small, two[0])):
        assert abs(found.depth_to_top - true.top) < 0.2 * grid.spacing[0]
        assert abs(found.size_x - 2 * true.radii[2]) < 0.5 * grid.spacing[2]
        np.testing.assert_allclose(found.centre, true.centre, atol=0.03)


def test_a_defect_across_the_corner_of_a_periodic_plate_is_the_same_defect(rng):
    background = np.full(16, BULK)
    alpha = blurred(cell_means((disc(y=1.7, x=2.0, radii=(0.9, 0.6)),), SMALL, BULK), background)
    (here,) = measured(alpha, background, SMALL, lateral="periodic")
    (there,) = measured(np.roll(alpha, (13, 11), (1, 2)), background, SMALL, lateral="periodic")
    for name in ("depth_to_top", "thickness", "size_y", "size_x", "area", "volume", "contrast", "cells"):
        assert getattr(there, name) == pytest.approx(getattr(here, name))
    _, dy, dx = SMALL.spacing
    expected = (here.centre[1] + 13 * dy) % SMALL.size[1], (here.centre[2] + 11 * dx) % SMALL.size[2]
    np.testing.assert_allclose(there.centre[1:], expected)


def test_a_band_all_around_a_periodic_plate_is_as_long_as_the_plate():
    alpha, background = np.full(SMALL.shape, BULK), np.full(16, BULK)
    alpha[5:8, :, 8:14] = 0.01
    (found,) = measured(alpha, background, SMALL, lateral="periodic")
    assert found.size_y == pytest.approx(SMALL.size[1])
    assert found.size_x == pytest.approx(6 * SMALL.spacing[2])


def test_drawn_specimens_give_their_defects_back(grid):
    tops = []
    for seed in range(6):
        specimen = draw_specimen(seed, "layered")
        background = specimen.background(grid)
        found = measured(blurred(specimen.alpha(grid), background), background, grid, lateral="periodic")
        assert len(found) == len(specimen.defects)
        for true in specimen.defects:
            nearest = min(found, key=lambda f, c=true.centre: math.dist(f.centre[1:], c[1:]))
            assert math.dist(nearest.centre[1:], true.centre[1:]) < 0.1
            tops.append(abs(nearest.depth_to_top - true.top))
    assert np.max(tops) < 0.75 * grid.spacing[0]  # half a cell is lost where cells are filled by their centres


def test_the_depth_map_is_nan_where_sound_and_shows_the_upper_of_two():
    alpha, background = np.full(SMALL.shape, BULK), np.full(16, BULK)
    alpha[9:12, 4:20, 4:20] = 0.001
    alpha[3:5, 4:12, 4:12] = 0.02
    found = segment(alpha, background, SMALL)
    depths = depth_map(alpha, background, SMALL, found)
    assert found.number == 2
    assert np.isnan(depths[:4]).all()
    np.testing.assert_allclose(depths[4:12, 4:12], 3 / 16)
    np.testing.assert_allclose(depths[12:20, 4:20], 9 / 16)
    sound = segment(np.full(SMALL.shape, BULK), background, SMALL)
    assert np.isnan(depth_map(np.full(SMALL.shape, BULK), background, SMALL, sound)).all()


def test_the_papers_depth_is_the_median_of_the_voxels():
    alpha, background = np.full(SMALL.shape, BULK), np.full(16, BULK)
    alpha[6:9, 4:9, 4:9] = 0.01
    alpha[14, 4:9, 4:9] = 0.1
    depths = depth_map(alpha, background, SMALL, segment(alpha, background, SMALL, "paper-2d"))
    np.testing.assert_allclose(depths[4:9, 4:9], 8.0 / 16)  # median of 6.5, 7.5, 8.5, 14.5
    assert np.isfinite(depths).sum() == 25


def test_the_papers_patches_of_mere_scatter_can_be_measured(rng):
    alpha, background = BULK * np.exp(0.05 * rng.standard_normal(SMALL.shape)), np.full(16, BULK)
    for found in measured(alpha, background, SMALL, "paper-2d"):
        assert 0 <= found.depth_to_top < found.depth_to_top + found.thickness <= 1.0 + 1e-12


def test_no_defects_no_findings():
    alpha = np.full(SMALL.shape, BULK)
    nothing = Segmentation(np.zeros(SMALL.shape, dtype=np.int32), segment(alpha, alpha[:, 0, 0], SMALL).rule, False)
    assert find_indications(alpha, alpha[:, 0, 0], SMALL, nothing) == []


@given(st.floats(5.0, 11.0), st.floats(0.5, 5.0), st.floats(1.0, 3.0))
def test_crossings_of_straight_flanks_are_exact(centre, depth, half):
    z = np.arange(16) + 0.5
    well = -depth * np.clip((half + 1 - np.abs(z - centre)) / 2, 0, 1)  # each flank is two cells wide
    np.testing.assert_allclose(extent(well, well < 0, -depth / 2), (centre - half, centre + half), atol=1e-9)


def test_crossings_at_the_faces():
    low = np.array([[-1.0], [-1.0], [0.0]])
    assert first_crossing(low, low < 0, -0.5) == 0
    assert last_crossing(low, low < 0, -0.5) == 2
    assert last_crossing(low[:2], low[:2] < 0, -0.5) == 2
