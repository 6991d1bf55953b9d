"""Data sets: what a plan makes of a seed, and what opening a folder refuses."""

import json

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.pulses import TopHatPulse
from nefty.synth.camera import Camera
from nefty.synth.data_set import DataPlan, DataSet
from nefty.synth.data_writer import write_data_set
from nefty.synth.flash_ranges import FlashRanges
from nefty.synth.recording import simulate
from nefty.synth.setup import Setup
from nefty.synth.specimen import Ranges, draw_specimen

GRID = Grid((3, 8, 8), (1.0, 10.0, 10.0))
SETUP = Setup(grid=GRID, times=[0.1, 0.4], safety=2.0, camera=Camera(noise=0.01), dtype="float32")


@pytest.fixture
def folder(tmp_path):
    write_data_set(tmp_path / "set", [7, 2, 5], DataPlan("layered", setup=SETUP), processes=1)
    return tmp_path / "set"


def test_a_folder_holds_a_file_per_seed_and_their_index(folder):
    data = DataSet.open(folder)
    assert sorted(p.name for p in folder.glob("*.h5")) == ["layered-2.h5", "layered-5.h5", "layered-7.h5"]
    assert [entry.seed for entry in data.entries] == [2, 5, 7]
    assert len(data) == 3
    assert data.settings["kind"] == "layered"
    for entry in data.entries:
        part = draw_specimen(entry.seed, "layered")
        assert (entry.kind, entry.name) == ("layered", f"layered-{entry.seed}.h5")
        assert (entry.defects, entry.strata, entry.bulk) == (len(part.defects), len(part.bulk), part.bulk)
        assert len(entry.digest) == 64
    assert repr(data) == f"DataSet(3 recordings of layered parts in {folder})"


def test_it_loads_the_recordings_in_order(folder):
    data = DataSet.open(folder)
    expected = [
        simulate(draw_specimen(s, "layered"), noise=0.01, grid=GRID, times=[0.1, 0.4], safety=2.0, dtype="float32")
        for s in (2, 5, 7)
    ]
    assert len(list(data)) == 3
    for i, (found, made) in enumerate(zip(data, expected, strict=True)):
        assert found.frames.dtype == np.float32
        assert np.array_equal(found.frames, made.frames)
        assert np.array_equal(np.asarray(found.truth), np.asarray(made.truth))
        assert data[i].digest() == made.digest()
    assert np.array_equal(data[-1].frames, expected[-1].frames)


def test_a_plan_draws_by_its_ranges_defects_and_flash():
    plan = DataPlan(ranges=Ranges(bulk=(0.3, 0.4)), defects=2, flash=FlashRanges(width=(1.0, 9.0)), setup=SETUP)
    first, second = plan.make(1), plan.make(2)
    assert plan.specimen(1) == draw_specimen(1, defects=2, ranges=Ranges(bulk=(0.3, 0.4)))
    assert first.excitation == FlashRanges(width=(1.0, 9.0)).draw(1, (10.0, 10.0))
    assert second.excitation != first.excitation
    assert plan.matches(first, 1)
    assert not plan.matches(first, 2)
    assert not DataPlan(setup=SETUP).matches(first, 1)
    json.dumps(plan.settings())


def test_the_default_is_the_paper_in_single_precision():
    plan = DataPlan()
    settings = plan.settings()
    assert settings["setup"]["dtype"] == "float32"
    assert settings["setup"]["grid"] == {"shape": [16, 64, 64], "size": [1.0, 10.0, 10.0]}
    assert len(settings["setup"]["times"]) == 100
    assert (settings["setup"]["noise"], settings["kind"]) == (0.0, "homogeneous")


def test_sound_parts_have_no_defects():
    plan = DataPlan("sound-layered", setup=SETUP)
    assert all(plan.specimen(seed).defects == () for seed in range(5))
    assert (np.diff(np.asarray(plan.make(0).truth), axis=2) == 0).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kind": "layerd"}, "Did you mean 'layered'"),
        ({"defects": -1}, "defects=-1"),
        ({"setup": Setup(excitation=np.ones((16, 64, 64)))}, "not an array"),
        ({"setup": Setup(excitation=TopHatPulse(profile=np.ones((64, 64))))}, "not an array"),
    ],
)
def test_what_is_no_plan_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        DataPlan(**values)


def test_a_missing_file_is_named_with_the_remedy(folder):
    (folder / "layered-5.h5").unlink()
    data = DataSet.open(folder)
    assert data[0].shape == (2, 8, 8)
    with pytest.raises(InputError, match=r"layered-5\.h5 is in the index but not there; copy it here, or run nefty"):
        data[1]


def test_a_file_that_is_another_is_refused(folder):
    data = DataSet.open(folder)
    (folder / "layered-2.h5").rename(folder / "layered-5.h5")
    with pytest.raises(InputError, match=r"layered-5\.h5 does not hold what the index says"):
        data[1]


def test_a_damaged_file_is_refused(folder):
    file = folder / "layered-2.h5"
    file.write_bytes(file.read_bytes()[:2000])
    with pytest.raises(InputError, match="damaged"):
        DataSet.open(folder)[0]


def test_an_index_that_cannot_be_read_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"has no index\.json"):
        DataSet.open(tmp_path / "nowhere")
    index = folder / "index.json"
    whole = json.loads(index.read_text())
    entry = whole["entries"][0]
    for content, message in [
        ("{", "not the index of a data set"),
        ("[]", "not the index of a data set"),
        (json.dumps({**whole, "format": 2}), "has format 2, this nefty knows 1"),
        (json.dumps({"format": 1, "settings": whole["settings"]}), "is damaged"),
        (json.dumps({**whole, "entries": [{**entry, "colour": "red"}]}), "is damaged"),
        (json.dumps({**whole, "entries": [{**entry, "name": "../x.h5"}]}), "not in its folder; refused"),
    ]:
        index.write_text(content)
        with pytest.raises(InputError, match=message):
            DataSet.open(folder)
