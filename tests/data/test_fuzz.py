"""Thousands of damaged files of every format: each is read or refused with a clear error; no crash, hang or code run.

NEFTY_FUZZ sets their number, 100,000 in ``make test-long``; 10,000 take 20 seconds of one core.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from nefty.data.formats import built_in, choose
from nefty.data.readers.refused import FORMATS as REFUSED
from support.damage import place, seeds

TESTS = Path(__file__).parents[1]
NUMBER = int(os.environ.get("NEFTY_FUZZ", "100000" if "NEFTY_TEST_LONG" in os.environ else "2000"))


def test_damaged_files_are_read_or_refused(tmp_path):
    command = [sys.executable, "-W", "error", "-m", "support.damage", str(tmp_path), str(NUMBER), "20261116"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["outcomes"].keys() <= {"read", "refused"}, found
    assert found["outcomes"]["refused"] > NUMBER / 4
    assert found["slowest"][0] < 2, found  # seconds of the processor
    assert found["memory"] < 1, found  # GB of all the process


def test_every_format_that_is_read_is_damaged(tmp_path):
    """Or else a new reader would never meet a damaged file."""
    found = set()
    for name, content in seeds(tmp_path):
        path = place(tmp_path, name, content, content)
        chosen = choose(b"" if path.is_dir() else content[:4096], path, built_in())
        assert chosen is not None, name
        found.add(chosen.name)
    assert found == {format.name for format in built_in()} - {format.name for format in REFUSED}
