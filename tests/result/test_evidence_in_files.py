"""What the frames show: which regions are called, and the file that keeps it."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import write_hdf5
from nefty.result.exports.export import KIND
from nefty.result.frame_evidence import OPEN_BEFORE, FrameEvidence, RegionEvidence
from nefty.result.reconstruction import Reconstruction
from support.parts import GRID, planted

FILES = Path(__file__).parent / "old_files"
FACE = GRID.shape[1:]
REGIONS = (
    RegionEvidence(5.3, 0.5e-3, 800.0, 0.4),
    RegionEvidence(4.9, 0.7e-3, 100.0, 0.1),
    RegionEvidence(21.0, 0.9e-3, 9000.0, 0.95, open_to_back=True),
    RegionEvidence(3.0, 0.2e-3, 50.0, 0.1),
)


def evidence_of(regions=REGIONS, *, volume=False, threshold=5.2):
    labels = np.zeros(GRID.shape if volume else FACE, dtype=np.int32)
    for number in range(1, len(regions) + 1):
        labels[..., 3 + 5 * number : 6 + 5 * number, 10:15] = number
    scores = np.random.default_rng(1).standard_normal(FACE)
    return FrameEvidence(labels, tuple(regions), threshold, 0.05, scores, 2.5)


def assert_same(one, other):
    assert other is not None
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_allclose(one.score_map, other.score_map, rtol=1e-6)
    assert (one.threshold, one.false_calls, one.coldest) == (other.threshold, other.false_calls, other.coldest)
    assert [r.open_to_back for r in one.regions] == [r.open_to_back for r in other.regions]
    rows = [[(r.score, r.depth, r.resistance, r.insulation) for r in e.regions] for e in (one, other)]
    np.testing.assert_array_equal(np.reshape(rows[0], (-1, 4)), np.reshape(rows[1], (-1, 4)))


def test_what_stands_out_enough_is_called_the_clearest_first():
    evidence = evidence_of()
    assert evidence.called == (3, 1)
    assert evidence.missed == (2, 4)
    assert evidence_of(threshold=5.3).called == (3, 1)  # at the threshold it is
    assert evidence_of(threshold=30.0).called == ()


def test_in_older_files_a_region_that_lets_nothing_through_is_a_hole():
    record = evidence_of().record()
    assert list(record.pop("open_to_back")) == [False, False, True, False]
    record["insulation"] = np.array([0.4, OPEN_BEFORE, 0.95, 0.1])
    assert [r.open_to_back for r in FrameEvidence.from_record(record).regions] == [False, False, True, False]


def test_edges_lie_within_pixels_where_the_insulation_tells():
    """A square from 4.75 to 8.25 pixels: a quarter of the pixels at its edge is covered."""
    labels, covered = np.zeros(FACE, dtype=np.int32), np.zeros(FACE)
    labels[5:8, 5:8] = 1
    line = np.array([0.25, 1.0, 1.0, 1.0, 0.25])
    covered[4:9, 4:9] = line[:, None] * line
    evidence = FrameEvidence(labels, (RegionEvidence(9.0, 0.5e-3, 1.0, 0.8),), 5.0, 0.05, np.zeros(FACE), 1.0)
    blocks = evidence.finer_footprint(1, 4)
    assert blocks.shape == (4 * FACE[0], 4 * FACE[1])
    assert blocks.sum() == 9 * 16  # nothing tells more
    fine = dataclasses.replace(evidence, insulation=0.8 * covered).finer_footprint(1, 4)
    rows = np.flatnonzero(fine[:, 4 * 6])
    assert (rows[0] / 4, (rows[-1] + 1) / 4) == (4.75, 8.25)
    assert (evidence.finer_footprint(1, 1) == evidence.footprint(1)).all()


def test_labels_without_a_region_are_refused():
    with pytest.raises(InputError, match="labels name 4 regions, of which only 2 are described"):
        FrameEvidence(evidence_of().labels, REGIONS[:2], 5.0, 0.05, np.zeros(FACE), 1.0)


@pytest.mark.parametrize("regions", [REGIONS, REGIONS[:1], ()])
@pytest.mark.parametrize("volume", [False, True])
def test_a_record_is_read_back(regions, volume):
    evidence = evidence_of(regions, volume=volume)
    back = FrameEvidence.from_record(evidence.record())
    assert_same(evidence, back)
    assert back.of_sheets != volume


@pytest.mark.parametrize(
    "evidence",
    [
        evidence_of(),
        evidence_of(()),
        evidence_of([RegionEvidence(7.5, 0.4e-3, 10.0, 0.2)]),
        evidence_of([RegionEvidence(7.5), RegionEvidence(2.0)], volume=True),
    ],
    ids=["sheets", "none", "one", "volume"],
)
def test_a_result_keeps_it_in_its_file(tmp_path, evidence):
    saved = planted(frame_evidence=evidence, recipe={"name": "real", "rule": "evidence"})
    loaded = Reconstruction.load(saved.save(tmp_path / "result.h5"))
    assert_same(evidence, loaded.frame_evidence)
    np.testing.assert_array_equal(loaded.segmentation().labels, saved.segmentation().labels)
    np.testing.assert_array_equal(loaded.depth_map(), saved.depth_map())
    assert [d.evidence for d in loaded.indications()] == [d.evidence for d in saved.indications()]


def test_results_in_which_nothing_was_weighed_are_read_by_the_default_rule(tmp_path):
    plain = planted()
    loaded = Reconstruction.load(plain.save(tmp_path / "plain.h5"))
    assert loaded.frame_evidence is None
    asked = plain.indications("evidence")
    assert [d.depth_to_top for d in asked] == [d.depth_to_top for d in plain.indications("default")]
    assert all(math.isnan(d.evidence) for d in asked)


def test_files_that_know_nothing_of_it_are_read(tmp_path):
    """Of the round before this one, without the entry at all; and of nefty 0.1."""
    record = planted().record()
    del record["frame_evidence"]
    assert Reconstruction.from_record(record).frame_evidence is None
    file = write_hdf5(tmp_path / "before.h5", record, kind=KIND)
    assert Reconstruction.load(file).frame_evidence is None
    for old in FILES.glob("*.h5"):
        assert Reconstruction.load(old).frame_evidence is None


def test_a_folder_that_is_named_like_a_file_holds_the_result(tmp_path):
    folder = tmp_path / "plate.hdf5"
    folder.mkdir()
    assert planted().save(folder) == folder / "result.h5"
    Reconstruction.load(folder)
