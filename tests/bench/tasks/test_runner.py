"""Suites on clusters of separate worker processes: nothing is lost, nothing is computed twice."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nefty.bench.suites.load import load_suite
from nefty.bench.tasks.runner import Store, run_tasks
from nefty.bench.tasks.task import Outcome, perform
from nefty.core.cluster.place import Place
from nefty.core.errors import NeftyError
from nefty.core.storage.folder_lock import take_folder
from support.tiny_suite import tiny_suite

pytest.importorskip("distributed", reason="suites run on Dask, which comes with the extra cluster")

TWO = Place(workers=2)
TINY = """
name = "tiny"
title = "Tiny"
[data.clean]
seeds = "0:3"
kinds = ["homogeneous"]
shape = [6, 12, 12]
frames = 8
[[methods]]
method = "fast"
iterations = 10
[[methods]]
method = "grid"
iterations = 40
"""


def events(folder: Path, event: str = "done") -> Counter[str]:
    """How often each task was computed."""
    lines = [line for log in (folder / "logs").glob("*.jsonl") for line in log.read_text().splitlines()]
    return Counter(found["key"] for line in lines if (found := json.loads(line))["event"] == event)


def busy(folder: Path) -> list[int]:
    """Processes that have begun a task just now, and have not done it."""
    found = []
    for log in (folder / "logs").glob("*.jsonl"):
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        if lines and lines[-1]["event"] == "begin" and time.time() - lines[-1]["time"] < 0.2:
            found.append(int(log.stem.rpartition("-")[2]))
    return found


def wait_until(condition, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def after_a_kill(tmp_path_factory):
    """A suite on two workers, one of which was killed at its work: the folder, the tasks and what came out."""
    folder = tmp_path_factory.mktemp("killed")
    entries = load_suite(tiny_suite("0:4")).entries()
    found = []
    work = threading.Thread(target=lambda: found.append(run_tasks(entries, folder, TWO)))
    work.start()
    wait_until(lambda: len(busy(folder)) > 0)
    os.kill(busy(folder)[0], signal.SIGKILL)
    work.join(timeout=240)
    assert not work.is_alive()
    return folder, entries, found[0]


def test_a_killed_worker_loses_nothing_and_nothing_is_computed_twice(after_a_kill):
    folder, entries, found = after_a_kill
    assert len(found.done) == len(entries) == 8
    assert not found.failed
    assert set(events(folder)) == {e.task.key for e in entries}
    assert set(events(folder).values()) == {1}
    assert sum(events(folder, "begin").values()) == 9  # the one that was killed was begun again, nothing else
    before = {p: p.stat().st_mtime_ns for p in (folder / "results").iterdir()}

    again = run_tasks(entries, folder, Place(scheduler="tcp://127.0.0.1:1"))  # nothing is left: no cluster is needed
    assert (len(again.done), again.computed) == (8, 0)
    assert {p: p.stat().st_mtime_ns for p in (folder / "results").iterdir()} == before


def test_a_run_that_was_stopped_goes_on(tmp_path):
    """Stopped by Ctrl-C, then killed; on one worker, since each costs seconds. Batches are stopped on two."""
    suite = tmp_path / "tiny.toml"
    suite.write_text(TINY)
    out = tmp_path / "out"
    keys = {e.task.key for e in load_suite(suite).entries()}
    command = [
        str(Path(sys.executable).with_name("nefty")),
        "bench",
        "run",
        str(suite),
        "--out",
        str(out),
        "--workers",
        "1",
    ]
    there: set[str] = set()
    for how in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(
            command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as first:
            try:
                wait_until(lambda: len(events(out)) > len(there))  # noqa: B023  # called at once
                os.killpg(first.pid, how)
                said = first.communicate(timeout=60)[0].decode()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(first.pid, signal.SIGKILL)
        there = set(events(out))
        assert len(there) < len(keys), "it was over before it was stopped"
        if how == signal.SIGINT:
            assert first.returncode == 130, said
            assert "Run the same command again to resume" in said
            assert "Traceback" not in said

    second = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert second.returncode == 0, second.stderr
    assert {p.stem for p in (out / "results").iterdir()} == keys
    assert set(events(out)) == keys
    assert set(events(out).values()) == {1}
    assert f"6 results, {6 - len(there)} of them computed now, 0 failed" in second.stdout
    assert (out / "tiny.html").exists()


@pytest.fixture(scope="module")
def scheduler_address(tmp_path_factory):
    """A Dask scheduler and two workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("scheduler")
    told = folder / "scheduler.json"
    where = str(folder / "dask")
    dask = [sys.executable, "-m", "dask"]
    commands = [
        [*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)],
        *([*dask, "worker", "--scheduler-file", str(told), "--nthreads", "1", "--local-directory", where],) * 2,
    ]
    with contextlib.ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            wait_until(lambda: told.exists() and bool(told.read_text().strip()))
        yield json.loads(told.read_text())["address"]


def test_a_client_that_dies_alone_leaves_its_task_to_the_next(tmp_path, scheduler_address):
    suite, out = tmp_path / "tiny.toml", tmp_path / "out"
    suite.write_text(TINY)
    keys = {e.task.key for e in load_suite(suite).entries()}
    nefty = str(Path(sys.executable).with_name("nefty"))
    command = [nefty, "bench", "run", str(suite), "--out", str(out), "--scheduler", scheduler_address]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: sum(events(out, "begin").values()) >= 1)
    first.kill()
    first.wait()
    second = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert second.returncode == 0, second.stderr
    assert set(events(out)) == keys
    assert set(events(out, "begin").values()) == {1}  # the workers went on with what the dead client had given them


def test_a_task_that_always_fails_is_reported_and_the_rest_finish(tmp_path, scheduler_address):
    methods = [
        {"method": "fast", "iterations": 10},
        {"method": "fast", "title": "hopeless", "iterations": 10, "set": {"stages.0.buried": 6}},
    ]
    entries = load_suite(tiny_suite("0:2", methods=methods)).entries()
    steps = []
    found = run_tasks(entries, tmp_path, Place(scheduler=scheduler_address), retries=1, watch=steps.append)
    assert [e.row for e, _ in found.done] == ["nefty fast", "nefty fast"]
    assert {f.entry.row for f in found.failed} == {"hopeless"}
    assert len(found.failed) == 2
    for failure in found.failed:
        assert failure.attempts == 2
        assert "buried=6 leaves none of the 6 layers free" in failure.reason
        record = json.loads(Store(tmp_path).failure(failure.entry.task.key).read_text())
        assert (record["reason"], record["attempts"]) == (failure.reason, 2)
    assert [s.done for s in steps] == [1, 2, 3, 4]
    assert sum(s.failure is not None for s in steps) == 2


def test_an_external_scheduler_gives_identical_numbers(tmp_path, scheduler_address, after_a_kill):
    entries = load_suite(tiny_suite("0:2")).entries()
    by_workers_here = {entry.task.key: (entry, outcome) for entry, outcome in after_a_kill[2].done}
    here = [by_workers_here[entry.task.key] for entry in entries]
    there = run_tasks(entries, tmp_path / "there", Place(scheduler=scheduler_address))
    assert len(here) == len(there.done) == there.computed == 4
    assert not there.failed
    timed = ("seconds", "processor_seconds", "peak_bytes")
    for (a, x), (b, y) in zip(here, there.done, strict=True):
        assert a.task == b.task
        assert x.scores == y.scores
        assert np.array_equal(x.alpha, y.alpha)
        assert {k: v for k, v in x.facts.items() if k not in timed} == {
            k: v for k, v in y.facts.items() if k not in timed
        }


def test_a_folder_in_use_is_refused(tmp_path):
    lock = take_folder(tmp_path)
    try:
        with pytest.raises(NeftyError, match="another run works in"):
            run_tasks(load_suite(tiny_suite("0:1")).entries(), tmp_path)
    finally:
        os.close(lock)


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("nefty.core.cluster.place.CONNECT_SECONDS", 1)
    entries = load_suite(tiny_suite("0:1")).entries()
    with pytest.raises(NeftyError, match=r"no Dask scheduler answers at tcp://127.0.0.1:1 .*dask scheduler"):
        run_tasks(entries, tmp_path, Place(scheduler="tcp://127.0.0.1:1"))


def test_a_damaged_result_is_put_aside(tmp_path):
    entry = load_suite(tiny_suite("3")).entries()[0]
    store = Store(tmp_path)
    path = perform(entry.task).save(store.result(entry.task.key))
    assert store.outcome(entry.task.key) is not None
    path.write_bytes(path.read_bytes()[:1000])
    assert store.outcome(entry.task.key) is None
    assert path.with_suffix(".h5.damaged").exists()
    other = load_suite(tiny_suite("4")).entries()[0]
    perform(entry.task).save(store.result(other.task.key))  # a file under another task's name
    assert store.outcome(other.task.key) is None


def test_outcomes_come_back_as_they_were_saved(tmp_path):
    entries = load_suite(tiny_suite("3")).entries()[:1]
    outcome = perform(entries[0].task)
    again = Outcome.load(outcome.save(tmp_path / "one.h5"))
    assert again.task == outcome.task
    assert again.task.key == outcome.task.key
    assert again.scores == outcome.scores
    assert again.facts == outcome.facts
    assert np.array_equal(again.alpha, outcome.alpha)
