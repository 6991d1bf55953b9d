"""Recordings in files as data of a suite, from the folder to the tables."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

from nefty.bench.plates.selection import Plates
from nefty.bench.suites.load import load_suite, load_suites
from nefty.bench.suites.presentation.present import present
from nefty.bench.tasks import task
from nefty.bench.tasks.task import Outcome, Task, perform
from nefty.core.errors import InputError
from nefty.synth.pvc_files import PvcSize, write_pvc
from support.known_facts import material_of

SIZE = PvcSize((48, 60), 90, fps=2.0, cell=(2.5e-4, 2e-3))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pvc")
    write_pvc(folder, 3, SIZE)  # R_001, Z_001, R_002
    return folder


def suite_of(root, methods=("peak-slope", "dtt"), **plates):
    """A suite of classical methods on tiny plates."""
    values = {
        "name": "tiny-pvc",
        "title": "Tiny plates",
        "paper": "pvc",
        "plates": {"pvc": {"root": str(root), "bin": 1, "early": 0.6, **plates}},
        "methods": [{"method": name} for name in methods],
        "tables": ["plates", "holes"],
        "figures": ["depth-maps", "seconds"],
    }
    return load_suite(values)


def test_every_recording_of_the_folder_is_a_task(root):
    entries = suite_of(root).entries()
    assert {(e.task.kind, e.task.seed, e.task.method) for e in entries} == {
        (kind, number, name)
        for kind, number in (("rectangular", 1), ("rectangular", 2), ("round", 1))
        for name in ("peak-slope", "dtt")
    }
    few = suite_of(root, kinds=["rectangular"], numbers="2").entries()
    assert {(e.task.kind, e.task.seed) for e in few} == {("rectangular", 2)}
    assert len(suite_of(root, most=1).entries()) == 2
    assert len(load_suites("pvc", only={"methods": ["dtt"], "kinds": ["round"]}, plates={"root": str(root)})) == 1


def test_a_task_travels_as_json_and_belongs_to_the_content(root, tmp_path):
    one = suite_of(root).entries()[0].task
    again = Task.from_dict(json.loads(json.dumps(one.as_dict())))
    assert again == one
    assert again.key == one.key
    shutil.copytree(root, tmp_path / "moved")
    moved = suite_of(tmp_path / "moved").entries()[0].task
    assert moved.key == one.key  # the same recordings elsewhere
    label = tmp_path / "moved" / "labels" / "manual_mask"
    shutil.copy(label / "R_002.png", label / "R_001.png")
    assert suite_of(tmp_path / "moved").entries()[0].task.key != one.key
    assert suite_of(root, early=0.5).entries()[0].task.key != one.key
    assert suite_of(root, adaptation={"h_back": 5.0}).entries()[0].task.key != one.key


def test_a_method_is_given_what_it_takes(root):
    recording = suite_of(root).entries()[0].task.recording
    frames, means, unitless = (recording.given("rectangular", 1, takes) for takes in ("frames", "means", "unitless"))
    assert frames.shape[0] > means.shape[0] == unitless.shape[0]
    assert frames.times[0] > 0
    assert frames.size is not None
    assert frames.size[0] == 5e-3
    assert material_of(frames).alpha_z == 1.2e-7
    assert unitless.size is not None
    assert unitless.size[0] == pytest.approx(1.0)
    assert unitless.times[-1] == pytest.approx(5.0)
    # Gains of 3 % are divided out but for methods that fit them.
    spread = [np.nanstd(s.frames[0]) / np.nanmean(s.frames[0]) for s in (frames, means, unitless)]
    assert spread[1] > 0.02 > spread[0]
    assert spread[2] < 0.02


@pytest.fixture(scope="module")
def done(root, tmp_path_factory):
    """Outcomes of all tasks, through their files."""
    folder = tmp_path_factory.mktemp("outcomes")
    suite = suite_of(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task, "warm_up", lambda: None)  # these methods have nothing to compile
        return [(e, Outcome.load(perform(e.task).save(folder / f"{e.task.key}.h5"))) for e in suite.entries()]


def test_holes_are_found_and_measured_on_the_label(done):
    for entry, outcome in done:
        marks = outcome.scores
        assert marks["iou"] is not None
        assert marks["iou"] > 0.4
        assert marks["paper_iou"] == marks["iou"]  # a map of its own needs no projection
        assert outcome.maps["true_depth"].shape == outcome.maps["depth"].shape == outcome.maps["mask"].shape
        assert np.nanmax(outcome.maps["true_depth"]) == pytest.approx(2.5e-3)
        if entry.task.method == "peak-slope":
            assert marks["wide_depth_abs_rel"] is not None
            assert marks["wide_depth_abs_rel"] < 0.25
        else:
            assert marks["depth_abs_rel"] is None
        holes = outcome.facts["holes"]
        assert len(holes) > 5
        assert max(hole["aspect"] for hole in holes) > 1.5
        assert outcome.facts["pixel"] == pytest.approx(0.1 / 48, rel=0.05)
        assert any("A pixel shows" in note for note in outcome.facts["notes"])


def test_the_tables_stand_beside_the_papers_numbers(root, done):
    shown = present(suite_of(root), done, [])
    titles = [table.title for table in shown.tables]
    assert titles == [
        "2D masks, all holes",
        "2.5D depths, all holes",
        "2D masks, holes at least 1.5 times as wide as deep",
        "2.5D depths, holes at least 1.5 times as wide as deep",
        "Holes found",
        "Depth of the holes found",
    ]
    masks, depths, wide = shown.tables[:3]
    assert {"IoU", "Dice", "precision", "recall", "IoU, paper"} <= set(masks.headings())
    assert {"Abs Rel", "MAE mm", "RMSE mm", "ratio < 1.25³", "RMSE mm, paper"} <= set(depths.headings())
    assert not any("paper" in heading for heading in wide.headings())
    names = [row["method"] for row in masks.rows]
    assert names[:2] == ["Peak contrast slope", "DTT"]
    assert {"NeFTY", "TSR", "PPT", "Swin-UNETR, with labels"} <= set(names)
    assert masks.rows[0]["n"] == 3
    found = shown.tables[4]
    assert sum(float(share.of) for share in found.rows[0].values() if not isinstance(share, str)) == sum(
        len(o.facts["holes"]) for e, o in done if e.task.method == "dtt"
    )
    notes = " ".join(shown.notes)
    assert "generated by nefty's independent simulator" in notes
    assert "they say nothing about the published recordings" in notes
    assert [section.title for section in shown.sections] == ["Depth maps", "Seconds"]


def test_volumes_have_a_row_for_each_projection(root, done):
    suite = suite_of(root, methods=("fast", "dtt"))
    rows = {row.method: row.name for row in suite.methods}
    others = [
        (dataclasses.replace(e, row=rows[name]), o)
        for e, o in done
        for name in (("fast",) if e.task.method == "peak-slope" else ("dtt",))
    ]
    names = [row["method"] for row in present(suite, others, []).tables[0].rows]
    assert names[:3] == ["nefty fast", "nefty fast, paper's projection", "DTT"]


def test_without_a_folder_it_says_what_to_give():
    suite = load_suite("pvc")
    with pytest.raises(InputError, match=r"give --root FOLDER.*--generate 10"):
        suite.entries()
    with pytest.raises(InputError, match=r"suite 'pvc': .*holds no folder 'data', for there is no such folder"):
        load_suite("pvc", plates={"root": "/no/such/folder"})
    with pytest.raises(InputError, match=r"suite 'main' has no plates, so that root has no effect"):
        load_suite("main", plates={"root": "/tmp"})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"splt": "test"}, r"key 'plates.pvc.splt' is unknown.*Did you mean 'split'\?"),
        ({"split": "tset"}, r"split.*tset"),
        ({"pixel": 0.4}, r"0.4 m is no pixel of a plate.*such as \"0.4 mm\""),
        ({"pixel": "0.4 s"}, r"pixel"),
        ({"material": "pvcc"}, r"Did you mean 'pvc'\?"),
        ({"numbers": "5:2"}, r"seeds '5:2' must be a range"),
        ({"adaptation.h_bak": 3}, r"h_bak"),
        ({"kinds": ["square"]}, r"square"),
    ],
)
def test_wrong_settings_are_refused_before_anything_runs(changes, message):
    with pytest.raises(InputError, match=message):
        load_suite("pvc", plates=changes)


def test_units_of_the_pixel_are_understood():
    assert load_suite("pvc", plates={"pixel": "0.4 mm"}).plates["pvc"].pixel == pytest.approx(4e-4)
    assert Plates(pixel=4e-4).pixel == 4e-4


def test_a_choice_without_any_recording_is_refused(root):
    with pytest.raises(InputError, match=r"has 3 recordings, and none of them is of .*numbers='7'"):
        suite_of(root, numbers="7")


def test_tables_of_volumes_are_not_for_plates(root):
    values = {"name": "x", "title": "X", "methods": [{"method": "dtt"}], "plates": {"pvc": {}}}
    with pytest.raises(InputError, match=r"'quality' is not for plates; leave it out"):
        load_suite(values)
    with pytest.raises(InputError, match=r"'holes' is not for simulated data; leave it out"):
        load_suite({**values, "plates": {}, "data": {"clean": {}}, "tables": ["holes"]})
    with pytest.raises(InputError, match="make two suites of it"):
        load_suite({**values, "data": {"clean": {}}})


def test_a_recording_that_went_missing_is_named(root, tmp_path):
    shutil.copytree(root, tmp_path / "copy")
    one = suite_of(tmp_path / "copy").entries()[0].task
    (tmp_path / "copy" / "labels" / "manual_mask" / "R_001.png").unlink()
    with pytest.raises(InputError, match="R_001 is no longer in"):
        one.recording.given("rectangular", 1, "frames")
