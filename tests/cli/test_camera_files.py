"""Recordings of cameras at the command line: facts from options, one error for all that is missing."""

import os
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from nefty.data.facts import Window
from nefty.inversion.recipe import load_recipe
from nefty.result.reconstruction import Reconstruction
from support.flash_recordings import Camera
from support.known_facts import material_of
from support.shared_data import shared_recording

STAGES = [stage.name for stage in load_recipe("real").stages]  # of recordings in metres
QUICK = ["--set", "model.layers=6", *(word for s in STAGES for word in ("--set", f"stages.{s}.iterations=1"))]
WORDS = ["--thickness", "2 mm", "--pixel", "0.5 mm", "--material", "pvc", "--fps", "10"]
CAMERA = Camera(shape=(150, 16, 20), echo=330)  # 2 mm of PVC at 10 frames per second


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """A file of counts, which says nothing else."""
    path = tmp_path_factory.mktemp("camera") / "plate.npy"
    np.save(path, CAMERA.counts())
    return path


def test_one_error_names_all_that_is_missing_and_nothing_is_written(counts, call, tmp_path):
    code, out, err = call("reconstruct", counts, "--out", tmp_path / "run")
    assert code == 2
    assert out == ""
    for option in ("--fps", "--thickness", "--pixel", "--material"):
        assert option in err
    assert err.count("nefty:") == 1
    assert not (tmp_path / "run").exists()
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "run", *WORDS[:4])
    assert "--thickness" not in err
    assert "--material" in err


def test_a_flash_that_is_not_there_is_asked_for(call, tmp_path):
    np.save(tmp_path / "cooling.npy", CAMERA.frames()[12:])
    code, _, err = call("reconstruct", tmp_path / "cooling.npy", *WORDS)
    assert code == 2
    assert "--flash-frame" in err
    code, _, err = call("reconstruct", tmp_path / "cooling.npy", *WORDS, "--flash-frame", 0)
    assert code == 2
    assert "--ambient" in err
    assert "--flash-frame" not in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--thickness", "0 mm"], "--thickness=0 must be above 0"),
        (["--thickness", "2"], "has no unit"),
        (["--pixel", "0.2 mmm"], "unknown unit"),
        (["--pixel", "3 s"], "is a time"),
        (["--material", "pvcc"], "Did you mean 'pvc'?"),
        (["--alpha", "0 m2/s"], "--alpha"),
        (["--pulse", "5 mm"], "is a length"),
        (["--roi", "0:99,0:5"], "do not lie within the 16"),
        (["--roi", "0-9"], "y0:y1,x0:x1"),
        (["--flash-frame", "150"], "not one of the 150 frames"),
        (["--flash-frame", "-1"], "--flash-frame -1 must be a whole number of at least 0"),
        (["--bin", "17"], "larger than the frames"),
        (["--bin", "0"], "--bin"),
        (["--frames", "many"], "--frames"),
        (["--ambient", "warm"], "--ambient"),
        (["--calibration", "3"], "slope,offset"),
        (["--corrupt", "3,x"], "--corrupt"),
        (["--gain", "late"], "gain"),
        (["--units", "F"], "units"),
        (["--lookup", "none.npy"], "cannot read the lookup table"),
        (["--start", "99 s"], "no frame lies between"),
        (["--fps", "-3"], "fps=-3 must be above 0"),
    ],
)
def test_what_does_not_fit_is_a_clear_error(counts, call, tmp_path, words, said):
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "run", *WORDS, *words)
    assert code == 2
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


def test_a_cameras_file_is_reconstructed_and_resumed_with_all_its_options(counts, call, tmp_path):
    words = [*WORDS, "--calibration", "0.005,250", "--roi", "2:14,2:-2", "--frames", "20", "--bin", "2"]
    code, out, err = call("reconstruct", counts, "--out", tmp_path / "run", *words, "--seconds", 1e-6, *QUICK)
    assert code == 0, err
    assert "Assumed, losses" in err
    command = shlex.split(out.splitlines()[-1])
    for word in words:
        assert word in command
    code, out, _ = call(*command[1:])
    assert code == 0
    assert "To go on" not in out
    rec = Reconstruction.load(tmp_path / "run")
    assert rec.grid.shape[1:] == (6, 8)
    assert rec.grid.size == pytest.approx((2e-3, 6e-3, 8e-3))
    assert material_of(rec).name == "pvc"
    assert rec.facts.stepped("times") is not None
    assert rec.facts.window == Window(top=2, left=2, bin=2)


def test_a_real_file_is_asked_for_all_it_lacks(call):
    code, _, err = call("reconstruct", shared_recording("flir_lwir.ptw"))
    assert code == 2
    for option in ("--thickness", "--pixel", "--material", "--flash-frame"):
        assert option in err
    assert "--fps" not in err


def test_a_file_whose_name_is_no_utf8_goes_all_the_way(counts, tmp_path):
    file = os.fsencode(tmp_path) + b"/\xff.npy"
    shutil.copy(counts, file)
    run = [sys.executable, "-c", "from nefty.cli.main import main; main()"]
    strict = {**os.environ, "PYTHONIOENCODING": "utf-8:strict"}

    def nefty(*words):
        done = subprocess.run([*run, *words], cwd=tmp_path, env=strict, capture_output=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert b"reconstruct '\xff.npy'" in nefty("inspect", b"\xff.npy", *WORDS)
    nefty("reconstruct", b"\xff.npy", *WORDS, *QUICK)
    folder = os.fsencode(tmp_path) + b"/\xff-run/"
    for name in (b"report.html", b"defects.csv"):
        with open(folder + name, encoding="utf-8") as text:
            assert text.read()


def test_the_course_of_the_heating_is_a_file(counts, call, tmp_path):
    curve = tmp_path / "lamp.csv"
    curve.write_text("time (s),lamp (V)\n0,1\n8,1\n")
    words = [*WORDS, "--calibration", "0.005,250", "--flash-frame", "10", "--heating", str(curve), "--bin", "2"]
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "run", *words, *QUICK)
    assert code == 0, err
    rec = Reconstruction.load(tmp_path / "run")
    assert rec.facts.heating is not None
    assert (rec.facts.heating.kind, rec.facts.heating.duration) == ("HeatingCurve", 8.0)
    curve.write_text("0,1\n8,-1\n")
    code, _, err = call("reconstruct", counts, "--out", tmp_path / "other", *words)
    assert (code, "line 2: value -1 is negative" in err) == (2, True)
