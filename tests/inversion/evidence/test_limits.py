"""What would have been seen: discs put into a recording are found where it says so, and not where it does not."""

import dataclasses

import numpy as np
import pytest

from nefty.data.facts import Facts, Units
from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.limits import Reference, disc_contrast, limits, references
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.weighing import SoundPart, Weighing
from nefty.physics.materials import material
from nefty.result.limits import Limits
from support.weak_films import PIXEL, SLAB, TIMES, contrast_of, shown_by

SHAPE = (32, 34)
SETTINGS = EvidenceSettings(
    regions="sheets", depths=(0.25, 0.5), widths=(1.3, 4.0), sheet=SheetSettings(layers=12, variation=1.0)
)
GAP = Reference("a gap", 0.03 * SLAB.thickness / SLAB.alpha)


@pytest.fixture(scope="module")
def part():
    values = np.zeros((len(TIMES), *SHAPE))
    return SoundPart(contrast_of(values, np.random.default_rng(3)), SLAB, (1.0, 1.0), 0.0)


@pytest.fixture(scope="module")
def stated(part):
    return limits(part, Weighing(part, SETTINGS), (GAP,), SETTINGS)


def test_deeper_and_weaker_defects_must_be_wider(part, stated):
    assert stated.diameters[0, 0] < stated.diameters[0, 1]
    weaker = dataclasses.replace(GAP, resistance=GAP.resistance / 2)
    assert (limits(part, Weighing(part, SETTINGS), (weaker,), SETTINGS).diameters > 1.15 * stated.diameters).all()


def test_edges_and_places_with_less_heat_show_less(part, stated):
    middle, corner = (16, 17), (1, 1)
    assert stated.maps[0, 1][corner] > stated.maps[0, 1][middle] or np.isnan(stated.maps[0, 1][corner])
    dim = np.ones(SHAPE)
    dim[:, 20:] = 0.5
    less = limits(part, Weighing(part, SETTINGS), (GAP,), SETTINGS, dim)
    assert less.maps[0, 1][16, 26] > 1.2 * stated.maps[0, 1][16, 26]
    assert less.maps[0, 1][16, 10] == pytest.approx(stated.maps[0, 1][16, 10])


@pytest.mark.parametrize(("times", "found"), [(0.4, False), (2.0, True)])
def test_implanted_defects_are_found_by_the_whole_search_if_they_are_large_enough(part, stated, times, found):
    depth, place = float(stated.depths[1]), (15, 18)
    insulation = GAP.resistance / (GAP.resistance + depth / SLAB.alpha)
    shown = disc_contrast(part, SETTINGS, place, depth, times * stated.diameters[0, 1], insulation)
    contrast = dataclasses.replace(part.contrast, values=part.contrast.values + shown)
    evidence, *_ = find(dataclasses.replace(part, contrast=contrast), SETTINGS)
    assert bool(evidence.called) is found


def test_a_disc_shows_what_an_independent_model_of_it_shows(part):
    """With finer cells, on a disc of whole pixels."""
    shown = disc_contrast(part, SETTINGS, (16, 16), 0.5 * SLAB.thickness, 8.0 * PIXEL[0], 0.3)
    rows, columns = np.indices(SHAPE)
    away = np.hypot((rows - 16) * PIXEL[0], (columns - 16) * PIXEL[1])
    other = shown_by(0.5 * 0.3 / 0.7 * (away <= 4.0 * PIXEL[0]), 0.5, layers=36)
    assert shown[:, 16, 16] == pytest.approx(other[:, 16, 16], rel=0.05, abs=2e-3)


def test_what_is_asked_follows_from_the_material():
    assert [one.name for one in references(Facts())] == ["a gap that lets no heat through"]
    metres = Units(length="m", time="s")
    names = [one.name for one in references(Facts(units=metres, material=material("mild-steel")))]
    assert names == ["an air gap of 50 um", "a polymer film of 100 um"]
    air, film = references(Facts(units=metres, material=material("mild-steel")))
    assert air.resistance > 4 * film.resistance


def test_limits_are_kept_whole_scaled_and_said(stated):
    again = Limits.from_record(stated.record())
    np.testing.assert_allclose(again.maps, stated.maps, rtol=1e-6)
    assert again.names == stated.names
    mm = stated.scaled(1e3)
    assert mm.smallest("a gap", 1e3 * stated.depths[0]) == pytest.approx(1e3 * stated.diameters[0, 0])
    assert "with 90 % probability" in mm.sentence("mm")
    blind = dataclasses.replace(mm, diameters=np.full_like(mm.diameters, np.nan))
    assert "cannot clear the part" in blind.sentence("mm")
