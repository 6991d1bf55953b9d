import numpy as np
import pytest

from nefty.bench.plates.score import hole_facts, holes_of, plate_scores, resized
from nefty.metrics.projection import Projection

PIXEL = 0.5e-3


def label():
    """A wide hole at 1 mm, 8 x 10 pixels, and a narrow one at 2 mm, 3 x 3."""
    depth = np.full((40, 40), np.nan)
    depth[5:13, 5:15] = 1e-3
    depth[25:28, 25:28] = 2e-3
    return depth


def test_holes_are_connected_pixels_of_one_depth():
    wide, narrow = holes_of(label(), PIXEL)
    assert (wide.depth, narrow.depth) == (1e-3, 2e-3)
    assert wide.mask.sum() == 80
    assert wide.width == pytest.approx(8 * PIXEL, abs=1.1 * PIXEL)  # the largest disc that fits
    assert narrow.width == pytest.approx(3 * PIXEL)
    assert wide.aspect > 1.5 > narrow.aspect


def test_listed_widths_go_before_those_of_the_pixels():
    listed = [{"centre": (26.2, 25.9), "width": (1.4e-3, 9e-3)}, {"centre": (900.0, -3.0), "width": (1.0, 1.0)}]
    wide, narrow = holes_of(label(), PIXEL, listed)
    assert narrow.width == 1.4e-3
    assert wide.width == pytest.approx(8 * PIXEL, abs=1.1 * PIXEL)


def test_a_perfect_map_has_perfect_marks():
    holes = holes_of(label(), PIXEL)
    marks = plate_scores(Projection.of_depth(label()), label(), holes, PIXEL)
    for name in ("iou", "dice", "precision", "recall", "depth_recall", "depth_delta1"):
        assert marks[name] == marks[f"wide_{name}"] == 1.0
    assert marks["depth_mae"] == marks["depth_abs_rel"] == 0.0


def test_marks_are_those_by_hand():
    found = np.full((40, 40), np.nan)
    found[5:13, 5:10] = 1.2e-3  # half of the wide hole, 20 % too deep
    found[0, 0] = 1e-3  # nothing is there
    marks = plate_scores(Projection.of_depth(found), label(), holes_of(label(), PIXEL), PIXEL)
    assert marks["iou"] == pytest.approx(40 / (89 + 1))
    assert marks["dice"] == pytest.approx(80 / (41 + 89))
    assert marks["precision"] == pytest.approx(40 / 41)
    assert marks["recall"] == pytest.approx(40 / 89)
    assert marks["depth_abs_rel"] == pytest.approx(0.2)
    assert marks["depth_rmse"] == pytest.approx(0.2e-3)
    assert marks["wide_recall"] == pytest.approx(40 / 80)
    assert marks["wide_iou"] == pytest.approx(40 / 81)
    assert marks["false_regions"] == marks["wide_false_regions"] == 1


def test_a_region_that_touches_a_hole_is_not_false_and_two_apart_are_two():
    found = label()
    found[13, 13:17] = 1e-3  # a rim of the wide hole
    assert plate_scores(Projection.of_depth(found), label(), holes_of(label(), PIXEL), PIXEL)["false_regions"] == 0
    found[35, 1:3] = found[35, 5:7] = 1e-3
    assert plate_scores(Projection.of_depth(found), label(), holes_of(label(), PIXEL), PIXEL)["false_regions"] == 2


def test_narrow_holes_and_their_surroundings_count_neither_way_among_the_wide():
    holes = holes_of(label(), PIXEL)
    found = label()
    found[23:30, 23:30] = 0.5e-3  # a blur around the narrow hole, 2 pixels = 1 mm wide, within its depth of 2 mm
    marks = plate_scores(Projection.of_depth(found), label(), holes, PIXEL)
    assert marks["wide_iou"] == 1.0
    assert marks["iou"] == pytest.approx(89 / (80 + 49))
    assert marks["wide_depth_abs_rel"] == 0.0
    assert marks["depth_abs_rel"] > 0


def test_without_a_wide_hole_there_are_no_such_marks():
    depth = label()
    depth[5:13, 5:15] = np.nan
    marks = plate_scores(Projection.of_depth(depth), depth, holes_of(depth, PIXEL), PIXEL)
    assert marks["wide_iou"] is None
    assert marks["iou"] == 1.0
    nothing = plate_scores(Projection.of_depth(np.full((40, 40), np.nan)), depth, holes_of(depth, PIXEL), PIXEL)
    assert (nothing["iou"], nothing["precision"], nothing["recall"]) == (0.0, None, 0.0)


def test_every_hole_says_whether_it_was_found_and_how_deep():
    found = np.full((40, 40), np.nan)
    found[5:13, 5:11] = 1.1e-3
    wide, narrow = hole_facts(Projection.of_depth(found), holes_of(label(), PIXEL))
    assert wide["share"] == pytest.approx(0.6)
    assert wide["found_depth"] == pytest.approx(1.1e-3)
    assert (narrow["share"], narrow["found_depth"]) == (0.0, None)
    mask_only = Projection(np.isfinite(label()), np.full((40, 40), np.nan))
    assert [h["found_depth"] for h in hole_facts(mask_only, holes_of(label(), PIXEL))] == [None, None]


def test_images_are_resized_by_the_pixel_under_each_centre():
    image = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(resized(image, (4, 6)), np.repeat(np.repeat(image, 2, 0), 2, 1))
    np.testing.assert_array_equal(resized(resized(image, (4, 6)), (2, 3)), image)
