import re

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.data.read import read
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen
from support.cameras.files import seq
from support.flash_recordings import Camera
from support.recordings import COUNTS
from support.shared_data import shared_recording

TINY, TIMES = Grid((6, 16, 16), (1.0, 10.0, 10.0)), 0.25 * np.arange(1, 21)
CAMERA = Camera(shape=(120, 12, 16), echo=330)


@pytest.fixture(scope="module")
def plate(tmp_path_factory):
    path = tmp_path_factory.mktemp("inspect") / "plate.npy"
    frames = CAMERA.frames()
    frames[60] = 280
    frames[:, 3, 4] = 295
    np.save(path, np.minimum(frames, np.float32(302)))
    return path


def value(out, name):
    """The words behind a name, on one line."""
    found = re.search(rf"^{name} .*(?:\n {{5,}}.*)*", out, re.M)
    assert found, f"no {name} in:\n{out}"
    return " ".join(found.group()[len(name) :].split())


def test_a_file_that_says_nothing_is_shown_and_asked_about(plate, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("inspect", plate)
    assert (code, err) == (0, "")
    assert value(out, "Frames") == "120 of 12 x 16 pixels (rows x columns)"
    assert "not known" in value(out, "Rate")
    assert value(out, "Flash").startswith("Frame 11")
    assert value(out, "Corrupt frames").endswith("60.")
    assert "(3, 4)" in value(out, "Dead pixels")
    assert "302" in value(out, "Saturation")
    assert "not known" in value(out, "Size")
    for option in ("--fps", "--thickness", "--pixel", "--material"):
        assert re.search(rf"^  {option} ", out, re.M)
    assert "[assumed]" in value(out, "Losses")
    page = (tmp_path / "plate-inspect.html").read_text(encoding="utf-8")
    for words in ("How it cools", "Frame by frame", "Which frames become one", "A reconstruction would ask for more"):
        assert words in page


def test_with_everything_given_nothing_is_missing(plate, call, tmp_path):
    words = ["--fps", 10, "--thickness", "2 mm", "--pixel", "0.5 mm", "--material", "pvc", "--units", "K"]
    code, out, _ = call("inspect", plate, *words, "--out", tmp_path / "page.html")
    assert code == 0
    assert "Nothing is missing" in out
    assert value(out, "Size") == "6 x 8 mm, 2 mm thick; pixels of 0.5 mm"
    assert value(out, "Fourier number").startswith("0.32")
    assert "10 per s" in value(out, "Rate")
    assert f"nefty reconstruct {plate} --thickness '2 mm'" in out
    assert "Nothing is missing" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_simulated_recording_needs_nothing(recording, call, tmp_path):
    code, out, _ = call("inspect", recording, "--out", tmp_path / "page.html")
    assert code == 0
    assert "it says everything" in value(out, "Preparation")
    assert "Nothing is missing" in out


def test_a_cut_of_a_simulated_recording_and_one_of_both_faces(recording, call, tmp_path):
    code, out, _ = call("inspect", recording, "--roi", "2:12,:-4", "--out", tmp_path / "page.html")
    assert code == 0
    assert f"nefty reconstruct {recording} --roi 2:12,:-4" in out
    both = simulate(draw_specimen(seed=1, defects=1), grid=TINY, times=TIMES, observe="both")
    code, out, _ = call("inspect", both.save(tmp_path / "both.h5"), "--out", tmp_path / "page.html")
    assert code == 0
    assert "on each of two faces" in value(out, "Frames")


def test_a_real_recording_that_lacks_everything(call, tmp_path):
    file = shared_recording("flir_lwir.ptw")
    code, out, _ = call("inspect", file, "--out", tmp_path / "page.html")
    assert code == 0
    assert value(out, "Camera") == "Jade, 50 mm"
    assert "100 per s" in value(out, "Rate")
    assert "not found" in value(out, "Flash")
    assert "--flash-frame" in out
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_a_simulation_of_others(call, tmp_path):
    code, out, _ = call("inspect", shared_recording("comsol_cfrp_defect.hdf5"), "--out", tmp_path / "page.html")
    assert code == 0
    assert "Nothing is missing" in out
    assert value(out, "Size").startswith("20 x 20 mm, 1.3 mm thick")


def test_it_opens_only_when_asked_and_refuses_what_is_no_recording(plate, call, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    call("inspect", plate, "--out", tmp_path / "page.html")
    assert opened == []
    call("inspect", plate, "--out", tmp_path / "page.html", "--open")
    assert opened == [(tmp_path / "page.html").resolve().as_uri()]
    code, _, err = call("inspect", tmp_path / "none.npy")
    assert code == 2
    assert "there is no file" in err
    code, _, err = call("inspect", plate, "--thickness", "0 mm")
    assert code == 2
    assert "must be above 0" in err


def test_no_line_but_a_command_is_wider_than_the_terminal(plate, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = call("inspect", plate)
    long = [line for line in out.splitlines() if len(line) > 40]
    assert [line for line in long if str(plate) not in line and "-inspect.html" not in line] == []


def test_the_scene_is_a_fact_like_others(call, tmp_path):
    (tmp_path / "plate.seq").write_bytes(seq(COUNTS + 15000))
    code, out, _ = call("inspect", tmp_path / "plate.seq", "--out", tmp_path / "page.html")
    assert code == 0
    seen = "emissivity 0.95, reflected 293.15 K, atmosphere 293.15 K, humidity 0.5, distance 1 m"
    assert value(out, "Scene") == seen
    words = [
        "--emissivity",
        0.8,
        "--reflected",
        "20 C",
        "--atmosphere",
        "70 F",
        "--humidity",
        0.4,
        "--distance",
        "30 cm",
    ]
    code, out, _ = call("inspect", tmp_path / "plate.seq", *words, "--out", tmp_path / "page.html")
    assert value(out, "Scene").startswith("emissivity 0.8, reflected 293.15 K, atmosphere 294.261 K, humidity 0.4")
    assert "--emissivity 0.8 --reflected '20 C'" in out  # in the command that reconstructs
    for wrong, said in (
        (["--emissivity", 1.3], "emissivity=1.3 must be at most 1"),
        (["--reflected", "20"], "has no unit"),
        (["--reflected", "20 mm"], "is a length"),
    ):
        code, _, err = call("inspect", tmp_path / "plate.seq", *wrong, "--out", tmp_path / "page.html")
        assert (code, said in err) == (2, True), err


def test_frames_are_exported(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plate.seq").write_bytes(seq(COUNTS + 15000))
    code, out, _ = call("inspect", "plate.seq", "--export", "out.npz", "--emissivity", 0.8)
    assert code == 0
    assert out == "out.npz  6 frames of 4 x 5 pixels (rows x columns), in K\n"
    assert (read("out.npz").frames == read("plate.seq", emissivity=0.8).frames).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.npz", "plate.seq"]
    code, _, err = call("inspect", "plate.seq", "--export", "out.xlsx")
    assert (code, "must end in .npz, .tif or .csv" in err) == (2, True)


def test_prepared_frames_are_exported(plate, call, tmp_path):
    words = ["--fps", 10, "--thickness", "2 mm", "--pixel", "0.5 mm", "--material", "pvc", "--units", "K"]
    code, out, _ = call("inspect", plate, *words, "--export-prepared", tmp_path / "ready.csv")
    assert code == 0
    assert "in K above ambient" in out
    assert len(list((tmp_path / "ready").iterdir())) == int(out.split("  ")[1].split()[0])


def test_write_makes_a_facts_file_that_is_then_found(plate, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / "mine.npy"
    copy.write_bytes(plate.read_bytes())
    words = ["--fps", 10, "--thickness", "2 mm", "--pixel", "0.5 mm", "--material", "pvc", "--units", "K"]
    code, out, err = call("inspect", copy, *words, "--write")
    assert code == 0, err
    assert "mine.toml" in out
    code, out, _ = call("inspect", copy)
    assert code == 0
    assert "Nothing is missing" in out
    assert value(out, "Files").startswith("Facts of mine.toml, which lies beside the recording: material pvc")
    before = (tmp_path / "mine.toml").read_text()
    code, _, err = call("inspect", copy, "--write")
    assert code == 2
    assert "is there already" in err
    assert (tmp_path / "mine.toml").read_text() == before
