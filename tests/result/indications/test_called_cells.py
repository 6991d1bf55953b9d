"""Indications of what the frames show: order, cells, depth and the gaps that have their resistance."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nefty.physics.materials import Material
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence
from nefty.result.indications.by_evidence import called_cells, sheet_depths
from support.parts import BULK, COLUMNS, FACTS, GRID, ROWS, planted

RHO, CP = 1550.0, 850.0
K = BULK * RHO * CP  # 0.593 W/mK
FILM, HOLE = 1.6e-4, 3e-4  # m2K/W
KNOWN = Material(name="cfrp", alpha_z=BULK, alpha_y=BULK, alpha_x=BULK, rho=RHO, cp=CP)
WEAK, OPEN, MISSED = np.s_[17:24, 6:17], np.s_[3:8, 30:36], np.s_[3:8, 6:11]
REGIONS = (
    RegionEvidence(9.0, 0.63e-3, FILM * RHO * CP, 0.5),
    RegionEvidence(4.0, 0.4e-3, 1.0, 0.1),
    RegionEvidence(30.0, 0.85e-3, HOLE * RHO * CP, 0.97, open_to_back=True),
)


def evidence_of(regions=REGIONS):
    labels = np.zeros(GRID.shape[1:], dtype=np.int32)
    for number, place in enumerate((WEAK, MISSED, OPEN)[: len(regions)], 1):
        labels[place] = number
    return FrameEvidence(labels, regions, 5.2, 0.05, np.zeros(GRID.shape[1:]), 2.0)


def found(evidence=None, material: Material | None = KNOWN, **changes):
    facts = FACTS.replaced(material=material)
    return planted(frame_evidence=evidence or evidence_of(), recipe={"rule": "evidence"}, facts=facts, **changes)


def test_they_come_by_falling_evidence_and_what_missed_does_not_come():
    rec = found()
    hole, film = rec.indications()
    assert (hole.label, film.label) == (1, 2)
    assert (hole.evidence, film.evidence) == (30.0, 9.0)
    labels = rec.segmentation().labels
    assert set(np.unique(labels)) == {0, 1, 2}
    assert not labels[(slice(None), *MISSED)].any()
    assert rec.evidence()[0].label == 1


def test_a_sheet_fills_one_layer_and_a_hole_all_below():
    labels = called_cells(evidence_of(), GRID, periodic=False).labels
    dz = GRID.spacing[0]
    film, hole = (np.flatnonzero((labels == n).any(axis=(1, 2))) for n in (2, 1))
    assert film.tolist() == [int(0.63e-3 / dz)]
    assert hole.tolist() == list(range(int(0.85e-3 / dz), GRID.shape[0]))
    assert ((labels == 2).any(axis=0) == (evidence_of().labels == 1)).all()


def test_a_sheet_at_the_back_stays_within_the_part():
    evidence = evidence_of((replace(REGIONS[0], depth=GRID.size[0]),))
    assert called_cells(evidence, GRID, periodic=False).labels[-1].any()


def test_depths_are_those_of_the_sheets_and_finer_than_cells():
    rec = found()
    hole, film = rec.indications()
    assert (film.depth_to_top, film.depth_to_centre, film.centre[0]) == (0.63e-3,) * 3
    assert math.isnan(film.thickness)
    assert not film.reaches_back
    assert hole.depth_to_top == 0.85e-3
    assert hole.thickness == pytest.approx(GRID.size[0] - 0.85e-3)
    assert hole.reaches_back
    assert hole.volume == pytest.approx(hole.area * hole.thickness)
    assert hole.centre[0] == pytest.approx((0.85e-3 + GRID.size[0]) / 2)
    depths = rec.depth_map()
    assert (depths[WEAK] == 0.63e-3).all()
    assert (depths[OPEN] == 0.85e-3).all()
    assert np.isfinite(depths).sum() == 7 * 11 + 5 * 6
    np.testing.assert_array_equal(depths, sheet_depths(evidence_of()))


def test_sizes_agree_with_the_area():
    _, film = found().indications()
    assert film.area == pytest.approx(77 * 0.3e-3 * 0.2e-3)
    assert film.diameter == pytest.approx(2 * math.sqrt(film.area / math.pi))
    assert film.centre[1:] == pytest.approx(((ROWS.start + 3.5) * 0.3e-3, (COLUMNS.start + 5.5) * 0.2e-3))


def test_gaps_have_the_resistance():
    """160e-6 m2K/W: 4.16 um of air; a film of 0.25 W/mK is 69.2 um, since it takes the place of the part's 0.593."""
    _, film = found().indications()
    assert film.resistance == pytest.approx(1.6e-4)
    assert 1e6 * film.gap_air == pytest.approx(4.16, abs=1e-6)
    assert 1e6 * film.gap_polymer == pytest.approx(160 / (1 / 0.25 - 1 / 0.592875), rel=1e-6)
    assert 1e6 * film.gap_polymer == pytest.approx(69.2, abs=0.1)
    assert film.gap_polymer * (1 / 0.25 - 1 / K) == pytest.approx(film.resistance)


def test_a_hole_has_no_gap():
    hole, _ = found().indications()
    assert all(math.isnan(value) for value in (hole.resistance, hole.gap_air, hole.gap_polymer))


@pytest.mark.parametrize("material", [None, Material(name="x", alpha_z=BULK, alpha_y=BULK, alpha_x=BULK)])
def test_of_a_material_that_is_not_known_no_gap_is_said(material):
    _, film = found(material=material).indications()
    assert all(math.isnan(value) for value in (film.resistance, film.gap_air, film.gap_polymer))
    assert film.depth_to_top == 0.63e-3


def test_a_part_that_conducts_like_a_polymer_hides_one():
    plastic = Material(name="pmma", alpha_z=1.1e-7, alpha_y=1.1e-7, alpha_x=1.1e-7, rho=1190.0, cp=1450.0)
    _, film = found(material=plastic).indications()
    assert math.isnan(film.gap_polymer)
    assert film.gap_air == pytest.approx(film.resistance * 0.026)


def test_regions_of_a_volume_keep_what_the_volume_tells():
    labels = np.zeros(GRID.shape, dtype=np.int32)
    labels[6:9, ROWS, COLUMNS] = 2
    labels[10, 2:5, 30:35] = 1
    evidence = FrameEvidence(labels, (RegionEvidence(2.0), RegionEvidence(8.0)), 5.2, 0.05, np.zeros(GRID.shape[1:]), 2)
    rec = found(evidence)
    (only,) = rec.indications()
    (plain,) = rec.indications("default")
    assert only.evidence == 8.0
    assert only.depth_to_top == plain.depth_to_top
    assert only.thickness == plain.thickness
    lacking = 1 / (0.04 * BULK) - 1 / BULK
    assert only.resistance == pytest.approx(3 * GRID.spacing[0] * lacking / (RHO * CP))
    assert plain.resistance == only.resistance
    np.testing.assert_array_equal(rec.segmentation().labels > 0, labels == 2)
    assert np.nanmin(rec.depth_map()) == pytest.approx(np.nanmin(rec.depth_map("default")))


def test_other_rules_do_not_ask_the_frames():
    rec = found()
    (plain,) = rec.indications("faint")
    assert math.isnan(plain.evidence)
    assert rec.segmentation("faint").labels[7, 20, 11] == 1
