"""The fit of a sheet: exact gradients, a curvature in its units, and a planted sheet comes back from finer cells."""

import numpy as np
import pytest
import torch

from nefty.inversion.evidence import sheets
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import EMPTY, SheetFit, _variation, emptied
from support.weak_films import SLAB, TIMES, contrast_of, disc, shown_by

ALONG = (1.0, 1.4)
EVEN = np.ones((10, 12))
SHAPE = (9, 10)
SUPPORT = disc(SHAPE, (4, 5), 3.5)
OWNER = (np.indices(SHAPE)[1] >= 5).astype(np.int64)  # two regions, left and right
DEPTH = SLAB.thickness * np.where(OWNER == 0, 0.447, 0.365)  # 4.47 and 3.65 of 10 cells


class Asked(Exception):
    """Instead of a fit."""


class Handed:
    """What a fit hands to its descent."""

    def __init__(self, misfit, curvature, penalty, start, bounds, reach, runs, settled):
        self.misfit, self.curvature, self.penalty, self.start = misfit, curvature, penalty, start
        self.bounds, self.reach, self.runs, self.settled = bounds, reach, runs, settled

    def slope(self, way):
        """Of misfit and penalty along a way, by differences, and by the gradients."""
        ahead, behind = self.start + way, self.start - way
        here = [self.misfit(self.start).gradient, self.penalty(self.start)[1]]
        ends = [(self.misfit(x).value, self.penalty(x)[0]) for x in (ahead, behind)]
        return [(a - b) / 2 for a, b in zip(*ends, strict=True)], [float(g @ way) for g in here]


def handed(monkeypatch, fit, *given):
    kept = []

    def catch(*arguments):
        kept.append(Handed(*arguments))
        raise Asked

    monkeypatch.setattr(sheets, "descend", catch)
    with pytest.raises(Asked):
        fit.fit(*given)
    return kept[0]


@pytest.fixture
def made(monkeypatch, rng):
    """The problem of a fit that begins at insulations around a value, to frames of a planted sheet."""

    def make(insulation):
        contrast = contrast_of(shown_by(0.3 * disc(SHAPE, (4, 5), 2), 0.4, along=ALONG, layers=20), rng)
        fit = SheetFit(contrast, SLAB, ALONG, SheetSettings(layers=10))
        begin = insulation * (1 + 0.03 * rng.standard_normal(SHAPE))
        return handed(monkeypatch, fit, SUPPORT, begin, DEPTH, OWNER), begin

    return make


def of_depths(problem):
    """Which unknowns are depths."""
    return np.arange(len(problem.start)) >= SUPPORT.sum()


@pytest.mark.parametrize("insulation", [0.15, 0.75])
@pytest.mark.parametrize("deep", [False, True], ids=["insulation", "depth"])
def test_the_gradients_are_those_of_misfit_and_penalty(made, rng, insulation, deep):
    """By differences of frames in single precision.

    Where no depth crosses a face and no insulation the ends of what opens to the back, at both of which it bends.
    """
    problem, _ = made(insulation)
    part = of_depths(problem) == deep
    way = part * rng.standard_normal(len(problem.start))
    way *= 0.005 * np.linalg.norm(problem.start[part]) / np.linalg.norm(way)
    (misfit, _), (of_misfit, _) = problem.slope(way)
    typical = np.linalg.norm(problem.misfit(problem.start).gradient[part]) * np.linalg.norm(way) / np.sqrt(part.sum())
    # Single precision: 1e-6 of a frame over a spread of 1e-3, times residuals, large where a start is far off.
    assert misfit == pytest.approx(of_misfit, rel=0.03, abs=0.1 * typical)
    (_, penalty), (_, of_penalty) = problem.slope(1e-3 * way)
    assert penalty == pytest.approx(of_penalty, rel=1e-4, abs=1e-9)
    assert (of_penalty == 0) == deep  # depths are even within a region, and free


def test_it_begins_where_it_is_told_within_its_bounds(made):
    """Insulations of the pixels of the support, then one depth of each region, in units of what is known of them."""
    problem, begin = made(0.15)
    lowest, highest = problem.bounds
    deep = of_depths(problem)
    assert deep.sum() == 2
    assert (lowest < problem.start).all()
    assert (problem.start < highest).all()
    assert not lowest[~deep].any()
    ratio = problem.start[~deep] / begin[SUPPORT]
    left = OWNER[SUPPORT] == 0
    np.testing.assert_allclose(ratio[left], ratio[left][0])
    np.testing.assert_allclose(ratio[~left], ratio[~left][0])
    assert ratio[left][0] < ratio[~left][0]  # of what lies deeper less is known
    np.testing.assert_allclose(problem.start[deep] / problem.start[deep][0], [1, 0.365 / 0.447])
    assert (problem.reach > 0).all()


@pytest.mark.parametrize("deep", [False, True], ids=["insulation", "depth"])
def test_the_curvature_is_symmetric_and_about_that_of_the_misfit(monkeypatch, rng, deep):
    """Of a weak sheet, by differences of gradients along an even change: in the units of the unknowns.

    It is a bound, since a fit leaves a plane of each frame free: 20 to 45 % too large, more for wider sheets.
    """
    shape, weak = (20, 22), 0.06
    support, depth = disc(shape, (9, 11), 3.2), np.full(shape, 0.45 * SLAB.thickness)
    share = 0.45 * weak / (1 - weak)
    contrast = contrast_of(shown_by(share * support, 0.45, along=ALONG, layers=20))
    fit = SheetFit(contrast, SLAB, ALONG, SheetSettings(layers=10))
    problem = handed(monkeypatch, fit, support, weak * support, depth, np.zeros(shape, dtype=np.int64))
    product = problem.curvature(problem.start)
    one, other = rng.standard_normal((2, len(problem.start)))
    assert other @ product(one) == pytest.approx(one @ product(other), rel=1e-9)
    assert one @ product(one) > 0
    changed = (np.arange(len(problem.start)) == support.sum()) == deep
    way = (0.05 if deep else 0.3) * changed * problem.start
    ends = [problem.misfit(x).gradient for x in (problem.start + way, problem.start - way)]
    assert 1.0 < float(product(way) @ way) / (float((ends[0] - ends[1]) @ way) / 2) < 1.6


@pytest.fixture(scope="module")
def planted():
    under = disc((24, 26), (11, 13), 5)
    values = shown_by(0.15 * under, 0.45, along=ALONG)
    return under, contrast_of(values, np.random.default_rng(3))


@pytest.fixture(scope="module")
def fitted(planted):
    """From nothing, and a depth that is wrong by a fifth; with a variation that hardly lowers the sheet."""
    under, contrast = planted
    fit = SheetFit(contrast, SLAB, ALONG, SheetSettings(layers=12, variation=1.0))
    support, owner = disc(under.shape, (11, 13), 8), np.zeros(under.shape, dtype=np.int64)
    return fit, fit.fit(support, np.zeros(under.shape), np.full(under.shape, 0.36 * SLAB.thickness), owner)


def test_a_planted_sheet_comes_back(planted, fitted):
    """Its depth lies between two faces of the fit's cells, which are three times as thick as those of the frames."""
    (under, _), (_, sheet) = planted, fitted
    assert np.ptp(sheet.depth[sheet.support]) == 0  # one region
    assert sheet.depth[11, 13] == pytest.approx(0.45 * SLAB.thickness, rel=0.03)
    found = sheet.insulation > 0.5 * np.quantile(sheet.insulation[under], 0.9)
    assert (found & under).sum() / (found | under).sum() > 0.8
    assert np.median(sheet.resistance[under]) == pytest.approx(0.15, rel=0.15)
    assert not sheet.insulation[~sheet.support].any()
    assert min(sheet.cost) < 0.75 * sheet.cost[0]


def test_resistance_is_what_the_insulation_says_at_its_reference(fitted):
    _, sheet = fitted
    c = sheet.resistance / (sheet.resistance + sheet.reference / SLAB.thickness)
    np.testing.assert_allclose(c, sheet.insulation, atol=1e-12)


def test_what_it_explains_is_what_the_frames_show(planted, fitted):
    (under, contrast), (fit, sheet) = planted, fitted
    explained = fit.explained(sheet)
    left = (contrast.whitened(contrast.values - explained) ** 2).mean()
    before = (contrast.whitened(contrast.values)[:, under] ** 2).mean()
    assert left < 1.15 * (len(TIMES) - 2) / len(TIMES)
    assert before > 5
    assert np.abs(fit.explained(sheet, np.zeros(under.shape, dtype=bool))).max() < 1e-5
    half = np.indices(under.shape)[1] < 13
    parts = fit.explained(sheet, half) + fit.explained(sheet, ~half)
    np.testing.assert_allclose(parts, explained, atol=0.2 * explained.max())  # all but linear


def test_regions_of_one_fit_have_depths_of_their_own(rng):
    """Two sheets, both begun at the depth between them."""
    shape, shares = (18, 36), (0.3, 0.55)
    discs = [disc(shape, (8, column), 5) for column in (9, 26)]
    first, second = (shown_by(r * d, s, layers=20) for r, d, s in zip((0.1, 0.2), discs, shares, strict=True))
    fit = SheetFit(contrast_of(first + second, rng), SLAB, (1.0, 1.0), SheetSettings(layers=14, variation=3.0))
    owner = (np.indices(shape)[1] >= 18).astype(np.int64)
    support = disc(shape, (8, 9), 7) | disc(shape, (8, 26), 7)
    sheet = fit.fit(support, np.zeros(shape), np.full(shape, 0.42 * SLAB.thickness), owner)
    for number, share in enumerate(shares):
        (depth,) = np.unique(sheet.depth[support & (owner == number)])
        assert depth == pytest.approx(share * SLAB.thickness, rel=0.08)


def test_below_a_hole_there_is_nothing():
    """Nothing flows beside it: it shows more than a resistance alone would."""
    fit = SheetFit(contrast_of(np.zeros((len(TIMES), *EVEN.shape))), SLAB, (1.0, 1.0), SheetSettings(layers=10))
    under = torch.from_numpy(disc(EVEN.shape, (5, 6), 2.5)).float()
    at, reference = torch.full(EVEN.shape, 4.0), np.full(EVEN.shape, 4.0)
    with torch.no_grad():
        closed, hole = (fit.predicted(0.97 * under, at, reference, EMPTY * h * under).numpy() for h in (0, 1))
    assert hole[:, 5, 6].max() > 1.05 * closed[:, 5, 6].max()
    assert hole[-1, 5, 6] > closed[-1, 5, 6]


def test_what_insulates_perfectly_pixel_by_pixel_is_taken_for_a_hole():
    assert emptied(torch.tensor([0.0, 0.6, 0.9, 0.99])).tolist() == pytest.approx([0.0, 0.0, EMPTY, EMPTY], abs=1e-6)


def test_the_variation_is_zero_of_what_is_even_and_its_gradient_is_that_of_differences(rng):
    assert _variation(np.full((5, 6), 0.7))[0] == 0
    u, way = rng.standard_normal((2, 5, 6))
    _, slope = _variation(u)
    step = 1e-6
    difference = (_variation(u + step * way)[0] - _variation(u - step * way)[0]) / (2 * step)
    assert difference == pytest.approx(float((slope * way).sum()), rel=1e-6)
    assert slope.sum() == pytest.approx(0, abs=1e-12)  # even changes cost nothing


def test_the_variation_of_a_step_is_its_height_times_its_length():
    """Less than the smoothing, of each pixel along it."""
    u = np.zeros((41, 12))
    u[:, 6:] = 3.0
    assert _variation(u)[0] == pytest.approx(3.0 * 40, rel=0.02)
