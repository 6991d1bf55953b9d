"""The curvature of a weak sheet: a positive form that is the Gauss-Newton one of the real model."""

import dataclasses

import numpy as np
import pytest
import torch

from nefty.inversion.evidence.curvature import Curvature, Information
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import SheetFit
from support.weak_films import SLAB, SPREAD, TIMES, contrast_of, disc

SHAPE, ALONG, LAYERS, WEAK = (20, 22), (1.0, 1.4), 12, 0.02
CELL = SLAB.thickness / LAYERS
CONTRAST = contrast_of(np.zeros((len(TIMES), *SHAPE)))
PLACES = {"middle": (10, 11), "edge": (0, 11), "corner": (0, 0)}


def curvature_at(cells):
    return Curvature(CONTRAST, SLAB, ALONG, cells * CELL, CELL)


def inner(one, other):
    return sum(float((a * b).sum()) for a, b in zip(one, other, strict=True))


def test_it_is_symmetric_and_positive(rng):
    curvature = curvature_at(5.5)
    one, other = rng.standard_normal((2, 2, *SHAPE))
    assert inner(other, curvature(*one)) == pytest.approx(inner(one, curvature(*other)), rel=1e-9)
    waves = (np.cos(np.pi * k * (np.arange(SHAPE[0]) + 0.5) / SHAPE[0])[:, None] * np.ones(SHAPE) for k in range(20))
    for wave in waves:
        change, moved = (float(factor) * wave for factor in rng.standard_normal(2))
        assert inner((change, moved), curvature(change, moved)) > 0


def test_it_is_linear(rng):
    curvature = curvature_at(5.5)
    one, other = rng.standard_normal((2, 2, *SHAPE))
    both = np.stack(curvature(*(2 * one - 3 * other)))
    np.testing.assert_allclose(both, 2 * np.stack(curvature(*one)) - 3 * np.stack(curvature(*other)), atol=1e-6)


@pytest.fixture(scope="module")
def fit():
    return SheetFit(CONTRAST, SLAB, ALONG, SheetSettings(layers=LAYERS))


def slopes(fit, cells, under):
    """What the frames of the real model change by insulation under those pixels, and by depth over insulation."""
    at = np.full(SHAPE, cells)

    def shown(moved):
        with torch.no_grad():
            c, deep = torch.from_numpy(WEAK * under).float(), torch.from_numpy(at + moved).float()
            return fit.predicted(c, deep, at, torch.zeros(SHAPE)).double().numpy()

    sound = fit.predicted(torch.zeros(SHAPE), torch.from_numpy(at).float(), at, torch.zeros(SHAPE)).double().numpy()
    return (shown(0.0) - sound) / WEAK, (shown(0.25) - shown(-0.25)) / 0.5 / WEAK


def forms(curvature, under):
    """The quadratic forms (cc, zz) and the mixed one of a change that is 1 under those pixels."""
    nothing, change = np.zeros(SHAPE), under.astype(float)
    of_change, mixed = (float((change * slope).sum()) for slope in curvature(change, nothing))
    return of_change, float((change * curvature(nothing, change)[1]).sum()), mixed


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cells", [3.5, 5.5, 8.5])
def test_it_is_that_of_the_real_model_wherever_a_sheet_lies(fit, place, cells):
    """Of sheets of 7 pixels, half and a quarter of which lie within the frame at its edges, which are mirrors.

    The model's cells, and the floor of the curvature, cost a few per cent; at an edge a curvature without mirrors would
    be too small by half and more.
    """
    under = disc(SHAPE, PLACES[place], 3.2)
    by_c, by_z = (CONTRAST.whitened(slope) for slope in slopes(fit, cells, under))
    of_c, of_z, mixed = forms(curvature_at(cells), under)
    assert of_c == pytest.approx((by_c**2).sum(), rel=0.08)
    steeper = 0.18 if cells < 5 else 0.08  # between two faces far apart the slope is steeper than that of the curve
    assert of_z == pytest.approx((by_z**2).sum(), rel=steeper)
    assert mixed == pytest.approx((by_c * by_z).sum(), rel=0.12)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cells", [3.5, 8.5])
def test_it_is_a_bound_of_the_curvature_of_a_fit(fit, place, cells):
    """A fit leaves a plane of each frame free, which takes much of what such a sheet shows in so small a frame."""
    under = disc(SHAPE, PLACES[place], 3.2)
    real = float((fit._whitened(torch.from_numpy(slopes(fit, cells, under)[0]).float()) ** 2).sum())
    assert 1.0 < forms(curvature_at(cells), under)[0] / real < 1.55


@pytest.mark.parametrize(("place", "more"), [("middle", 1.0), ("edge", 2**0.5), ("corner", 2.0)])
@pytest.mark.parametrize("cells", [3.5, 5.5, 8.5])
def test_information_is_what_the_model_shows_of_one_pixel(fit, place, more, cells):
    """In the middle; at an edge, the mirror shows a part of it a second time: more is known by less than ``more``."""
    by_c, _ = slopes(fit, cells, disc(SHAPE, PLACES[place], 0.5))
    known = float(Information(CONTRAST, SLAB, ALONG)(cells * CELL))
    real = float(np.sqrt((CONTRAST.whitened(by_c) ** 2).sum()))
    assert 0.84 * known < real < 1.03 * more * known
    if place != "middle":
        assert real > 1.15 * known


def test_information_halves_when_the_scatter_doubles_and_has_the_shape_of_the_depths():
    depths = SLAB.thickness * np.linspace(0.1, 0.9, 6).reshape(2, 3)
    twice = dataclasses.replace(CONTRAST, spread=2 * SPREAD)
    known = Information(CONTRAST, SLAB, ALONG)(depths)
    assert known.shape == depths.shape
    np.testing.assert_allclose(Information(twice, SLAB, ALONG)(depths), known / 2, rtol=1e-9)
    assert (known > 0).all()
    assert known[0, 0] > 3 * known[-1, -1]  # deep ones show less
