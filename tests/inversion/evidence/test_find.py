"""From a contrast to regions: sound noise gives none, a weak film is one, and two are two."""

import dataclasses

import numpy as np
import pytest

from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.weighing import SoundPart
from support.weak_films import SLAB, SPREAD, TIMES, contrast_of, disc, shown_by

SHAPE = (32, 34)
SETTINGS = EvidenceSettings(regions="sheets", sheet=SheetSettings(layers=12, variation=1.0))


def sound(contrast, shallowest=0.0):
    return SoundPart(contrast, SLAB, (1.0, 1.0), shallowest)


@pytest.mark.parametrize("seed", range(4))
def test_noise_of_a_sound_part_calls_nothing(seed):
    rng = np.random.default_rng(seed)
    evidence, *_ = find(sound(contrast_of(np.zeros((len(TIMES), *SHAPE)), rng)), SETTINGS)
    assert evidence.called == ()
    assert evidence.score_map.max() < evidence.threshold
    assert evidence.coldest < evidence.threshold + 0.5
    assert evidence.false_calls == SETTINGS.false_calls


def test_edges_and_uneven_heating_of_a_sound_part_call_nothing(rng):
    """A share of row times column, as heat that flows out at the sides leaves it, 20 times the scatter."""
    at_y, at_x = (np.exp(-np.arange(n) / 3.0) for n in SHAPE)
    grows = 0.08 * (TIMES / TIMES[-1])[:, None, None]
    gain = 0.05 * rng.standard_normal(SHAPE)
    values = gain - grows * at_y[:, None] - grows * at_x
    evidence, resistance, _ = find(sound(contrast_of(values, rng)), SETTINGS)
    assert evidence.called == ()
    assert not resistance.any()


@pytest.fixture(scope="module")
def film():
    """Twice: a weak one that a single value hardly shows, and beside it nothing."""
    under = disc(SHAPE, (13, 20), 4.5)
    contrast = contrast_of(shown_by(0.03 * under, 0.4), np.random.default_rng(11))
    return under, contrast, find(sound(contrast), SETTINGS)


def test_a_weak_film_is_found_at_its_depth(film):
    under, contrast, (evidence, resistance, depth) = film
    assert shown_by(0.03 * under, 0.4).max() < 8 * SPREAD.min()
    (number,) = evidence.called
    region, mask = evidence.regions[number - 1], evidence.labels == number
    assert region.score > evidence.threshold + 2
    assert region.depth == pytest.approx(0.4 * SLAB.thickness, rel=0.1)
    assert region.resistance == pytest.approx(0.03 * SLAB.thickness / SLAB.alpha, rel=0.3)
    assert not region.open_to_back
    assert (mask & under).sum() / (mask | under).sum() > 0.6
    assert np.median(resistance[under]) == pytest.approx(region.resistance, rel=0.3)
    assert np.median(depth[under]) == pytest.approx(region.depth, rel=0.1)
    assert contrast.counted.all()


def test_a_weak_film_is_found_at_its_depth_by_the_settings_that_are_shipped(film):
    _, contrast, _ = film
    evidence, *_ = find(sound(contrast), EvidenceSettings(regions="sheets"))
    (number,) = evidence.called
    region = evidence.regions[number - 1]
    assert region.depth == pytest.approx(0.4 * SLAB.thickness, rel=0.1)
    assert region.resistance == pytest.approx(0.03 * SLAB.thickness / SLAB.alpha, rel=0.5)


def test_more_false_calls_need_less_evidence(film):
    _, contrast, (evidence, *_) = film
    many = EvidenceSettings(false_calls=1.0, sheet=SheetSettings(layers=8, steps=3))
    other, *_ = find(sound(contrast), many)
    assert other.threshold < evidence.threshold
    assert other.called


def test_above_the_shallowest_depth_no_disc_is_looked_for(film):
    _, contrast, _ = film
    deep = dataclasses.replace(sound(contrast), shallowest=0.6 * SLAB.thickness)
    evidence, *_ = find(deep, EvidenceSettings(sheet=SheetSettings(layers=8, steps=2)))
    assert evidence.score_map.max() < film[2][0].score_map.max()


@pytest.fixture(scope="module")
def two_films():
    """A strong and a weak one, and what both show."""
    strong, weak = disc(SHAPE, (9, 9), 4), disc(SHAPE, (22, 24), 4.5)
    return strong, weak, shown_by(0.5 * strong, 0.3, layers=20) + shown_by(0.12 * weak, 0.5, layers=20)


@pytest.mark.parametrize("seed", [4, 5, 7])
def test_a_strong_and_a_weak_film_are_two_regions_each_at_its_depth(two_films, seed):
    """Whatever the noise: the fit does not stop at kinks."""
    strong, weak, values = two_films
    evidence, *_ = find(sound(contrast_of(values, np.random.default_rng(seed))), EvidenceSettings())
    assert len(evidence.called) == 2
    first, second = (evidence.regions[n - 1] for n in evidence.called)
    assert first.score > second.score
    assert first.depth == pytest.approx(0.3 * SLAB.thickness, rel=0.1)
    assert second.depth == pytest.approx(0.5 * SLAB.thickness, rel=0.15)
    assert strong[evidence.labels == evidence.called[0]].mean() > 0.7
    assert weak[evidence.labels == evidence.called[1]].mean() > 0.7


def test_a_film_without_a_sheet_is_told_by_its_template_in_the_same_unit(film):
    """A faint insulation above all that is fitted, so that none is a region: a coarse depth, and about its resistance.

    Not 80 times it, which is what the film's pixels have together.
    """
    under, contrast, _ = film
    blind = EvidenceSettings(sheet=SheetSettings(layers=8, steps=2, faint=0.9))
    evidence, *_ = find(sound(contrast), blind)
    (number,) = evidence.called
    region = evidence.regions[number - 1]
    assert 0.25 * under.sum() < ((evidence.labels == number) & under).sum()
    assert 0.1 < region.resistance / (0.03 * SLAB.thickness / SLAB.alpha) < 4
    assert 0 < region.insulation < 0.3


def test_a_strong_hole_a_third_as_wide_as_the_frame_is_one_region(rng):
    """It moves what is typical of its rows, so that every place stands out a little: at most half of them may."""
    wide = disc((24, 24), (12, 12), 4.5)
    values = shown_by(8.0 * wide, 0.33, layers=20)
    evidence, *_ = find(sound(contrast_of(values, rng)), EvidenceSettings())
    (number,) = evidence.called
    region, mask = evidence.regions[number - 1], evidence.labels == number
    assert (mask & wide).sum() / (mask | wide).sum() > 0.7
    assert region.depth == pytest.approx(0.33 * SLAB.thickness, rel=0.15)
