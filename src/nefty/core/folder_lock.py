"""A folder for one process at a time."""

from __future__ import annotations

import errno
import os
import platform
from pathlib import Path

from nefty.core.errors import NeftyError
from nefty.core.files import cannot_write

try:
    import fcntl
except ImportError:  # Windows: two processes are not kept apart there
    fcntl = None

LOCK = ".lock"


class FolderInUseError(NeftyError):
    """Another process has the folder."""


def take_folder(path: Path) -> int:
    """Take the folder, made if it is not there, for this process; give it back by ``os.close`` of what is returned.

    The system gives it back when the process ends, however it ends, so a lock is never stale. The file ``.lock`` stays
    and names the process that had it last.

    Raises:
        FolderInUseError: another process has it.
        NeftyError: it cannot be written.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        handle = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        _flock(handle)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()} on {platform.node()}\n".encode())
    except BlockingIOError:
        holder = os.read(handle, 200).decode(errors="replace").strip()
        os.close(handle)
        raise FolderInUseError(
            f"another run works in {path} (process {holder or 'unknown'}); wait for its end or choose another folder."
        ) from None
    except OSError as error:
        os.close(handle)
        raise cannot_write(path, error) from error
    return handle


def _flock(handle: int) -> None:
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.ENOTSUP):  # some network disks have no locks: go without
                raise
