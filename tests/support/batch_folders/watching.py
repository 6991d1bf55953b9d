"""Batches watched from outside: which process works on what, what happened in each run, and a cluster of its own."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from nefty.core.storage.run_folder import read_events
from support.batch_folders.scans import QUICK


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


def numbers(folder: Path, scans: Path) -> dict[str, dict]:
    """What came out, without times and keys, which know when the files were written, and where they lie."""
    content = json.loads((folder / "summary.json").read_text(encoding="utf-8").replace(str(scans), "scans"))
    dropped = ("seconds", "worked", "key")
    return {one["name"]: {k: v for k, v in one.items() if k not in dropped} for one in content["recordings"]}


def batch_command(scans: Path) -> list[str]:
    """``nefty batch`` on a folder of ``write_scans``, with few iterations."""
    script = str(Path(sys.executable).with_name("nefty"))
    return [script, "batch", str(scans), "--facts", str(scans.parent / "part.toml"), *QUICK]


def ended(words: list[str], seconds: float = 400.0) -> subprocess.CompletedProcess[str]:
    """A command that has ended."""
    return subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False)


@contextlib.contextmanager
def external_scheduler(folder: Path, workers: int = 1) -> Iterator[str]:
    """Address of a Dask scheduler; it and its workers are processes of their own."""
    told, dask = folder / "scheduler.json", [sys.executable, "-m", "dask"]
    commands = [[*dask, "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)]]
    for number in range(workers):
        own = str(folder / f"worker-{number}")
        commands.append([*dask, "worker", "--scheduler-file", str(told), "--nthreads", "1", "--local-directory", own])
    with contextlib.ExitStack() as stack:
        for command in commands:
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            wait_until(lambda: told.exists() and bool(told.read_text().strip()))
        yield json.loads(told.read_text())["address"]
