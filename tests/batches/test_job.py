"""What decides a recording of a batch, and the work on it."""

from __future__ import annotations

import dataclasses
import os
import time

import numpy as np
import pytest

import nefty
from nefty.batches.job import Job, perform
from nefty.batches.outcome import Outcome
from nefty.core.storage.run_folder import read_events
from nefty.data.intake.known import Known
from nefty.result.reconstruction import Reconstruction
from support.batch_folders.scans import FACTS, FEW, write_plate


@pytest.fixture
def job(tmp_path):
    write_plate(tmp_path / "plate.tif", seed=3)
    facts = tmp_path / "facts" / "part.toml"
    facts.parent.mkdir()
    facts.write_text(FACTS)
    return Job("plate.tif", tmp_path / "plate.tif", Known(facts=facts), None, FEW)


def test_the_key_knows_file_facts_record_recipe_and_what_facts_name(job, tmp_path):
    first = job.key()
    assert job.key() == first
    keys = {first}
    np.save(tmp_path / "mask.npy", np.ones((12, 16), dtype=bool))
    (tmp_path / "plate.toml").write_text('mask = "mask.npy"')
    keys.add(job.key())
    np.save(tmp_path / "mask.npy", np.zeros((12, 16), dtype=bool))
    keys.add(job.key())
    (tmp_path / "plate.inspection.toml").write_text("serial = 1")
    keys.add(job.key())
    keys.add(dataclasses.replace(job, overrides={**FEW, "model.layers": 5}).key())
    keys.add(dataclasses.replace(job, recipe="real").key())
    time.sleep(0.01)
    os.utime(job.file)
    keys.add(job.key())
    assert len(keys) == 7


def test_one_recording_is_as_nefty_reconstructs_it_and_is_not_done_twice(job, tmp_path):
    run = tmp_path / "run"
    done = perform(job, job.key(), run, None)
    assert (done.reason, done.level, done.worked, done.settled) == ("", "explained", True, True)
    assert (run / "report.html").exists()
    sequence = nefty.load(job.file, facts=job.known.facts)
    same = nefty.reconstruct(sequence, overrides=FEW)
    np.testing.assert_array_equal(Reconstruction.load(run).alpha, same.alpha)

    again = perform(job, "another key", run, done)  # touched, say: it is read, and found to be the same
    assert (again.worked, again.seconds) == (False, done.seconds)
    other = dataclasses.replace(job, known=dataclasses.replace(job.known, thickness="3 mm"))
    moved = perform(other, other.key(), run, again)  # other facts take the run's place
    assert moved.worked
    assert Reconstruction.load(run).grid.size[0] == pytest.approx(3e-3)
    assert [event["event"] for event in read_events(run)] == ["started", "finished"]


def test_what_is_wrong_with_a_recording_is_its_outcome(job, tmp_path):
    job.file.write_bytes(b"")
    done = perform(job, job.key(), tmp_path / "run", None)
    assert "is empty" in done.reason
    assert done.lasting
    assert done.settled
    path = done.save(tmp_path / "outcomes" / "plate.tif.json")
    assert Outcome.load(path).as_dict() == done.as_dict()  # pyright: ignore[reportOptionalMemberAccess]
    path.write_text("{}")
    assert Outcome.load(path) is None
