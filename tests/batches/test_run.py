"""A batch on a cluster: broken recordings stop nobody, nothing is lost and nothing is done twice."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nefty
from nefty.core.cluster.place import Place
from nefty.result.reconstruction import Reconstruction
from support.batch_folders.scans import FACTS, FEW, write_plate, write_scans
from support.batch_folders.watching import (
    batch_command,
    busy,
    ended,
    external_scheduler,
    histories,
    numbers,
    wait_until,
)

TWO = Place(workers=2)


@dataclass(frozen=True)
class Killed:
    """A batch of two plates, four files that cannot be, and a worker that was killed."""

    scans: Path
    out: Path
    run: str
    steps: list[Any]
    done: nefty.Batch


@pytest.fixture(scope="module")
def after_a_kill(tmp_path_factory) -> Killed:
    folder = tmp_path_factory.mktemp("killed")
    scans, out, steps, found = write_scans(folder / "scans", plates=2), folder / "scans-batch", [], []
    thread = threading.Thread(target=lambda: found.append(work(scans, steps)))
    thread.start()
    wait_until(lambda: bool(busy(out)))
    killed, process = next(iter(busy(out).items()))
    os.kill(process, signal.SIGKILL)
    thread.join(timeout=400)
    return Killed(scans, out, killed, steps, *found)


def work(scans: Path, steps: list[Any], place: Place = TWO) -> nefty.Batch:
    return nefty.batch(scans, facts=scans.parent / "part.toml", overrides=FEW, place=place, watch=steps.append)


def test_broken_recordings_and_a_killed_worker_stop_nobody_and_one_more_computes_one(after_a_kill):
    scans, out, done, steps = after_a_kill.scans, after_a_kill.out, after_a_kill.done, after_a_kill.steps
    assert [one.name for one in done.outcomes if not one.reason] == ["plate 1.tif", "plate 2.tif"]
    reasons = {one.name: one.reason for one in done.without_result}
    assert set(reasons) == {"cut short.tif", "empty.tif", "noise.h5", "simulated.h5"}
    assert "is empty" in reasons["empty.tif"]
    assert "material (in part.toml) does not go with" in reasons["simulated.h5"]
    assert (done.computed, done.waiting, [step.done for step in steps]) == (6, (), [1, 2, 3, 4, 5, 6])
    for name, events in histories(out).items():
        assert events.count("started") == events.count("finished") == 1, name
        assert ("resumed" in events) == (name == after_a_kill.run)
        assert (out / "runs" / name / "report.html").exists()

    write_plate(scans / "plate 3.tif", seed=9)
    os.utime(scans / "plate 1.tif")  # touched: it is read again, and nothing else
    before = {run: (out / "runs" / run / "result.h5").stat().st_mtime_ns for run in ("plate 1.tif", "plate 2.tif")}
    more = work(scans, steps, Place(workers=1))
    assert more.computed == 1
    assert len(more.outcomes) == 7
    assert {run: (out / "runs" / run / "result.h5").stat().st_mtime_ns for run in before} == before
    assert len(histories(out)["plate 3.tif"]) == 2

    nothing = nefty.batch(  # all is settled: no cluster is needed
        scans, facts=scans.parent / "part.toml", overrides=FEW, place=Place(scheduler="tcp://127.0.0.1:1")
    )
    assert (nothing.computed, len(nothing.outcomes)) == (0, 7)


@pytest.fixture
def scheduler_address(tmp_path):
    with external_scheduler(tmp_path) as address:
        yield address


def stop(words: list[str], out: Path, how: signal.Signals) -> None:
    """Begin a batch and stop it at its work, as a terminal does."""
    code = 130 if how is signal.SIGINT else -how
    log = out.with_name(f"{code}.log")  # no pipe: workers may hold it for some seconds more
    with open(log, "wb") as said, subprocess.Popen(words, start_new_session=True, stdout=said, stderr=said) as first:
        try:
            wait_until(lambda: bool(busy(out)) or first.poll() is not None)
            os.killpg(first.pid, how)
            first.wait(timeout=120)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(first.pid, signal.SIGKILL)
    text = log.read_text()
    assert first.returncode == code, text
    assert "Traceback" not in text
    assert "Run the same command again to resume" in text or code != 130
    assert (out / "summary.html").exists()


def test_a_client_that_is_stopped_loses_nothing_and_an_external_scheduler_gives_equal_numbers(
    tmp_path, scheduler_address, after_a_kill
):
    scans = write_scans(tmp_path / "scans", plates=3, broken=1, other=False)  # two may end while it stops
    out = tmp_path / "out"
    stop([*batch_command(scans), "--out", str(out), "--workers", "2"], out, signal.SIGINT)
    before = {name for name, events in histories(out).items() if "finished" in events}
    assert len(before) < 3, "it was over before it was stopped"
    again = ended([*batch_command(scans), "--out", str(out), "--scheduler", scheduler_address])
    assert again.returncode == 1, again.stderr  # one recording has no result
    assert "3 of 4 recordings have a result" in again.stdout
    for name, events in histories(out).items():
        assert events.count("started") == events.count("finished") == 1, name
    for name in ("plate 1.tif", "plate 2.tif", "cut short.tif"):
        assert numbers(out, scans)[name] == numbers(after_a_kill.out, after_a_kill.scans)[name]
    for name in ("plate 1.tif", "plate 2.tif"):
        one, other = (Reconstruction.load(folder / "runs" / name) for folder in (out, after_a_kill.out))
        np.testing.assert_array_equal(one.alpha, other.alpha)


@pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="takes a minute: make test-long")
def test_a_client_that_is_stopped_and_killed_goes_on_by_the_same_command_and_elsewhere_from_the_start(
    tmp_path, scheduler_address
):
    scans = write_scans(tmp_path / "scans", plates=4, broken=1, other=False)
    here, there = tmp_path / "here", tmp_path / "there"
    local = [*batch_command(scans), "--out", str(here), "--workers", "2"]
    for how in (signal.SIGINT, signal.SIGKILL):
        stop(local, here, how)
    again = ended(local)
    assert again.returncode == 1, again.stderr  # one recording has no result
    assert "4 of 5 recordings have a result" in again.stdout
    for name, events in histories(here).items():
        assert events.count("started") == events.count("finished") == 1, name

    far = ended([*batch_command(scans), "--out", str(there), "--scheduler", scheduler_address])
    assert far.returncode == 1, far.stderr
    assert numbers(there, scans) == numbers(here, scans)
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
