"""A folder for one process at a time."""

from __future__ import annotations

import errno
import os
import platform
from pathlib import Path

from filelock import lock_descriptor

from nefty.core.errors import NeftyError
from nefty.core.storage.files import cannot_write

LOCK = ".lock"
HOLDER = 1  # byte from which on the file names the process that holds it; Windows lets nobody else read byte 0
WITHOUT_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # of some network disks: go without


class FolderInUseError(NeftyError):
    """Another process has the folder."""


def take_folder(path: Path) -> int:
    """Take the folder, made if it is not there, for this process; give it back by ``os.close`` of what is returned.

    The lock is the system's own (flock, LockFileEx), which ends with the process, however that ends: it is never stale.
    The file ``.lock`` stays and names the process that had it last.

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
        if not _locked(handle):
            os.lseek(handle, HOLDER, os.SEEK_SET)
            holder = os.read(handle, 200).decode(errors="replace").strip()
            raise FolderInUseError(
                f"another run works in {path} (process {holder or 'unknown'}); wait for its end or choose another "
                "folder."
            )
        os.ftruncate(handle, 0)
        os.write(handle, HOLDER * b"\n" + f"{os.getpid()} on {platform.node()}\n".encode())
    except OSError as error:
        os.close(handle)
        raise cannot_write(path, error) from error
    except BaseException:
        os.close(handle)
        raise
    return handle


def is_taken(path: Path) -> bool:
    """Whether a process has the folder now; asks without taking it for longer than a moment."""
    try:
        handle = os.open(path / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        return not _locked(handle)
    except OSError:
        return False
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    try:
        return lock_descriptor(handle, blocking=False)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
        return True
