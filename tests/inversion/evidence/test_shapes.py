"""A hill becomes the even ellipse or rectangle that explains the frames; what none explains stays as it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.grid import Grid
from nefty.inversion.evidence.hills import outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.shapes import Shape, ShapeFit, refined_ratios, shaped
from nefty.inversion.evidence.sheets import MOST, Sheet, SheetFit
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet
from support.weak_films import PIXEL, SLAB, TIMES, contrast_of, disc, shown_by

SHAPE = (30, 30)
SETTINGS = SheetSettings(layers=10)
DEPTH = 0.5 * SLAB.thickness
C = 0.4
AWAY = np.hypot(*(np.indices(SHAPE) - 15))
BLURRED = 0.22 * np.exp(-((AWAY / 6) ** 2)) * (AWAY < 12)


def sheet_of(insulation, depth=DEPTH):
    deep = np.full(SHAPE, depth)
    resistance = depth / SLAB.thickness * insulation / (1 - insulation)
    return Sheet(insulation > 0, insulation, deep, deep, resistance, [], np.zeros(SHAPE))


def fit_of(mask, noise=None):
    values = shown_by(0.5 * C / (1 - C) * mask, 0.5, layers=10)
    return SheetFit(contrast_of(values, noise), SLAB, (1.0, 1.0), SETTINGS)


def a_shape(kind, row=15.0, column=15.0, a=5.0, b=3.0, angle=0.4):
    logit = np.log(C / (MOST - C))
    return Shape(kind, False, np.array([row, column, np.log(a), np.log(b), angle, logit, 5.0]), 0.0, np.empty(0))


def always(_sheet, _pixels):
    return True


def iou(one, other):
    return (one & other).sum() / (one | other).sum()


@pytest.fixture(scope="module")
def round_fit():
    return fit_of(disc(SHAPE, (15, 15), 3.2))


def test_a_wide_weak_hill_becomes_the_even_sheet_that_is_there(round_fit):
    under, blurred = disc(SHAPE, (15, 15), 3.2), sheet_of(BLURRED)
    found = shaped(round_fit, blurred, SETTINGS, always)
    (before,), (after,) = outlines(blurred, SETTINGS), outlines(found, SETTINGS)
    assert iou(before, under) < 0.5
    assert iou(after, under) > 0.8
    assert found.insulation.max() == pytest.approx(C, abs=0.06)
    assert round_fit.misfit(found) < 0.1 * round_fit.misfit(blurred)


def test_a_hill_that_does_not_stand_out_goes_and_the_stronger_one_is_a_shape_by_then(round_fit):
    """What is asked of the weak one is what stands out from the shape of the strong one."""
    weak, asked = disc(SHAPE, (5, 26), 2.2), []

    def strong_ones(rest, pixels):
        asked.append((rest, pixels))
        return not weak[pixels].all()

    found = shaped(round_fit, sheet_of(np.maximum(BLURRED, 0.1 * weak)), SETTINGS, strong_ones)
    assert [bool(weak[pixels].all()) for _, pixels in asked] == [False, True]
    rest = asked[1][0]
    assert not rest.insulation[weak].any()
    assert rest.insulation.max() > 1.3 * BLURRED.max()
    assert not found.insulation[weak].any()
    assert not found.resistance[weak].any()
    assert iou(outlines(found, SETTINGS)[0], disc(SHAPE, (15, 15), 3.2)) > 0.8


def test_the_depth_is_found_with_the_shape(round_fit):
    found = shaped(round_fit, sheet_of(BLURRED, 0.62 * SLAB.thickness), SETTINGS, always)
    (mask,) = outlines(found, SETTINGS)
    assert np.unique(found.depth[mask]) == pytest.approx([DEPTH], rel=0.05)


def test_a_rectangle_is_told_from_an_ellipse():
    rectangle = (np.abs(np.indices(SHAPE)[0] - 15) <= 3) & (np.abs(np.indices(SHAPE)[1] - 15) <= 7)
    one = ShapeFit(fit_of(rectangle), sheet_of(0.35 * rectangle), rectangle, SETTINGS)
    assert one("rectangle", hole=False).cost < one("ellipse", hole=False).cost


def test_what_the_frames_hardly_tell_stays_where_the_pixels_have_it():
    """Noise a hundred times the contrast: nothing moves the outline, and the spread of the unknowns says so."""
    under = disc(SHAPE, (15, 15), 3.2)
    clear, noisy = (ShapeFit(fit, sheet_of(C * under), under, SETTINGS) for fit in (fit_of(under), _drowned(under)))
    found, told = (one("ellipse", hole=False) for one in (noisy, clear))
    assert np.abs((found.unknowns - noisy._start)[:4]).max() < 0.2
    assert found.covariance[6, 6] > 10 * told.covariance[6, 6]


def _drowned(under):
    values = shown_by(0.5 * C / (1 - C) * under, 0.5, layers=10)
    noise = 100 * np.abs(values).max() * np.random.default_rng(3).standard_normal(values.shape)
    return SheetFit(contrast_of(values + noise), SLAB, (1.0, 1.0), SETTINGS)


def test_what_no_simple_shape_explains_stays_as_fitted():
    rows, columns = np.indices(SHAPE)
    cross = ((np.abs(rows - 15) <= 1) & (np.abs(columns - 15) <= 9)) | (
        (np.abs(columns - 15) <= 1) & (np.abs(rows - 15) <= 9)
    )
    right = sheet_of(C * cross)
    assert np.array_equal(shaped(fit_of(cross), right, SETTINGS, always).insulation, right.insulation)


def test_a_hole_that_loses_heat_on_both_faces_is_as_deep_as_it_is():
    """Open to the back, with losses that matter, by a model whose holes have walls: 23 % too shallow without them."""
    h, depth = 4e-5, 0.2
    slab = WeakSheet(SLAB.alpha, SLAB.thickness, h, h)
    under = disc(SHAPE, (15, 15), 5)
    fit = SheetFit(contrast_of(_hole(under, depth, h)), slab, (1.0, 1.0), SETTINGS)
    found = shaped(fit, sheet_of(0.9 * under, 0.25 * SLAB.thickness), SETTINGS, always)
    (mask,) = outlines(found, SETTINGS)
    assert np.unique(found.depth[mask]) == pytest.approx([depth * SLAB.thickness], rel=0.08)


def _hole(under, depth, h, layers=20):
    """ln(T/T_sound) over a hole that is open to the back, (t, y, x)."""
    grid = Grid((layers, *SHAPE), (SLAB.thickness, SHAPE[0] * PIXEL[0], SHAPE[1] * PIXEL[1]))
    flash = np.zeros(grid.shape)
    flash[0] = layers
    boundary = Boundary("adiabatic", "robin", "robin", h_front=h, h_back=h)
    air = (np.arange(layers) >= depth * layers)[:, None, None] & under
    alpha = np.full(grid.shape, SLAB.alpha)
    hole, solid = (HeatModel(grid, TIMES, flash, boundary, open_cells=cells)(alpha) for cells in (air, None))
    return np.log(hole.double().numpy() / solid.double().numpy())


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["ellipse", "rectangle"]),
    row=st.floats(12, 18),
    column=st.floats(12, 18),
    a=st.floats(1.5, 8),
    b=st.floats(1.5, 8),
    angle=st.floats(-3, 3),
)
def test_a_shape_covers_its_area(kind, row, column, a, b, angle):
    covered = a_shape(kind, row, column, a, b, angle).covered(SHAPE)
    area = np.pi * a * b if kind == "ellipse" else 4 * a * b
    assert covered.min() >= 0
    assert covered.max() <= 1
    assert covered.sum() == pytest.approx(area, rel=0.12)


def test_pixels_beside_a_shape_keep_what_they_have(round_fit):
    under, other = disc(SHAPE, (15, 15), 3.2), disc(SHAPE, (5, 5), 2)
    sheet = sheet_of(C * under + 0.1 * other)
    one = ShapeFit(round_fit, sheet, under, SETTINGS)
    made = one.sheet(a_shape("ellipse", a=3.2, b=3.2))
    assert np.array_equal(made.insulation[other], sheet.insulation[other])


@pytest.mark.parametrize(("wrong", "least", "most"), [(1.6, -0.5, -0.1), (0.7, 0.07, 0.4), (1.0, -0.15, 0.15)])
def test_wrong_ratios_move_towards_the_true_ones_and_right_ones_hardly(wrong, least, most):
    """Both by the same factor."""
    true = (2.0, 3.0)
    stated = (true[0] * wrong, true[1] * wrong)
    moved = np.log(np.array(refined_ratios(*_fitted(stated, true), SETTINGS)) / stated)
    assert moved[0] == pytest.approx(moved[1])
    assert least < moved[0] < most


def test_a_part_that_is_alike_in_all_directions_is_not_asked():
    assert refined_ratios(*_fitted((1.0, 1.0), (1.0, 1.0)), SETTINGS) == (1.0, 1.0)


def _fitted(stated, true):
    shape = (28, 28)
    values = shown_by(1.5 * disc(shape, (14, 14), 5), 0.4, layers=10, along=true)
    fit = SheetFit(contrast_of(values, np.random.default_rng(2)), SLAB, stated, SETTINGS)
    deep = np.full(shape, 0.4 * SLAB.thickness)
    return fit, fit.fit(disc(shape, (14, 14), 9), np.zeros(shape), deep, np.zeros(shape, dtype=np.int64))


def test_a_region_that_insulates_more_keeps_its_pixels_and_its_depth(round_fit):
    """A shape that grows over a neighbour used to take the neighbour's depth along."""
    strong, weak = disc(SHAPE, (15, 10), 4), disc(SHAPE, (15, 19), 4)
    sheet = sheet_of(np.where(strong, 0.9, 0.2 * weak))
    sheet.depth[strong] = 0.3 * SLAB.thickness
    one = ShapeFit(round_fit, sheet, weak & ~strong, SETTINGS)
    found = one.sheet(a_shape("ellipse", column=15.0, a=9.0, b=4.0, angle=0.0))
    assert (found.depth[strong] == 0.3 * SLAB.thickness).all()
    assert (found.insulation[strong] == 0.9).all()
    assert found.depth[weak & ~strong] == pytest.approx(DEPTH)
