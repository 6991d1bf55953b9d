"""A batch on a cluster: broken recordings stop nobody, nothing is lost and nothing is done twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nefty
from nefty.core.cluster.place import Place
from nefty.core.storage.run_folder import read_events
from nefty.result.reconstruction import Reconstruction
from support.batches import FACTS, FEW, QUICK, write_plate, write_scans

TWO = Place(workers=2)


def wait_until(condition, seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def busy(folder: Path) -> dict[str, int]:
    """Recordings that are being reconstructed, and the processes at it."""
    found = {}
    for lock in folder.glob("working/*/.lock"):
        name = lock.parent.name
        events = [event["event"] for event in read_events(folder / "runs" / name)]
        with contextlib.suppress(ValueError, IndexError):
            if events and "finished" not in events:
                found[name] = int(lock.read_text().split()[0])
    return found


def histories(folder: Path) -> dict[str, list[str]]:
    """What happened in each run."""
    return {run.name: [event["event"] for event in read_events(run)] for run in (folder / "runs").iterdir()}


def numbers(folder: Path) -> dict[str, dict]:
    """What came out, without times and keys, which know when the files were written."""
    content = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    dropped = ("seconds", "worked", "key")
    return {one["name"]: {k: v for k, v in one.items() if k not in dropped} for one in content["recordings"]}


def test_broken_recordings_and_a_killed_worker_stop_nobody_and_one_more_computes_one(tmp_path):
    scans = write_scans(tmp_path / "scans", plates=2)
    facts, out, steps, found = tmp_path / "part.toml", tmp_path / "scans-batch", [], []

    def work() -> nefty.Batch:
        return nefty.batch(scans, facts=facts, overrides=FEW, place=TWO, watch=steps.append)

    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    wait_until(lambda: bool(busy(out)))
    killed, process = next(iter(busy(out).items()))
    os.kill(process, signal.SIGKILL)
    thread.join(timeout=400)
    (done,) = found
    assert [one.name for one in done.outcomes if not one.reason] == ["plate 1.tif", "plate 2.tif"]
    reasons = {one.name: one.reason for one in done.without_result}
    assert set(reasons) == {"cut short.tif", "empty.tif", "noise.h5", "simulated.h5"}
    assert "is empty" in reasons["empty.tif"]
    assert "material (in part.toml) does not go with" in reasons["simulated.h5"]
    assert (done.computed, done.waiting, [step.done for step in steps]) == (6, (), [1, 2, 3, 4, 5, 6])
    for name, events in histories(out).items():
        assert events.count("started") == events.count("finished") == 1, name
        assert ("resumed" in events) == (name == killed)
        assert (out / "runs" / name / "report.html").exists()

    write_plate(scans / "plate 3.tif", seed=9)
    os.utime(scans / "plate 1.tif")  # touched: it is read again, and nothing else
    before = {run: (out / "runs" / run / "result.h5").stat().st_mtime_ns for run in ("plate 1.tif", "plate 2.tif")}
    more = work()
    assert more.computed == 1
    assert len(more.outcomes) == 7
    assert {run: (out / "runs" / run / "result.h5").stat().st_mtime_ns for run in before} == before
    assert len(histories(out)["plate 3.tif"]) == 2

    nothing = nefty.batch(  # all is settled: no cluster is needed
        scans, facts=facts, overrides=FEW, place=Place(scheduler="tcp://127.0.0.1:1")
    )
    assert (nothing.computed, len(nothing.outcomes)) == (0, 7)


@pytest.fixture
def scheduler_address(tmp_path):
    """A Dask scheduler and a worker, each a process of its own."""
    told = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)],
        [*dask, "worker", "--scheduler-file", str(told), "--nthreads", "1", "--local-directory", str(tmp_path / "d")],
    ]
    with contextlib.ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            wait_until(lambda: told.exists() and bool(told.read_text().strip()))
        yield json.loads(told.read_text())["address"]


def test_a_client_that_is_stopped_or_killed_loses_nothing_and_an_external_scheduler_gives_equal_numbers(
    tmp_path, scheduler_address
):
    scans = write_scans(tmp_path / "scans", plates=4, broken=1, other=False)  # two may end while it stops
    here, there = tmp_path / "here", tmp_path / "there"
    script = str(Path(sys.executable).with_name("nefty"))
    command = [script, "batch", str(scans), "--facts", str(tmp_path / "part.toml"), *QUICK]
    local = [*command, "--out", str(here), "--workers", "2"]
    for how, code in ((signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)):
        log = tmp_path / f"{code}.log"  # no pipe: workers may hold it for some seconds more
        with open(log, "wb") as out, subprocess.Popen(local, start_new_session=True, stdout=out, stderr=out) as first:
            try:
                wait_until(lambda: bool(busy(here)) or first.poll() is not None)
                os.killpg(first.pid, how)  # as a terminal does
                first.wait(timeout=120)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(first.pid, signal.SIGKILL)
        said = log.read_text()
        assert first.returncode == code, said
        assert "Traceback" not in said
        assert "The same command goes on from here" in said or code != 130
        assert (here / "summary.html").exists()
    again = subprocess.run(local, capture_output=True, text=True, timeout=400, check=False)
    assert again.returncode == 1, again.stderr  # one recording has no result
    assert "4 of 5 recordings have a result" in again.stdout
    for name, events in histories(here).items():
        assert events.count("started") == events.count("finished") == 1, name

    far = subprocess.run(
        [*command, "--out", str(there), "--scheduler", scheduler_address],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert far.returncode == 1, far.stderr
    assert numbers(there) == numbers(here)
    for run in histories(here):
        one, other = (Reconstruction.load(folder / "runs" / run) for folder in (here, there))
        np.testing.assert_array_equal(one.alpha, other.alpha)


def test_what_all_recordings_share_is_checked_before_anything_begins(tmp_path):
    scans = write_scans(tmp_path / "scans", plates=1, broken=0, other=False)
    (tmp_path / "part.toml").write_text(FACTS.replace("thickness", "thicknes"))
    with pytest.raises(nefty.InputError, match="Did you mean 'thickness'"):
        nefty.batch(scans, facts=tmp_path / "part.toml")
    with pytest.raises(nefty.InputError, match="there is no record"):
        nefty.batch(scans, record=tmp_path / "nowhere.toml")
    with pytest.raises(nefty.InputError, match="unknown"):
        nefty.batch(scans, recipe="fst")
    assert not (tmp_path / "scans-batch").exists()
    (scans / "plate 1.toml").write_text("thicknes = '1 mm'")  # its own facts are wrong: its own outcome
    done = nefty.batch(scans)
    assert "Did you mean 'thickness'" in done.outcomes[0].reason
    assert done.computed == 0
