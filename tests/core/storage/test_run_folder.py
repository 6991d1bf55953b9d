"""A run folder: resumes its own run, refuses another, survives a kill, a full disk and a read-only folder."""

import errno
import fcntl
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.hdf5 import read_hdf5
from nefty.core.storage.run_folder import RunFolder, read_events
from support.disks import file_size_limit, read_only, small_disk

CONFIG = {"recipe": "fast", "seed": 0, "tv": {"weight": 3.0, "on": "log"}, "frames": (1, 2), "stop": {"seconds": None}}
STATE = {"alpha": np.arange(5.0), "iteration": 7, "pairs": [np.ones(2), np.zeros(2)]}


def start(path, config=CONFIG, fingerprint="abc", **options):
    return RunFolder.open(path, config, fingerprint, **options)


def names(path):
    return [event["event"] for event in read_events(path)]


def test_a_new_run_writes_its_configuration_first(tmp_path):
    with start(tmp_path / "runs" / "a") as run:
        assert not run.resumed
        assert not run.finished
        assert run.load_checkpoint() is None
        record = json.loads((run.path / "config.json").read_text())
    assert record["config"] == {**CONFIG, "frames": [1, 2]} == run.config
    assert record["fingerprint"] == "abc" == run.fingerprint
    assert names(run.path) == ["started"]


def test_the_same_run_goes_on_from_its_checkpoint(tmp_path):
    with start(tmp_path) as run:
        run.checkpoint({"iteration": 1})
        run.checkpoint(STATE)
    with start(tmp_path) as run:
        assert run.resumed
        state = run.load_checkpoint()
    assert state is not None
    assert state["iteration"] == 7
    assert (state["alpha"] == STATE["alpha"]).all()
    assert [p.tolist() for p in state["pairs"]] == [[1, 1], [0, 0]]
    assert names(tmp_path) == ["started", "resumed"]


def test_a_finished_run_is_known_and_left_as_it_is(tmp_path):
    with start(tmp_path) as run:
        run.checkpoint(STATE)
        with pytest.raises(NeftyError, match=r"result\.h5 is not there"):
            run.finish()
        run.finish({"alpha": np.ones(3)}, misfit=1.02, stopped="plateau")
        assert run.finished
    assert not (tmp_path / "checkpoint.h5").exists()
    before = (tmp_path / "events.jsonl").read_bytes()
    with start(tmp_path) as run:
        assert run.finished
        assert read_hdf5(run.result, kind="result")["alpha"].tolist() == [1, 1, 1]
        assert run.events()[-1]["misfit"] == 1.02
    assert (tmp_path / "events.jsonl").read_bytes() == before


def test_the_best_so_far_does_not_end_a_run(tmp_path):
    with start(tmp_path) as run:
        run.checkpoint(STATE)
        run.save_result({"alpha": np.ones(3)})
        assert not run.finished
    with start(tmp_path) as run:
        assert not run.finished
        assert run.load_checkpoint() is not None
        run.finish(keep_checkpoint=True)
        assert run.load_checkpoint() is not None


@pytest.mark.parametrize(
    ("config", "fingerprint", "message"),
    [
        (
            {**CONFIG, "seed": 1},
            "abc",
            r"holds another run: seed is 0 there and 1 now\. Choose another folder, or .*--fresh",
        ),
        (
            {**CONFIG, "tv": {"weight": 1.0}},
            "abc",
            r'tv\.on is "log" there and not set now; tv\.weight is 3.0 there and 1.0',
        ),
        (CONFIG, "xyz", r"holds another run: its input .* is another"),
        ({**CONFIG, **{f"k{i}": i for i in range(9)}}, "xyz", r"k5 is not set there and 5 now; and 3 more; its input"),
    ],
)
def test_another_run_is_refused_and_the_difference_named(tmp_path, config, fingerprint, message):
    with start(tmp_path) as run:
        run.checkpoint(STATE)
    held = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != ".lock"}
    with pytest.raises(InputError, match=message):
        start(tmp_path, config, fingerprint)
    assert held == {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.name != ".lock"}
    start(tmp_path).close()  # and it let go of the lock


def test_a_run_that_never_came_to_a_checkpoint_leaves_its_folder_to_another(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    start(tmp_path).close()
    with start(tmp_path, {**CONFIG, "seed": 1}, "xyz") as run:
        assert not run.resumed
        assert (run.config["seed"], run.fingerprint) == (1, "xyz")
        assert names(tmp_path) == ["started"]
        run.save_result({"best": 1})
    assert (tmp_path / "notes.txt").exists()
    with pytest.raises(InputError, match="holds another run"):  # for now there is something to lose
        start(tmp_path)


def test_keys_that_do_not_decide_the_result_may_differ(tmp_path):
    start(tmp_path).close()
    longer = {**CONFIG, "stop": {"seconds": 60}}
    with start(tmp_path, longer, free=["stop.seconds"]) as run:
        assert run.resumed
    assert json.loads((tmp_path / "config.json").read_text())["config"]["stop"] == {"seconds": 60}


def test_fresh_deletes_the_run_and_nothing_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with start(tmp_path) as run:
        run.checkpoint(STATE)
        run.finish({"alpha": np.ones(3)}, keep_checkpoint=True)
    with start(tmp_path, {**CONFIG, "seed": 5}, fresh=True) as run:
        assert not run.resumed
        assert not run.finished
        assert run.load_checkpoint() is None
    assert sorted(p.name for p in tmp_path.iterdir()) == [".lock", "config.json", "events.jsonl", "notes.txt"]
    assert names(tmp_path) == ["started"]


@pytest.mark.parametrize("content", ["{}", '{"compilerOptions": 1}', "[1]", '{"format": 1, ', b"\xff\xfe"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_configuration_of_something_else_is_never_overwritten(tmp_path, content, fresh):
    content = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(
        InputError, match=r"config\.json is not the configuration of a nefty run; choose another folder"
    ):
        start(tmp_path, fresh=fresh)
    assert (tmp_path / "config.json").read_bytes() == content


def test_a_result_without_a_configuration_is_not_taken_over(tmp_path):
    (tmp_path / "result.h5").write_text("precious")
    with pytest.raises(InputError, match=r"holds result\.h5 but no config\.json"):
        start(tmp_path)
    assert (tmp_path / "result.h5").read_text() == "precious"


def test_a_newer_format_is_refused(tmp_path):
    start(tmp_path).close()
    record = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**record, "format": 9}))
    with pytest.raises(InputError, match="format 9"):
        start(tmp_path)


def test_events_have_a_time_and_plain_values(tmp_path):
    with start(tmp_path) as run:
        run.log("step", misfit=np.float32(0.5), stage="coarse", sizes=(1, 2), nothing=None)
        with pytest.raises(InputError, match="cannot have a value called 'time'"):
            run.log("step", time=3)
        with pytest.raises(InputError, match=r"step/a=.*cannot be saved"):
            run.log("step", a=object())
        *_, last = run.events()
    assert last.pop("time").endswith("+00:00")
    assert last == {"event": "step", "misfit": 0.5, "stage": "coarse", "sizes": [1, 2], "nothing": None}
    assert read_events(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("tail", [b'{"time": "2026-01-01T00:', b'{"a": "\xc3', b"\x00\x00\x00", b"12"])
def test_a_line_cut_by_a_kill_is_passed_over_and_the_next_is_whole(tmp_path, tail):
    with start(tmp_path) as run:
        run.log("step", n=1)
    with open(tmp_path / "events.jsonl", "ab") as file:
        file.write(tail)
    assert names(tmp_path) == ["started", "step"]
    with start(tmp_path) as run:
        run.log("step", n=2)
    assert names(tmp_path) == ["started", "step", "resumed", "step"]


def test_a_checkpoint_that_is_damaged_or_of_another_run_is_refused(tmp_path):
    with start(tmp_path / "a") as run:
        run.checkpoint(STATE)
        whole = (run.path / "checkpoint.h5").read_bytes()
        (run.path / "checkpoint.h5").write_bytes(whole[:-100])
        with pytest.raises(InputError, match=r"checkpoint\.h5 is damaged or cut off.*--fresh"):
            run.load_checkpoint()
    with start(tmp_path / "b", fingerprint="other") as run:
        (run.path / "checkpoint.h5").write_bytes(whole)
        with pytest.raises(InputError, match="another run"):
            run.load_checkpoint()


WORKER = """
import sys, numpy as np
from nefty.core.storage.run_folder import RunFolder
run = RunFolder.open(sys.argv[1], {"n": 1}, "abc")
state = run.load_checkpoint() or {"n": 0}
for n in range(state["n"] + 1, 10**6):
    run.log("step", n=n)
    run.checkpoint({"n": n, "field": np.full(50_000, float(n))})
    print(n, flush=True)
"""


def test_a_run_killed_at_any_moment_goes_on(tmp_path):
    reached = 0
    for lines in (1, 8, 23):
        child = subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        seen = [int(child.stdout.readline()) for _ in range(lines)]
        with pytest.raises(NeftyError, match=rf"another run works in .*process {child.pid} on .*choose another folder"):
            start(tmp_path, {"n": 1})
        child.kill()
        child.wait()
        child.stdout.close()
        assert seen[0] > reached
        with start(tmp_path, {"n": 1}) as run:
            state = run.load_checkpoint()
            assert state is not None
            assert (state["field"] == state["n"]).all()
            assert state["n"] >= seen[-1]
            reached = state["n"]
            assert not list(tmp_path.glob(".checkpoint.h5.*"))
            assert {e["n"] for e in run.events() if e["event"] == "step"} >= set(range(1, reached + 1))


def test_what_a_killed_write_left_is_swept_up(tmp_path):
    start(tmp_path).close()
    (tmp_path / ".checkpoint.h5.abcd1234").write_bytes(b"half")
    (tmp_path / ".checkpoint.h5.mine").write_bytes(b"not ours")
    start(tmp_path).close()
    assert sorted(p.name for p in tmp_path.glob(".check*")) == [".checkpoint.h5.mine"]


def test_two_runs_in_one_process_do_not_share_a_folder(tmp_path):
    with start(tmp_path) as run:
        with pytest.raises(NeftyError, match="another run works"):
            start(tmp_path, fresh=True)
        run.close()
        start(tmp_path).close()


def test_a_disk_without_locks_is_used_without(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    start(tmp_path).close()


def test_a_full_disk_is_said_and_what_was_there_stays(tmp_path):
    with small_disk(tmp_path / "disk", 2**18) as disk:
        run = start(disk / "run")
        run.checkpoint(STATE)
        run.save_result({"best": 1})
        with pytest.raises(NeftyError, match=r"cannot write .*checkpoint\.h5: No space left on device"):
            run.checkpoint({"alpha": np.zeros(10**5)})
        with pytest.raises(NeftyError, match=r"cannot write .*result\.h5: No space left on device"):
            run.finish({"alpha": np.random.default_rng(0).random(10**5)})
        (disk / "filler").write_bytes(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize))
        before = run.events()
        with pytest.raises(NeftyError, match=r"cannot write .*events\.jsonl: No space left on device"):
            run.log("step", note="x" * 10**5)
        assert run.events()[: len(before)] == before
        with pytest.raises(NeftyError, match="No space left"):
            start(disk / "other")
        run.close()
        (disk / "filler").unlink()
        with start(disk / "run") as run:
            state = run.load_checkpoint()
            assert state is not None
            assert state["iteration"] == 7
            assert read_hdf5(run.result, kind="result") == {"best": 1}
            assert not run.finished


def test_a_line_that_does_not_fit_is_taken_back(tmp_path):
    with start(tmp_path) as run:
        length = (tmp_path / "events.jsonl").stat().st_size
        with file_size_limit(length + 20), pytest.raises(NeftyError, match=r"events\.jsonl: File too large"):
            run.log("step", n=1)
        assert (tmp_path / "events.jsonl").stat().st_size == length
        run.log("step", n=2)
    assert names(tmp_path) == ["started", "step"]


def test_a_read_only_folder_is_said(tmp_path):
    path = tmp_path / "run"
    with start(path) as run:
        run.checkpoint(STATE)
    with start(path) as run, read_only(path):
        for act in (lambda: run.checkpoint({"n": 1}), lambda: run.log("step"), lambda: run.finish({"n": 1})):
            with pytest.raises(NeftyError, match=r"cannot write .*(Read-only|Permission)"):
                act()
    with read_only(path), pytest.raises(NeftyError, match=r"cannot write .*run.*choose another folder"):
        start(path)
    with start(path) as run:
        assert run.load_checkpoint() is not None


def test_a_file_in_place_of_the_folder_is_said(tmp_path):
    (tmp_path / "run").write_text("a file")
    with pytest.raises(NeftyError, match="cannot write"):
        start(tmp_path / "run")
    with pytest.raises(NeftyError, match="cannot write"):
        start(tmp_path / "run" / "below")
    assert (tmp_path / "run").read_text() == "a file"
