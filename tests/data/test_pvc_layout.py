"""Folders made by hand in the published layout."""

import shutil
import tracemalloc

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from nefty.core.errors import InputError
from nefty.data.facts import Units
from nefty.data.pvc_layout import PvcFolder
from support.known_facts import defects_of
from support.notes import texts

SHAPE = (12, 16, 30)


def add(root, name, counts, grey, folder="manual_mask", **options):
    """One recording and its label."""
    (root / "data").mkdir(parents=True, exist_ok=True)
    (root / "labels" / folder).mkdir(parents=True, exist_ok=True)
    savemat(root / "data" / f"{name}.mat", {"imageArray": counts}, **options)
    Image.fromarray(grey.astype(np.uint8)).save(root / "labels" / folder / f"{name}.png")


@pytest.fixture
def counts(rng):
    return rng.integers(3000, 9000, SHAPE, dtype=np.uint16)


@pytest.fixture
def grey():
    found = np.zeros(SHAPE[:2])
    found[3:6, 4:9] = 102
    found[8:10, 11:14] = 255
    return found


@pytest.fixture
def root(tmp_path, counts, grey):
    add(tmp_path, "R_001", counts, grey)
    add(tmp_path, "Z_014", counts[::-1], grey[::-1])
    return tmp_path


def test_a_recording_is_read_without_its_first_column(root, counts, grey):
    folder = PvcFolder.open(root)
    assert [(f.name, f.kind, f.number) for f in folder.files] == [("R_001", "rectangular", 1), ("Z_014", "round", 14)]
    found = folder.load(folder.files[0], pixel=0.4e-3)
    np.testing.assert_array_equal(found.frames, counts.transpose(2, 0, 1)[:, :, 1:])
    np.testing.assert_allclose(found.times, np.arange(30) / 10)
    assert found.size == pytest.approx((5e-3, 12 * 0.4e-3, 15 * 0.4e-3))
    assert found.facts.units == Units(length="m", time="s", temperature="counts")
    known = defects_of(found)
    assert known.depth is not None
    np.testing.assert_allclose(known.depth, np.where(grey > 0, grey / 51 * 0.5e-3, np.nan)[:, 1:])
    np.testing.assert_array_equal(known.mask, grey[:, 1:] > 0)
    assert folder.holes(folder.files[0]) is None


def test_the_pixel_is_given_or_said_to_be_assumed(root):
    folder = PvcFolder.open(root)
    given = texts(folder.load(folder.files[0], pixel=0.4e-3))
    assert any("A pixel shows 0.4 mm, as given" in note for note in given)
    assumed = folder.load(folder.files[0], pixel="height")
    assert assumed.size is not None
    assert assumed.size[1] == pytest.approx(0.1)
    assert any("ASSUMED: the plate's 100 mm fill the height" in note for note in texts(assumed))
    with pytest.raises(InputError, match=r"pixel='heigth' is unknown.*Did you mean 'height'\?"):
        folder.load(folder.files[0], pixel="heigth")
    with pytest.raises(InputError, match="pixel"):
        folder.load(folder.files[0], pixel=0.0)
    with pytest.raises(TypeError):
        folder.load(folder.files[0])  # pyright: ignore[reportCallIssue]


def test_a_packed_file_is_read_too(tmp_path, counts, grey):
    add(tmp_path, "R_001", counts, grey, do_compression=True)
    folder = PvcFolder.open(tmp_path)
    found = folder.load(folder.files[0], pixel="height")
    np.testing.assert_array_equal(found.frames, counts.transpose(2, 0, 1)[:, :, 1:])


def test_the_usual_split_is_stable_and_disjoint(tmp_path):
    for folder, suffix in (("data", ".mat"), ("labels/manual_mask", ".png")):
        (tmp_path / folder).mkdir(parents=True)
        for letter in "RZ":
            for number in range(1, 20):
                (tmp_path / folder / f"{letter}_{number:03d}{suffix}").touch()
    folder = PvcFolder.open(tmp_path)
    parts = {name: [f.name for f in folder.split(name)] for name in ("train", "validation", "test")}
    assert [len(part) for part in parts.values()] == [26, 6, 6]
    assert sorted(name for part in parts.values() for name in part) == sorted(f.name for f in folder.split("all"))
    assert parts["test"] == [f.name for f in PvcFolder.open(tmp_path).split("test")]
    with pytest.raises(InputError, match=r"split='tset' is unknown.*Did you mean 'test'\?"):
        folder.split("tset")


def test_fewer_recordings_are_split_in_proportion(root):
    folder = PvcFolder.open(root)
    sizes = [len(folder.split(name)) for name in ("train", "validation", "test")]
    assert sum(sizes) == 2


def test_the_fingerprint_is_of_the_content(root, tmp_path_factory):
    files = PvcFolder.open(root).files
    prints = [file.fingerprint() for file in files]
    assert prints[0] != prints[1]
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(root, copy, dirs_exist_ok=True)
    assert [file.fingerprint() for file in PvcFolder.open(copy).files] == prints
    with open(copy / "data" / "R_001.mat", "r+b") as file:
        file.seek(-100, 2)
        file.write(b"changed!")
    assert PvcFolder.open(copy).files[0].fingerprint() != prints[0]


def test_a_wrong_folder_says_what_is_expected(tmp_path, root):
    with pytest.raises(InputError, match=r"there is no such folder; give the folder that holds data/R_001.mat"):
        PvcFolder.open(tmp_path / "none")
    with pytest.raises(InputError, match=r"holds no folder 'data' \(only R_001.mat, Z_014.mat\)"):
        PvcFolder.open(root / "data")
    (tmp_path / "empty" / "data").mkdir(parents=True)
    with pytest.raises(InputError, match=r"holds no recording named R_001.mat or Z_001.mat"):
        PvcFolder.open(tmp_path / "empty")
    with pytest.raises(InputError, match=r"labels='manul' is unknown.*Did you mean 'manual'\?"):
        PvcFolder.open(root, "manul")


def test_recordings_without_a_label_are_left_out_and_named(root):
    (root / "labels" / "manual_mask" / "Z_014.png").unlink()
    folder = PvcFolder.open(root)
    assert [file.name for file in folder.files] == ["R_001"]
    assert folder.unlabelled == ("Z_014",)
    with pytest.raises(InputError, match=r"none of the 2 recordings in .* has a label in .*automated_mask"):
        PvcFolder.open(root, "automated")


def test_a_label_of_another_shape_is_refused(root, grey):
    Image.fromarray(grey[:-2].astype(np.uint8)).save(root / "labels" / "manual_mask" / "R_001.png")
    folder = PvcFolder.open(root)
    with pytest.raises(InputError, match=r"R_001.png has 10 x 16 pixels, the recording 12 x 16 \(y, x\)"):
        folder.load(folder.files[0], pixel="height")


def test_files_that_are_cut_off_or_hold_something_else_are_refused(root, counts, grey):
    folder = PvcFolder.open(root)
    path = folder.files[0].data
    whole = path.read_bytes()
    for length in (0, 60, 150, 300, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"R_001.mat"):
            folder.load(folder.files[0], pixel="height")
    savemat(path, {"frames": counts})
    with pytest.raises(InputError, match=r"holds frames, and a recording of this layout 'imageArray' \(y, x, t\)"):
        folder.load(folder.files[0], pixel="height")
    savemat(path, {"imageArray": counts.astype(float)})
    with pytest.raises(InputError, match="imageArray is float64 of shape"):
        folder.load(folder.files[0], pixel="height")
    path.write_bytes(b"MATLAB 7.3 MAT-file, which is another format" + b" " * 500)
    with pytest.raises(InputError, match="damaged MATLAB file"):
        folder.load(folder.files[0], pixel="height")


def test_what_is_known_of_generated_recordings_is_used(root):
    (root / "generated.json").write_text('{"fps": 2.0, "pixel": 1e-3, "plates": {"R_001": {"holes": [{"depth": 1}]}}}')
    folder = PvcFolder.open(root)
    found = folder.load(folder.files[0], pixel="height")
    assert found.times[-1] == pytest.approx(29 / 2)
    assert found.size == pytest.approx((5e-3, 12e-3, 15e-3))
    assert any("as generated.json says" in note for note in texts(found))
    assert folder.load(folder.files[0], pixel="height", fps=5.0).times[-1] == pytest.approx(29 / 5)
    assert folder.holes(folder.files[0]) == [{"depth": 1}]
    for wrong in ("{", '{"fps": 1}', '{"fps": 0, "pixel": 1, "plates": {}}', '{"fps": 1, "pixel": 1, "plates": []}'):
        (root / "generated.json").write_text(wrong)
        with pytest.raises(InputError, match=r"generated.json is damaged"):
            PvcFolder.open(root)


def test_a_recording_is_not_in_memory_several_times(tmp_path, rng):
    counts = rng.integers(3000, 9000, (64, 80, 800), dtype=np.uint16)
    add(tmp_path, "R_001", counts, np.zeros((64, 80)))
    folder = PvcFolder.open(tmp_path)
    folder.load(folder.files[0], pixel="height")
    tracemalloc.start()
    try:
        found = folder.load(folder.files[0], pixel="height")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < found.frames.nbytes + 12 * 2**20  # the result, and pieces of a million values
