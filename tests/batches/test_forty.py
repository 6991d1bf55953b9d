"""A folder of forty recordings: a worker is killed, then the client; a new one is added; an external scheduler repeats.

Three files are broken and one is of another kind. Takes minutes, so it runs in ``make test-long`` alone.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from nefty.result.reconstruction import Reconstruction
from support.batch_folders.scans import write_plate, write_scans
from support.batch_folders.watching import (
    batch_command,
    busy,
    ended,
    external_scheduler,
    histories,
    numbers,
    wait_until,
)

pytestmark = pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="takes minutes: make test-long")
PLATES, WITHOUT = 36, {"cut short.tif", "empty.tif", "noise.h5", "simulated.h5"}


def settled(out: Path) -> dict[str, int]:
    """When the outcome of each recording was written."""
    return {path.name: path.stat().st_mtime_ns for path in (out / "outcomes").glob("*.json")}


def left(out: Path) -> list[str]:
    """Processes that still work on recordings of a batch."""
    return [name for name, process in busy(out).items() if Path(f"/proc/{process}").exists()]


def test_forty_recordings_lose_nothing_and_do_nothing_twice(tmp_path):
    scans, out = write_scans(tmp_path / "scans", plates=PLATES), tmp_path / "out"
    words = [*batch_command(scans), "--out", str(out), "--workers", "2"]
    with open(tmp_path / "log.txt", "wb") as log:
        client = subprocess.Popen(words, start_new_session=True, stdout=log, stderr=log)
        try:
            wait_until(lambda: len(settled(out)) >= 8 and bool(busy(out)), 900)
            of_worker, process = next(iter(busy(out).items()))
            os.kill(process, signal.SIGKILL)
            wait_until(lambda: len(settled(out)) >= 18 and bool(busy(out)), 900)
            client.kill()  # the client alone: its workers must notice
            client.wait()
            before, of_client = settled(out), set(busy(out))
            wait_until(lambda: not left(out), 60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(client.pid, signal.SIGKILL)
    assert len(before) < PLATES

    again = ended(words, 7200)
    assert again.returncode == 1, again.stderr  # four have no result
    assert "36 of 40 recordings have a result" in again.stdout
    after = settled(out)
    assert {name: after[name] for name in before} == before  # nothing that was done is done again
    content = numbers(out, scans)
    assert {name for name, one in content.items() if one["reason"]} == WITHOUT
    assert all(content[name]["reason"] for name in WITHOUT)
    runs = histories(out)
    assert len(runs) == PLATES
    resumed = set()
    for name, events in runs.items():
        assert events.count("started") == events.count("finished") == 1, (name, events)
        assert (out / "runs" / name / "report.html").exists()
        resumed |= {name} if "resumed" in events else set()
    assert of_worker in resumed
    assert resumed <= {of_worker} | of_client

    write_plate(scans / "plate 37.tif", seed=99)
    began = time.time_ns()
    more = ended(words, 600)
    assert "37 of 41 recordings have a result" in more.stdout, more.stderr
    new = {name for name, written in settled(out).items() if written > began}
    assert len(new) == 1
    assert len(histories(out)) == PLATES + 1

    there = tmp_path / "there"
    with external_scheduler(tmp_path, workers=2) as address:
        far = ended([*batch_command(scans), "--out", str(there), "--scheduler", address], 7200)
    assert far.returncode == 1, far.stderr
    assert numbers(there, scans) == numbers(out, scans)
    for run in histories(out):
        one, other = (Reconstruction.load(folder / "runs" / run) for folder in (out, there))
        np.testing.assert_array_equal(one.alpha, other.alpha)
    found = [name for name, one in content.items() if one["indications"]]
    print(
        f"resumed after a kill: {sorted(resumed)}; with indications: {len(found)}; settled at the kill: {len(before)}"
    )
