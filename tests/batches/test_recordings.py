"""Which recordings a batch has."""

from __future__ import annotations

import pytest

import nefty
from nefty.batches.recordings import list_recordings
from nefty.core.cluster.worker import mark


@pytest.fixture
def scans(tmp_path):
    folder = tmp_path / "scans"
    (folder / "monday").mkdir(parents=True)
    names = ("plate 10.tif", "plate 9.tif", "plate 9.toml", "b.h5", ".hidden.tif", "notes.txt", "monday/plate 1.tif")
    for name in names:
        (folder / name).write_bytes(b"x")
    return folder


def names(listed):
    return [listed.name(path) for path in listed.recordings]


def test_a_folder_stands_for_the_recordings_in_it(scans):
    found = list_recordings(scans)
    assert names(found) == ["b.h5", "plate 9.tif", "plate 10.tif"]
    assert [path.name for path in found.passed_over] == ["notes.txt"]
    assert found.root == scans


def test_a_pattern_may_look_into_folders_and_names_them(scans, monkeypatch):
    monkeypatch.chdir(scans.parent)
    assert names(list_recordings("scans/**/*.tif")) == ["monday/plate 1.tif", "plate 9.tif", "plate 10.tif"]
    assert names(list_recordings("scans/*/")) == ["monday"]
    assert names(list_recordings(["scans/b.h5", scans / "monday" / "plate 1.tif"])) == ["b.h5", "monday/plate 1.tif"]
    assert names(list_recordings("scans/plate*")) == ["plate 9.tif", "plate 10.tif"]  # the .toml is no recording


def test_what_nefty_wrote_is_no_recording(scans):
    run = scans / "plate 9-run"
    run.mkdir()
    for name in ("config.json", "result.h5", "volume.vti"):
        (run / name).write_bytes(b"{}")
    mark(scans / "out")
    inside = scans / "out" / "runs" / "b.h5"
    inside.mkdir(parents=True)
    (inside / "result.h5").write_bytes(b"x")
    assert names(list_recordings(f"{scans}/**/*.h5")) == ["b.h5"]


@pytest.mark.parametrize("given", ["nowhere", "scans/*.png", []])
def test_none_is_an_error_that_says_what_to_give(scans, monkeypatch, given):
    monkeypatch.chdir(scans.parent)
    with pytest.raises(nefty.InputError, match=r"no recording was found|there is no file or folder"):
        list_recordings(given)
