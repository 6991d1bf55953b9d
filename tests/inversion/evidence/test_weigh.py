"""Regions of a volume are weighed by the frames: a void that is there stays, one that is not is refused."""

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, HeatModel
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.none import NoCalibration
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.weigh import layered_part, weigh_volume
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import load_recipe

GRID = Grid((8, 24, 26), (1.0, 9.0, 9.75))
TIMES = 0.2 * np.arange(1, 25)
FLASH = GaussianFlash(100.0, 4.0, 0.15)
BULK, NOISE = 0.15, 0.1
REAL, SPURIOUS = np.s_[3:5, 8:13, 6:11], np.s_[3:5, 15:19, 17:21]
SETTINGS = EvidenceSettings(regions="volume")


def volume_with(*voids):
    volume = np.full(GRID.shape, BULK)
    for void in voids:
        volume[void] = 0.02
    return volume


@pytest.fixture(scope="module")
def known():
    model = HeatModel(GRID, TIMES, FLASH)
    frames = model(volume_with(REAL)).double().numpy()
    frames += NOISE * np.random.default_rng(2).standard_normal(frames.shape)
    seen = Observation(GRID, TIMES, frames, np.ones(frames.shape, dtype=bool), NOISE)
    return calibrate(load_recipe("fast", {"calibration.start": BULK, "calibration.strata": 1}), model, seen)


def test_a_real_void_stays_and_a_spurious_one_is_refused(known):
    evidence = weigh_volume(known, volume_with(REAL, SPURIOUS), SETTINGS)
    assert evidence is not None
    assert evidence.labels.shape == GRID.shape
    assert not evidence.of_sheets
    assert len(evidence.regions) == 2
    real, spurious = evidence.labels[4, 10, 8], evidence.labels[4, 17, 19]
    assert evidence.called == (real,)
    assert evidence.missed == (spurious,)
    assert evidence.regions[real - 1].score > 2 * evidence.threshold


def test_a_spurious_void_does_not_count_against_a_real_one(known):
    """What it would explain wrongly is left out before the scale is told."""
    alone, both = (weigh_volume(known, volume_with(*voids), SETTINGS) for voids in ((REAL,), (REAL, SPURIOUS)))
    assert alone is not None
    assert both is not None
    assert both.regions[both.labels[4, 10, 8] - 1].score > 0.8 * alone.regions[0].score


def test_a_sound_volume_has_nothing_to_weigh(known):
    evidence = weigh_volume(known, volume_with(), SETTINGS)
    assert evidence is not None
    assert evidence.regions == ()
    assert not evidence.labels.any()
    assert evidence.score_map.max() > evidence.threshold  # though the frames show something


def test_pixels_in_the_outskirts_of_the_flash_weigh_less(known):
    part, used = layered_part(known)
    assert used.any()
    assert part.contrast.weight.max() <= 1 + 1e-9
    assert part.contrast.weight[0, 0] < 0.5 * part.contrast.weight[12, 13]
    middle = part.contrast.values[:, 16:20, 4:8]
    assert np.abs(middle.mean()) < 0.05


def test_without_a_background_nothing_is_weighed(known):
    blind = NoCalibration(known.model, known.observation)
    assert weigh_volume(blind, volume_with(REAL), SETTINGS) is None
