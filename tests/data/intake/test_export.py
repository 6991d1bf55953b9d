"""Frames for other programs: what is written is read back, and a large file needs little memory."""

import os
import tracemalloc

import numpy as np
import pytest
import tifffile

from nefty.core.errors import InputError, NeftyError
from nefty.data.intake.export import export_frames
from nefty.data.intake.known import Known
from nefty.data.read import read
from support.cameras.files import irb_video, seq
from support.flash_recordings import Camera
from support.recordings import COUNTS, ptw, thermo

WARM = COUNTS + 15000


@pytest.fixture
def camera(tmp_path):
    path = tmp_path / "plate.seq"
    path.write_bytes(seq(WARM))
    return path


@pytest.mark.parametrize("suffix", [".npz", ".tif", ".tiff"])
def test_temperatures_come_back_with_all_that_is_known(camera, tmp_path, suffix):
    written = export_frames(camera, Known(emissivity=0.8), tmp_path / f"new/out{suffix}")
    expected, found = read(camera, emissivity=0.8), read(written.path)
    assert written.path == tmp_path / f"new/out{suffix}"
    assert written.words == "6 frames of 4 x 5 pixels (rows x columns), in K"
    assert (found.frames == expected.frames).all()
    assert (found.times == expected.times).all()
    assert found.facts.scene.emissivity == 0.8
    assert found.facts.units.temperature == "K"
    assert found.facts.camera == expected.facts.camera
    assert os.listdir(tmp_path / "new") == [f"out{suffix}"]


def test_other_programs_read_them(camera, tmp_path):
    expected = read(camera).frames
    with np.load(export_frames(camera, Known(), tmp_path / "out.npz").path) as arrays:
        assert (arrays["frames"] == expected).all()
        assert np.allclose(arrays["times"], 0.02 * np.arange(6))
    assert (tifffile.imread(export_frames(camera, Known(), tmp_path / "out.tif").path) == expected).all()


def test_a_folder_of_csv(camera, tmp_path):
    written = export_frames(camera, Known(), tmp_path / "out.csv")
    assert written.path == tmp_path / "out"
    assert sorted(os.listdir(written.path)) == [f"frame-{i}.csv" for i in range(6)]
    assert (written.path / "frame-2.csv").read_text().startswith("# frame 2, 0.04 s, values in K\n")
    assert (read(written.path, fps=50, units="K").frames == read(camera).frames).all()
    with pytest.raises(NeftyError, match="is there already"):
        export_frames(camera, Known(), tmp_path / "out.csv")


def test_ambient_is_not_subtracted(tmp_path):
    thermo(tmp_path / "plate.h5")
    rise = read(tmp_path / "plate.h5")
    found = read(export_frames(tmp_path / "plate.h5", Known(), tmp_path / "a.npz").path)
    assert rise.facts.origin.ambient is not None
    assert np.allclose(found.frames, rise.frames + rise.facts.origin.ambient, atol=1e-4)
    assert found.facts.origin.ambient is None


def test_prepared_frames(tmp_path):
    np.save(tmp_path / "plate.npy", Camera(shape=(120, 12, 16), echo=330).frames())
    known = Known(fps=10, units="K", thickness="2 mm", pixel="0.5 mm", material="pvc", roi="2:10,:")
    written = export_frames(tmp_path / "plate.npy", known, tmp_path / "ready.npz", prepared=True)
    found = read(written.path)
    assert found.facts.prepared
    assert found.shape[1:] == (8, 16)
    assert written.words.endswith("in K above ambient")


def test_what_cannot_be_exported_is_named(tmp_path):
    np.save(tmp_path / "plate.npy", COUNTS)
    with pytest.raises(InputError, match=r"must end in \.npz, \.tif or \.csv"):
        export_frames(tmp_path / "plate.npy", Known(fps=1), tmp_path / "out.xlsx")
    for prepared in (False, True):
        with pytest.raises(InputError, match="fps"):
            export_frames(tmp_path / "plate.npy", Known(), tmp_path / "out.npz", prepared=prepared)
    assert os.listdir(tmp_path) == ["plate.npy"]


LARGE = (np.arange(600 * 160 * 120, dtype=np.uint32) // 256).astype(np.uint16).reshape(600, 160, 120)


@pytest.mark.parametrize(
    ("name", "content", "suffix"),
    [
        ("a.ptw", lambda: ptw(LARGE), ".tif"),
        ("a.irb", lambda: irb_video(LARGE), ".npz"),
        ("a.seq", lambda: seq(LARGE), ".npz"),
    ],
)
def test_a_large_recording_does_not_fill_the_memory(tmp_path, name, content, suffix):
    (tmp_path / name).write_bytes(content())
    export_frames(tmp_path / name, Known(), tmp_path / f"before{suffix}")  # what is imported late
    tracemalloc.start()
    export_frames(tmp_path / name, Known(), tmp_path / f"out{suffix}")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6 < 2 * LARGE.size, f"{peak / 1e6:.0f} MB for {4 * LARGE.size / 1e6:.0f} MB of frames"
