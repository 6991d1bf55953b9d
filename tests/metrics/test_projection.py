"""Masks and depths seen from the front: by hand, by the paper's formulas, and where there is nothing to see."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import median_abs_deviation

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.metrics.projection import DepthScore, Projection, depth_score, project, projection_score
from nefty.result.indications.depth_map import depth_map
from nefty.result.indications.segmentation import Absolute, Paper2D, segment
from nefty.synth.specimen import draw_specimen
from support.volumes import blurred

GRID = Grid((8, 12, 14), (2.0, 12.0, 14.0))  # cells of 0.25 x 1 x 1
BULK = np.full(8, 0.15)
NAN = math.nan


@pytest.fixture
def part():
    """Cells 2, 3, 4 of 4 x 5 pixels are defect: top at 0.5, median at 0.875, the centre of cell 3."""
    alpha = np.full(GRID.shape, 0.15)
    alpha[2:5, 3:7, 4:9] = 0.01
    return alpha


@pytest.fixture
def footprint():
    mask = np.zeros(GRID.shape[1:], bool)
    mask[3:7, 4:9] = True
    return mask


@pytest.mark.parametrize("rule", ["default", "paper-2d", "absolute", 0.03, Absolute(0.02), Paper2D(sigmas=3)])
@pytest.mark.parametrize(("depth", "expected"), [("top", 0.5), ("median", 0.875)])
def test_a_block_by_hand(part, footprint, rule, depth, expected):
    seen = project(part, GRID, BULK, rule=rule, depth=depth)
    assert np.array_equal(seen.mask, footprint)
    assert seen.depth[footprint] == pytest.approx(expected)
    assert np.isnan(seen.depth[~footprint]).all()


def test_the_median_of_an_even_number_of_cells_lies_between_them(part, footprint):
    part[5, 3:7, 4:9] = 0.01  # cells 2 to 5
    assert project(part, GRID, BULK, rule=0.03, depth="median").depth[footprint] == pytest.approx(1.0)


def test_by_default_it_is_the_default_rule_and_the_top(part):
    seen, named = project(part, GRID, BULK), project(part, GRID, BULK, rule="default", depth="top")
    assert np.array_equal(seen.mask, named.mask)
    assert np.array_equal(seen.depth, named.depth, equal_nan=True)


def test_the_background_of_a_truth_need_not_be_given(part):
    part[4:] *= 0.8  # strata
    given_, guessed = project(part, GRID, np.repeat([0.15, 0.12], 4)), project(part, GRID)
    assert np.array_equal(given_.mask, guessed.mask)
    assert np.array_equal(given_.depth, guessed.depth, equal_nan=True)


def test_sides_join_where_they_are_periodic():
    alpha = np.full(GRID.shape, 0.15)
    alpha[2, 3:5, [0, 1, 12, 13]] = 0.01  # 4 + 4 cells: 8 together, fewer are dropped
    assert project(alpha, GRID, BULK, lateral="periodic").mask.sum() == 8
    assert project(alpha, GRID, BULK).mask.sum() == 0


def test_the_papers_projection_is_its_formulas(rng):
    specimen = draw_specimen(5)
    grid = Grid((16, 32, 32), (1.0, 10.0, 10.0))
    background = specimen.background(grid)
    alpha = blurred(specimen.alpha(grid), background) * rng.normal(1, 0.02, grid.shape)
    d = np.maximum(1 - alpha.mean(axis=0) / background.mean(), 0)
    mask = d > 2 * median_abs_deviation(d.ravel(), scale=1 / 1.4826)
    voxels = 1 - alpha / background[:, None, None]
    floor = median_abs_deviation(voxels[:, ~mask].ravel(), scale=1 / 1.4826)
    z = (np.arange(16) + 0.5) / 16
    seen = project(alpha, grid, background, rule="paper-2d", depth="median")
    assert np.array_equal(seen.mask, mask)
    assert 0 < mask.sum() < mask.size
    for y, x in np.argwhere(mask):
        column = voxels[:, y, x]
        low = column > min(floor, np.sort(column)[-2])  # where none exceeds the floor, the lowest
        assert seen.depth[y, x] == pytest.approx(np.median(z[low]))


@pytest.mark.parametrize(("rule", "depth"), [("default", "top"), ("paper-2d", "median")])
def test_it_is_what_a_reconstruction_shows(rule, depth):
    specimen = draw_specimen(2, "layered")
    grid = Grid((16, 64, 64), (1.0, 10.0, 10.0))
    background = specimen.background(grid)
    alpha = blurred(specimen.alpha(grid), background)
    found = segment(alpha, background, grid, rule)
    seen = project(alpha, grid, background, rule=rule, depth=depth)
    assert np.array_equal(seen.mask, found.footprint)
    assert np.array_equal(seen.depth, depth_map(alpha, background, grid, found), equal_nan=True)


def test_depth_errors_by_hand():
    true = np.array([[1.0, 2.0, 4.0, 1.0, NAN, 5.0]])
    found = np.array([[1.0, 2.4, 2.0, 1.6, 3.0, NAN]])  # ratios 1, 1.2, 2, 1.6; 1.25^2 = 1.5625, 1.25^3 = 1.953
    assert dataclasses.asdict(depth_score(found, true)) == {
        "mae": pytest.approx((0 + 0.4 + 2 + 0.6) / 4),
        "rmse": pytest.approx(math.sqrt((0.16 + 4 + 0.36) / 4)),
        "abs_rel": pytest.approx((0 + 0.2 + 0.5 + 0.6) / 4),
        "delta1": pytest.approx(2 / 4),
        "delta2": pytest.approx(2 / 4),
        "delta3": pytest.approx(3 / 4),
        "recall": pytest.approx(4 / 5),
    }


DEPTHS = arrays(np.float64, (2, 5), elements=st.one_of(st.just(NAN), st.floats(0.05, 1.0)))


@given(DEPTHS, DEPTHS)
def test_depth_errors_are_eigens_formulas(found, true):
    score = depth_score(found, true)
    pairs = [(d, t) for d, t in zip(found.ravel(), true.ravel(), strict=True) if not (math.isnan(d) or math.isnan(t))]
    known = np.count_nonzero(~np.isnan(true))
    assert score.recall == (pytest.approx(len(pairs) / known) if known else None)
    if not pairs:
        assert score == DepthScore(recall=score.recall)
        return
    n = len(pairs)
    assert score.mae == pytest.approx(sum(abs(d - t) for d, t in pairs) / n)
    assert score.abs_rel == pytest.approx(sum(abs(d - t) / t for d, t in pairs) / n)
    assert score.rmse == pytest.approx(math.sqrt(sum((d - t) ** 2 for d, t in pairs) / n))
    for k, delta in enumerate((score.delta1, score.delta2, score.delta3), start=1):
        assert delta == pytest.approx(sum(max(d / t, t / d) < 1.25**k for d, t in pairs) / n)


def test_depths_of_zero_have_no_relative_error():
    at_face = depth_score([[0.5, 0.5]], [[0.0, 0.5]])
    assert (at_face.mae, at_face.abs_rel, at_face.delta1) == (0.25, 0.0, 1.0)
    only = depth_score([[0.5]], [[0.0]])
    assert (only.mae, only.rmse, only.recall) == (0.5, 0.5, 1.0)
    assert only.abs_rel is only.delta1 is only.delta3 is None
    too_high = depth_score([[0.0]], [[0.5]])
    assert (too_high.abs_rel, too_high.delta3) == (1.0, 0.0)


def test_two_projections_are_compared_where_both_have_a_defect(part):
    true = project(part, GRID, BULK, rule=0.03)
    shifted = np.roll(part, (1, 0, 1), axis=(0, 1, 2))  # a cell deeper, a pixel further: 16 of 20 pixels in common
    score = projection_score(project(shifted, GRID, BULK, rule=0.03), true)
    assert (score.iou, score.dice) == (pytest.approx(16 / 24), pytest.approx(32 / 40))
    assert score.depth == DepthScore(0.25, 0.25, 0.5, 0.0, 1.0, 1.0, recall=0.8)  # 0.75 for 0.5: 1.5 < 1.25^2
    assert score.as_dict() == {
        "iou": score.iou,
        "dice": score.dice,
        "depth_mae": 0.25,
        "depth_rmse": 0.25,
        "depth_abs_rel": 0.5,
        "depth_delta1": 0.0,
        "depth_delta2": 1.0,
        "depth_delta3": 1.0,
        "depth_recall": 0.8,
    }


def test_a_measured_depth_map_is_a_reference_too(part, footprint):
    measured = np.where(footprint, 0.4, NAN)
    score = projection_score(project(part, GRID, BULK), Projection.of_depth(measured))
    assert score.iou == 1
    assert score.depth.abs_rel == pytest.approx(0.25)


def test_empty_projections(part):
    sound = np.full(GRID.shape, 0.15)
    for rule in ("default", "paper-2d", 0.03):
        none, some = project(sound, GRID, BULK, rule=rule), project(part, GRID, BULK, rule=rule)
        assert not none.mask.any()
        assert np.isnan(none.depth).all()
        both = projection_score(none, none)
        assert (both.iou, both.dice, both.depth) == (1, 1, DepthScore())
        missed, false_alarm = projection_score(none, some), projection_score(some, none)
        assert (missed.iou, missed.dice, missed.depth) == (0, 0, DepthScore(recall=0.0))
        assert (false_alarm.iou, false_alarm.dice, false_alarm.depth) == (0, 0, DepthScore())


SOUND = np.full(GRID.shape, 0.15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: project(SOUND, GRID, BULK, depth="bottom"), "depth.*bottom"),
        (lambda: project(SOUND, GRID, BULK, rule="papr-2d"), "paper-2d"),
        (lambda: project(SOUND, GRID, BULK, rule=0.2), "threshold=0.2 is not below the background"),
        (lambda: project(SOUND, GRID, BULK[1:]), r"background has shape \(7,\)"),
        (lambda: project(SOUND, GRID, -BULK), "background holds -0.15"),
        (lambda: project(0 * SOUND, GRID, BULK), "volume holds 0"),
        (lambda: project(SOUND[1:], GRID, BULK), r"\(7, 12, 14\), the grid \(8, 12, 14\)"),
        (lambda: depth_score(np.ones((2, 3)), np.ones((3, 2))), r"\(2, 3\), the true one \(3, 2\)"),
        (lambda: depth_score([1.0], [1.0]), r"depth map has shape \(1,\)"),
        (lambda: Projection.of_depth([[-1.0]]), "negative or infinite.*NaN"),
        (lambda: Projection.of_depth([[math.inf]]), "negative or infinite"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
