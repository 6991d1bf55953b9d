"""One process at a time in a folder, and none when it has ended."""

import os
import subprocess
import sys

import pytest

from nefty.core.storage.folder_lock import FolderInUseError, is_taken, take_folder

HOLD = "import sys, pathlib; from nefty.core.storage.folder_lock import take_folder; "
HOLD += "take_folder(pathlib.Path(sys.argv[1])); "
HOLD += "print('held', flush=True); sys.stdin.read()"


def test_the_holder_is_named_and_its_lock_ends_with_it(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(FolderInUseError, match=rf"another run works in .* \(process {other.pid} on .+\); wait"):
            take_folder(tmp_path)
        assert is_taken(tmp_path)
        other.kill()
    assert not is_taken(tmp_path)
    os.close(take_folder(tmp_path))
    assert (tmp_path / ".lock").read_text().split()[0] == str(os.getpid())
    assert not is_taken(tmp_path / "none")
