import os
import signal
import subprocess
import sys
import time

import numpy as np

from nefty.core.grid import Grid
from nefty.data.read import read
from nefty.synth.camera import Camera
from nefty.synth.data_set import DataSet
from nefty.synth.recording import resimulate, simulate
from nefty.synth.specimen import draw_specimen

SMALL = ["--shape", 4, 8, 8]
GRID = Grid((4, 8, 8), (1.0, 10.0, 10.0))


def test_it_writes_the_recording_of_a_seed(tmp_path, call):
    file = tmp_path / "new" / "plate.h5"
    code, out, _ = call("simulate", "--seed", 3, "--kind", "homogeneous", "--noise", 0.002, "--out", file)
    assert code == 0
    assert f"nefty reconstruct {file}" in out
    written, expected = read(file), simulate(draw_specimen(3), noise=0.002)
    assert written.digest() == expected.digest()
    assert written.truth is not None
    assert np.array_equal(written.truth, np.asarray(expected.truth))


def test_engine_gain_and_shape_are_taken_and_the_name_is_made_of_kind_and_seed(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = call("simulate", *SMALL, "--gain", 0.03, "--engine", "explicit-fine")
    assert code == 0
    assert "noise 0.1 % of the peak, gains of 3 %" in out
    written = read(tmp_path / "layered-0.h5")
    camera = Camera(noise=0.001, gain=0.03)
    expected = simulate(draw_specimen(0, "layered"), grid=GRID, engine="explicit-fine", camera=camera)
    assert written.digest() == expected.digest()


def test_it_writes_a_data_set_and_goes_on_with_it(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["simulate", *SMALL, "--kind", "homogeneous", "--noise", 0.002, "--processes", 1]
    code, out, err = call(*words, "--n", 2, "--first-seed", 5)
    assert code == 0
    assert "2 recordings of homogeneous parts in homogeneous-data" in out
    assert "nefty reconstruct homogeneous-data/homogeneous-5.h5" in out
    assert "[2/2] Simulate" in err
    before = (tmp_path / "homogeneous-data" / "homogeneous-5.h5").stat().st_mtime_ns
    code, out, _ = call(*words, "--n", 3, "--first-seed", 5)
    assert code == 0
    assert "3 recordings" in out
    assert before == (tmp_path / "homogeneous-data" / "homogeneous-5.h5").stat().st_mtime_ns
    data = DataSet.open("homogeneous-data")
    assert [entry.seed for entry in data.entries] == [5, 6, 7]
    expected = simulate(draw_specimen(6), grid=GRID, noise=0.002, dtype="float32")
    assert np.array_equal(data[1].frames, expected.frames)
    assert np.array_equal(resimulate(data[1]).frames, expected.frames)


def test_a_data_set_goes_on_after_ctrl_c_and_after_a_kill(tmp_path, call):
    folder = tmp_path / "set"

    def interrupted(end):
        """Start it in a session of its own, and end it as soon as there is a new file."""
        program = [sys.executable, "-c", "from nefty.cli.main import main; main()"]
        words = ["simulate", *map(str, SMALL), "--n", "500", "--processes", "2", "--out", str(folder)]
        pipe = subprocess.PIPE
        before, late = len(list(folder.glob("*.h5"))), time.monotonic() + 120
        run = subprocess.Popen([*program, *words], text=True, start_new_session=True, stdout=pipe, stderr=pipe)
        while len(list(folder.glob("*.h5"))) == before and time.monotonic() < late:
            time.sleep(0.02)
        end(run.pid)
        return run, *run.communicate(timeout=60)

    run, out, err = interrupted(lambda pid: os.killpg(pid, signal.SIGINT))  # as a terminal does, to all processes
    assert run.returncode == 130
    data = DataSet.open(folder)
    assert 1 <= len(data) < 500
    assert f"{len(data)} of 500 recordings are in {folder}. Run the same command again to resume." in out
    assert "Traceback" not in err
    assert len(list(data)) == len(list(folder.glob("*.h5")))
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == [".lock"]

    run, _, _ = interrupted(lambda pid: os.kill(pid, signal.SIGKILL))  # its pipes end when no worker is left
    assert run.returncode == -signal.SIGKILL
    made = len(list(folder.glob("*.h5")))
    assert made > len(data)
    code, out, _ = call("simulate", *SMALL, "--n", made + 1, "--processes", 1, "--out", folder)
    assert code == 0
    assert len(list(DataSet.open(folder))) >= made + 1


def test_what_does_not_fit_is_refused(tmp_path, call):
    for words, said in [
        (["--kind", "layerd"], "Did you mean 'layered'?"),
        (["--noise", -1, "--out", tmp_path / "a.h5"], "noise"),
        (["--gain", 0.9, "--out", tmp_path / "a.h5"], "gain=0.9 leaves pixels"),
        (["--out", tmp_path / "a.tiff"], "must be a file that ends in .h5"),
        (["--out", tmp_path], "a folder needs --n"),
        (["--engine", "phyflow"], "Did you mean 'phiflow'?"),
        (["--processes", 2], "--first-seed and --processes are for data sets"),
        (["--n", 2, "--seed", 3], "with --n use --first-seed 3"),
        (["--n", 2, "--kind", "layerd", "--out", tmp_path / "set"], "Did you mean 'layered'?"),
    ]:
        code, _, err = call("simulate", *SMALL, *words)
        assert code == 2
        assert said in err
    assert list(tmp_path.iterdir()) == []
