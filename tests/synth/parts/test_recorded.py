"""Recordings of parts: frames, truth, what the user says, and the file that nefty reads."""

from __future__ import annotations

import numpy as np
import pytest

import nefty
from nefty.synth.parts.draw import draw_part
from nefty.synth.parts.recorded import PartRecording, record_part


@pytest.fixture(scope="module")
def recording():
    return record_part(draw_part(5, sound=False, pixels=24), 5)


def test_the_same_seed_gives_the_same_recording(recording):
    again = record_part(draw_part(5, sound=False, pixels=24), 5)
    assert (recording.frames == again.frames).all()
    assert recording.known == again.known
    assert recording.truth.defects == again.truth.defects


def test_the_truth_has_every_defect(recording):
    truth = recording.truth
    assert [d.label for d in truth.defects] == list(range(1, len(recording.part.defects) + 1))
    assert (np.isfinite(truth.depth) == (truth.labels > 0)).all()
    assert (truth.mask() == (truth.labels > 0)).all()
    assert truth.mask(visible=True).sum() <= truth.mask().sum()
    for defect in truth.defects:
        assert np.nanmin(truth.depth[truth.labels == defect.label]) == pytest.approx(defect.depth)


def test_visibility_is_what_shows_over_the_noise(recording):
    strongest = max(recording.truth.defects, key=lambda d: d.visibility)
    assert strongest.visible
    frames = recording.frames.astype(float)
    before = int(np.ceil(recording.onset * recording.known["fps"]))
    noise = frames[:before].std(axis=0).mean()
    own = recording.truth.labels == strongest.label
    around = ~recording.truth.mask()
    shown = frames[before:, own].mean(axis=1) - np.median(frames[before:, around], axis=1)
    assert shown.max() / noise > 0.3 * strongest.visibility


def test_a_sound_part_has_no_truth_to_find():
    sound = record_part(draw_part(5, sound=True, pixels=16), 1)
    assert sound.truth.defects == ()
    assert not sound.truth.mask().any()


def test_it_is_a_file_that_a_user_can_load(recording, tmp_path):
    file = recording.save(tmp_path / "part")
    assert PartRecording.is_in(tmp_path / "part")
    assert not PartRecording.is_in(tmp_path)
    back = PartRecording.load(tmp_path / "part")
    assert (back.frames == recording.frames).all()
    assert back.known == recording.known
    assert back.truth.defects == recording.truth.defects
    sequence = nefty.load(file, **back.known)
    assert sequence.frames.shape[1:] == (24, 24)
    assert sequence.size is not None
    assert sequence.size[0] == pytest.approx(recording.known["thickness"])
