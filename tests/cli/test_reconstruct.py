import dataclasses
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nefty.cli.reconstruct import beside
from nefty.cli.run_progress import RunProgress
from nefty.core.storage.files import write_atomic
from nefty.core.storage.run_folder import read_events
from nefty.inversion.evidence.settings import MOST_FALSE_CALLS, EvidenceSettings
from nefty.inversion.recipe import load_recipe
from nefty.result.reconstruction import Reconstruction
from support.disks import file_size_limit, read_only, small_disk

STAGES = ("where", "how deep", "which shape", "edges", "finish")
QUICK = ["--set", "model.layers=6", *(word for s in STAGES for word in ("--set", f"stages.{s}.iterations=4"))]
FILES = ("report.html", "result.h5", "defects.csv", "volume.vti")


@pytest.fixture
def plain_page(monkeypatch):
    """A report without figures, where it is not the report that is tested."""
    monkeypatch.setattr(Reconstruction, "report", lambda rec, path: write_atomic(path, rec.verdict().text))


def contents(folder):
    """What every file of a folder holds, but for the lock."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.name != ".lock"}


def test_it_writes_the_files_and_says_what_it_found(recording, tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = shutil.copy(recording, "tiny.h5")
    code, out, err = call("reconstruct", here, *QUICK)
    assert code == 0
    folder = tmp_path / "tiny-run"
    for name in FILES:
        assert (folder / name).stat().st_size > 0
        assert f"tiny-run/{name}" in out
    assert "indication" in out.splitlines()[0]
    assert "times the noise" in out.replace("\n", " ")
    assert "truth" in out
    assert "To go on" not in out
    assert re.search(r"\[5/7\] Weigh the evidence: .*\n\[6/7\] Predict the frames: .*\n\[7/7\] Write the report: ", err)
    assert re.search(r"how deep: iteration 8 of 20, misfit [\d.]+ x noise floor, about .* left\n", err)

    before = {name: (folder / name).stat().st_mtime_ns for name in FILES}
    again, shown, err = call("reconstruct", here, *QUICK)
    assert again == 0
    assert shown == out
    assert "is finished" in err
    assert "Optimise" not in err
    assert before == {name: (folder / name).stat().st_mtime_ns for name in FILES}

    (folder / "report.html").unlink()
    call("reconstruct", here, *QUICK)
    assert (folder / "report.html").exists()


@pytest.mark.usefixtures("plain_page")
def test_another_run_is_refused_unless_fresh(recording, tmp_path, call):
    words = ["reconstruct", recording, "--out", tmp_path / "run", *QUICK]
    assert call(*words)[0] == 0
    kept = contents(tmp_path / "run")
    code, _, err = call(*words, "--set", "seed=5")
    assert code == 2
    assert "recipe.seed is 0 there and 5 now" in err
    assert contents(tmp_path / "run") == kept
    assert call(*words, "--set", "seed=5", "--fresh")[0] == 0
    assert Reconstruction.load(tmp_path / "run").recipe["seed"] == 5


def test_the_recipe_is_shown_complete_and_can_be_used(tmp_path, call):
    code, out, _ = call("reconstruct", "--show-recipe", "--recipe", "neural", "--set", "weight.tv=0.5", "--seconds", 9)
    assert code == 0
    (tmp_path / "mine.toml").write_text(out)
    assert load_recipe(tmp_path / "mine.toml") == load_recipe("neural", {"weight.tv": 0.5, "stop.seconds": 9})


def test_the_help_tells_the_false_calls_of_the_recipe(call):
    told = " ".join(call("reconstruct", "--help")[1].split())
    assert f"default {EvidenceSettings().false_calls:g}, at most {MOST_FALSE_CALLS}." in told


def test_false_calls_are_a_key_of_the_recipe(tmp_path, call):
    code, out, _ = call("reconstruct", "--show-recipe", "--recipe", "real", "--false-calls", 0.2)
    assert code == 0
    (tmp_path / "mine.toml").write_text(out)
    assert load_recipe(tmp_path / "mine.toml") == load_recipe("real", {"evidence.false_calls": 0.2})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "field.kund=voxel"], "Did you mean 'kind'?"),
        (["--set", "field.kind"], "key=value"),
        (["--recipe", "fats"], "Did you mean 'fast'?"),
        (["--roi", "3:9"], "y0:y1,x0:x1"),
        (["--roi", "3:90,:"], "do not lie within the 16"),
        (["--roi", "a:b,c:d"], "y0:y1,x0:x1"),
        (["--mask", "none.npy"], "cannot read the mask"),
        (["--mask", __file__], "cannot read the mask"),
        (["--seconds", "-1"], "stop.seconds"),
        (["--false-calls", "0"], "must be above 0 and at most 10"),
        (["--false-calls", "11"], "must be above 0 and at most 10"),
        (["--false-calls", "0.1", "--recipe", "paper"], "weighs no evidence"),
        (["--false-calls", "nan"], "must be above 0 and at most 10"),
        (["--sure", "1"], "off, or a number of refits from 2 to 1000"),
        (["--sure", "-3"], "off, or a number of refits"),
        (["--sure", "very"], "off, or a number of refits"),
        (["--sure", "8", "--tiles"], "does not go with --tiles"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(recording, tmp_path, call, words, said):
    code, _, err = call("reconstruct", recording, "--out", tmp_path / "run", *words)
    assert code == 2
    assert said in err
    assert not (tmp_path / "run").exists()


def test_refits_are_a_key_of_the_recipe(call):
    _, out, _ = call("reconstruct", "--show-recipe", "--recipe", "real", "--sure", "32")
    assert "members = 32" in out
    _, out, _ = call("reconstruct", "--show-recipe", "--recipe", "real", "--set", "ensemble.members=8", "--sure", "off")
    assert "members = 0" in out


def test_refits_are_added_to_a_finished_run(recording, tmp_path, call, plain_page):
    words = ["reconstruct", recording, "--out", tmp_path / "run", *QUICK, "--set", "ensemble.iterations=2"]
    assert call(*words, "--sure", "off")[0] == 0
    assert Reconstruction.load(tmp_path / "run").probability is None
    code, _, err = call(*words, "--sure", "2")
    assert code == 0
    assert "Refit to say how sure" in err
    found = Reconstruction.load(tmp_path / "run")
    assert found.ensemble is not None
    assert found.ensemble.members == 2
    assert "is finished" in call(*words)[2]  # what is there stays


def test_without_a_file_it_asks_for_one(call):
    code, _, err = call("reconstruct")
    assert code == 2
    assert "give the recording" in err


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_file_is_refused(recording, tmp_path, call, share):
    half = tmp_path / "half.h5"
    half.write_bytes(recording.read_bytes()[: int(share * recording.stat().st_size)])
    code, _, err = call("reconstruct", half, "--out", tmp_path / "run")
    assert code == 2
    assert "half.h5" in err
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("plain_page")
def test_missing_values_a_mask_a_region_and_frames_before_the_flash(sequence, tmp_path, call):
    before = np.array([-0.5, -0.25])
    frames = np.concatenate([np.zeros((2, 16, 16)), sequence.frames])
    frames[5, 3:6, 4:9] = np.nan
    frames[:, 10, 10] = np.nan
    times = np.concatenate([before, sequence.times])
    file = dataclasses.replace(sequence, frames=frames, times=times).save(tmp_path / "odd.h5")
    mask = np.ones((16, 16), dtype=bool)
    mask[:, 0] = False
    np.save(tmp_path / "mask.npy", mask)
    code, out, _ = call(
        "reconstruct", file, "--out", tmp_path / "run", "--mask", tmp_path / "mask.npy", "--roi", "2:,:-2", *QUICK
    )
    assert code == 0
    rec = Reconstruction.load(tmp_path / "run")
    assert rec.alpha.shape == (6, 16, 16)
    assert np.isnan(rec.measured[:, :, [0, 14, 15]]).all()
    assert np.isnan(rec.measured[:, :2]).all()
    assert np.isnan(rec.measured[3, 3:6, 4:9]).all()
    assert np.isnan(rec.measured[:, 10, 10]).all()
    assert np.isfinite(rec.measured[4, 3:10, 2:14]).all()
    assert len(rec.times) == 20
    assert "Note: 2 of 22 frames" in out
    assert "only rows 2 to 16 of 16 and columns 0 to 14 of 16 count" in out.replace("\n", " ")
    assert "missing values do not count" in out


@pytest.mark.usefixtures("plain_page")
def test_a_mask_adds_to_the_one_in_the_file(sequence, tmp_path, call):
    own, mine = np.ones((2, 16, 16), dtype=bool)
    own[:, 0], mine[:, 1] = False, False
    file = sequence.with_mask(own).save(tmp_path / "masked.h5")
    np.save(tmp_path / "mask.npy", mine)
    assert call("reconstruct", file, "--out", tmp_path / "run", "--mask", tmp_path / "mask.npy", *QUICK)[0] == 0
    measured = Reconstruction.load(tmp_path / "run").measured
    assert np.isnan(measured[:, :, :2]).all()
    assert np.isfinite(measured[:, :, 2:]).all()


@pytest.mark.usefixtures("plain_page")
def test_when_time_is_over_it_says_how_to_go_on(recording, finished, tmp_path, call):
    code, out, _ = call("reconstruct", recording, "--out", tmp_path / "a run", "--seconds", 1e-6, *QUICK)
    assert code == 0
    assert "best result so far" in out
    assert (tmp_path / "a run" / "report.html").exists()
    command = shlex.split(out.splitlines()[-1])
    assert command[0] == "nefty"
    assert "--seconds" not in command
    code, out, err = call(*command[1:])
    assert code == 0
    assert "To go on" not in out
    assert "Optimise" in err
    assert np.array_equal(Reconstruction.load(tmp_path / "a run").alpha, Reconstruction.load(finished).alpha)


@pytest.mark.usefixtures("plain_page")
def test_ctrl_c_keeps_the_best_so_far_and_the_same_command_goes_on(recording, finished, tmp_path, call, monkeypatch):
    tell = RunProgress._progress

    def interrupting(self, stage, done, total, misfit):
        tell(self, stage, done, total, misfit)
        if done == 10:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(RunProgress, "_progress", interrupting)
        code, out, err = call("reconstruct", recording, "--out", tmp_path / "run", *QUICK)
    assert code == 130
    assert err.endswith("Stopped.\n")
    assert "it was stopped by Ctrl-C" in out
    assert all((tmp_path / "run" / name).exists() for name in FILES)
    assert len(Reconstruction.load(tmp_path / "run").history["misfit"]) == 10
    code, _, _ = call(*shlex.split(out.splitlines()[-1])[1:])
    assert code == 0
    assert np.array_equal(Reconstruction.load(tmp_path / "run").alpha, Reconstruction.load(finished).alpha)


@pytest.mark.parametrize("compiled", [False, True])
def test_ctrl_c_before_the_first_iteration_says_that_nothing_is_kept(recording, tmp_path, call, monkeypatch, compiled):
    def interrupted(*_, **__):
        if not compiled:
            signal.raise_signal(signal.SIGINT)
        raise SystemError from KeyboardInterrupt()

    with monkeypatch.context() as patched:
        patched.setattr("nefty.inversion.reconstruct.calibrate", interrupted)
        code, out, err = call("reconstruct", recording, "--out", tmp_path / "run", *QUICK)
    assert (code, out) == (130, "")
    assert "nothing was found or kept" in err
    assert err.endswith("Stopped.\n")
    assert not (tmp_path / "run" / "result.h5").exists()


@pytest.mark.usefixtures("plain_page")
def test_a_killed_run_resumes_to_the_same_volume(recording, tmp_path, call):
    """Killed in mid-run, after a checkpoint."""
    words = ["reconstruct", str(recording), *[word.replace("=4", "=25") for word in QUICK], "--out"]
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-c", "from nefty.cli.main import main; main()", *words, str(killed)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not (killed / "checkpoint.h5").exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert not (killed / "result.h5").exists()
    assert call(*words, killed)[0] == 0
    assert [event["event"] for event in read_events(killed)] == ["started", "resumed", "finished"]
    assert call(*words, whole)[0] == 0
    resumed, straight = Reconstruction.load(killed), Reconstruction.load(whole)
    assert np.array_equal(resumed.alpha, straight.alpha)
    assert np.array_equal(resumed.history["misfit"], straight.history["misfit"])


def test_a_full_disk_is_a_clear_error(recording, tmp_path, call):
    with small_disk(tmp_path / "disk", 100_000) as disk:
        code, _, err = call("reconstruct", recording, "--out", disk / "run", *QUICK)
    assert code == 2
    assert "cannot write" in err
    assert "Traceback" not in err


@pytest.mark.usefixtures("plain_page")
def test_a_disk_that_fills_up_leaves_the_best_so_far(recording, finished, tmp_path, call):
    words = ["reconstruct", recording, "--out", tmp_path / "run", *QUICK]
    assert call(*words, "--seconds", 1e-6)[0] == 0
    kept = contents(tmp_path / "run")
    with file_size_limit(30_000):
        code, _, err = call(*words)
    assert code == 2
    assert "What was there before is unchanged" in err
    now = contents(tmp_path / "run")
    assert {name: now[name] for name in FILES} == {name: kept[name] for name in FILES}
    assert call(*words)[0] == 0
    assert np.array_equal(Reconstruction.load(tmp_path / "run").alpha, Reconstruction.load(finished).alpha)


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize("fresh", [[], ["--fresh"]])
def test_a_folder_that_cannot_be_written_is_a_clear_error(recording, tmp_path, call, fresh):
    words = ["reconstruct", recording, "--out", tmp_path / "run", *QUICK]
    assert call(*words, "--seconds", 1e-6)[0] == 0
    kept = contents(tmp_path / "run")
    with read_only(tmp_path / "run"):
        code, _, err = call(*words, *fresh)
    assert code == 2
    assert "cannot write" in err
    assert contents(tmp_path / "run") == kept


def test_it_opens_the_report_only_when_asked(recording, finished, call, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    call("reconstruct", recording, "--out", finished, *QUICK)
    assert opened == []
    call("reconstruct", recording, "--out", finished, *QUICK, "--open")
    assert opened == [(finished / "report.html").resolve().as_uri()]


@pytest.mark.parametrize(
    ("file", "folder"),
    [("a/plate.tif", "a/plate-run"), ("b/plate.tif", "b/plate-run"), ("frames", "frames-run"), ("x.y.h5", "x.y-run")],
)
def test_a_run_lies_beside_its_recording(file, folder):
    assert beside(Path(file)) == Path(folder)


def test_the_run_of_the_current_folder_lies_beside_it(tmp_path, monkeypatch):
    (tmp_path / "frames").mkdir()
    monkeypatch.chdir(tmp_path / "frames")
    assert beside(Path(".")) == tmp_path / "frames-run"


def test_another_record_rewrites_the_report_and_leaves_the_volume(recording, call, tmp_path):
    record, out = tmp_path / "mine.toml", tmp_path / "run"
    record.write_text('part = "first plate"\n')
    words = ("reconstruct", recording, "--out", out, *QUICK, "--record", record)
    code, _, err = call(*words)
    assert code == 0, err
    assert "Record of the inspection: mine.toml." in err
    before = Reconstruction.load(out)
    assert before.facts.record is not None
    assert "first plate" in (out / "report.html").read_text(encoding="utf-8")
    record.write_text('part = "second plate"\n')
    assert call(*words)[0] == 0
    after = Reconstruction.load(out)
    assert after.facts.record is not None
    assert after.facts.record.part == "second plate"
    np.testing.assert_array_equal(after.alpha, before.alpha)
    assert after.provenance == before.provenance
    assert "second plate" in (out / "report.html").read_text(encoding="utf-8")
    events = [json.loads(line)["event"] for line in (out / "events.jsonl").read_text().splitlines()]
    assert events == ["started", "finished", "recorded"]  # nothing was computed again
    written = (out / "report.html").stat().st_mtime_ns
    assert call(*words)[0] == 0
    assert (out / "report.html").stat().st_mtime_ns == written
