"""The fit of a sheet: exact gradients, and a planted sheet comes back from frames of finer cells."""

import numpy as np
import pytest
import torch

from nefty.inversion.evidence import sheets
from nefty.inversion.evidence.columns import by_columns
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import SheetFit
from support.weak_films import SLAB, TIMES, contrast_of, disc, shown_by

ALONG = (1.0, 1.4)
EVEN = np.ones((10, 12))


class Asked(Exception):
    """Instead of a fit."""


def cost_of(monkeypatch, fit, *given):
    """The cost that a fit minimises, where it begins, and within which bounds."""
    kept = {}

    def catch(cost, start, *, bounds, **_):
        kept.update(cost=cost, start=start, bounds=np.array(bounds))
        raise Asked

    monkeypatch.setattr(sheets, "minimize", catch)
    with pytest.raises(Asked):
        fit.fit(*given)
    return kept["cost"], kept["start"], kept["bounds"]


@pytest.mark.parametrize("insulation", [0.15, 0.75])
def test_the_gradient_is_that_of_the_cost(monkeypatch, rng, insulation):
    """By differences of frames in single precision; where the depth does not cross a face, at which it bends.

    The penalty of uneven depths is differentiated by the depths only: rough depths shall not lower the insulation.
    """
    shape = (7, 8)
    support = disc(shape, (3, 4), 2.5)
    contrast = contrast_of(shown_by(0.3 * disc(shape, (3, 4), 2), 0.4, along=ALONG, layers=20), rng)
    depth = np.full(shape, 0.447 * SLAB.thickness)
    begin = insulation * (1 + 0.1 * rng.standard_normal(shape))
    rough = np.append(np.zeros(support.sum()), 0.02 * rng.standard_normal(support.sum()))
    for stiffness, of_depths in ((0.0, False), (30.0, True)):
        fit = SheetFit(contrast, SLAB, ALONG, SheetSettings(layers=10, stiffness=stiffness))
        cost, start, bounds = cost_of(monkeypatch, fit, support, begin, depth)
        assert (start >= bounds[:, 0]).all()
        assert (start <= bounds[:, 1]).all()
        start = start * (1 + rough)
        _, gradient = cost(start)
        part = (np.arange(len(start)) >= support.sum()) == of_depths
        way = part * rng.standard_normal(len(start))
        way *= 0.02 * np.linalg.norm(start[part]) / np.linalg.norm(way)
        slope = (cost(start + way)[0] - cost(start - way)[0]) / 2
        exact = float(gradient @ way)
        typical = np.linalg.norm(gradient[part]) * np.linalg.norm(way) / np.sqrt(part.sum())
        # Single precision: 1e-6 of a frame over a spread of 1e-3, times residuals, large where a start is far off.
        assert slope == pytest.approx(exact, rel=0.03, abs=0.1 * typical)


@pytest.fixture(scope="module")
def planted():
    under = disc((24, 26), (11, 13), 5)
    values = shown_by(0.15 * under, 0.45, along=ALONG)
    return under, contrast_of(values, np.random.default_rng(3))


@pytest.fixture(scope="module")
def fitted(planted):
    under, contrast = planted
    fit = SheetFit(contrast, SLAB, ALONG, SheetSettings(layers=12, steps=25))
    support = disc(under.shape, (11, 13), 8)
    begin, _ = by_columns(contrast, SLAB, 12)
    return fit, fit.fit(support, np.clip(begin, 0.02, 0.4) * support, np.full(under.shape, 0.36 * SLAB.thickness))


def test_a_planted_sheet_comes_back(planted, fitted):
    """Its depth lies between two faces of the fit's cells, which are three times as thick as those of the frames."""
    (under, _), (_, sheet) = planted, fitted
    core = under & (sheet.insulation > 0.1)
    depth = np.average(sheet.depth[core], weights=sheet.insulation[core])
    assert depth == pytest.approx(0.45 * SLAB.thickness, rel=0.03)
    found = sheet.insulation > 0.5 * np.quantile(sheet.insulation[under], 0.9)
    assert (found & under).sum() / (found | under).sum() > 0.8
    assert np.median(sheet.resistance[under]) == pytest.approx(0.15, rel=0.15)
    assert not sheet.insulation[~sheet.support].any()
    assert sheet.cost[-1] < 0.75 * sheet.cost[0]


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


def test_what_insulates_perfectly_is_open_to_the_back():
    """Beside it nothing flows below: it shows more than a resistance alone would."""
    fit = SheetFit(contrast_of(np.zeros((len(TIMES), *EVEN.shape))), SLAB, (1.0, 1.0), SheetSettings(layers=10))
    under = torch.from_numpy(disc(EVEN.shape, (5, 6), 2.5)).float()
    at, reference = torch.full(EVEN.shape, 4.0), np.full(EVEN.shape, 4.0)
    with torch.no_grad():
        closed, hole = (fit.predicted(c * under, at, reference).numpy() for c in (0.59, 0.97))
    assert hole[:, 5, 6].max() > 1.2 * closed[:, 5, 6].max()
    assert hole[-1, 5, 6] > closed[-1, 5, 6]
