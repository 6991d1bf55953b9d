"""Thousands of damaged files of every format: each is read or refused with a clear error; no crash, hang or code run.

NEFTY_FUZZ sets their number; 10,000 take about a minute of one core.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
NUMBER = int(os.environ.get("NEFTY_FUZZ", "2000"))


def test_damaged_files_are_read_or_refused(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "support.damage", str(tmp_path), str(NUMBER), "20261116"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["outcomes"].keys() <= {"read", "refused"}, found
    assert found["outcomes"]["refused"] > NUMBER / 4
    assert found["slowest"][0] < 2, found  # seconds of the processor
    assert found["memory"] < 1, found  # GB of all the process
