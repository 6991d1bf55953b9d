"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from nefty.core.errors import NeftyError

TEMPORARY = ".{name}.????????"  # pattern of what an interrupted write leaves, for glob


def write_atomic(path: str | os.PathLike[str], content: str | bytes | memoryview) -> Path:
    """Write ``content`` so that ``path`` holds either what it held before or all of it.

    The content goes to a temporary file in the same folder, is flushed to the disk and then renamed. A process that
    is killed on the way leaves that file behind, named as ``TEMPORARY`` says.

    Raises:
        NeftyError: the folder cannot be written or the disk is full; an existing file is untouched.
    """
    with writing(path) as file:
        file.write(as_utf8(content) if isinstance(content, str) else content)
    return Path(path)


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write piece by piece; ``path`` holds all of it when the block ends without an error, as above."""
    path = Path(path)
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        os.close(handle)
        with open(temporary, "w+b") as file:  # with a name, which some libraries ask a file for
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    _sync_folder(path.parent)


@contextlib.contextmanager
def writing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder to fill, which is there under its name only when the block ends without an error.

    Raises:
        NeftyError: there is something of that name already, or the disk is full.
    """
    path = Path(path)
    if path.exists():
        raise NeftyError(f"{path} is there already; remove it, or choose another name.")
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        yield temporary
        os.chmod(temporary, 0o777 & ~_umask())
        os.rename(temporary, path)
        temporary = None
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
    _sync_folder(path.parent)


def as_utf8(text: str) -> bytes:
    """Text as UTF-8 that every program reads; what of a file's name is none becomes the replacement character."""
    return text.encode(errors="surrogateescape").decode(errors="replace").encode()


def cannot_write(path: str | os.PathLike[str], error: OSError) -> NeftyError:
    """Return the error for a file or folder that the system refuses to write."""
    return NeftyError(
        f"cannot write {os.fspath(path)}: {error.strerror or error}. What was there before is unchanged; "
        "free some space or choose another folder."
    )


def _sync_folder(folder: Path) -> None:
    """Make a rename outlive a power cut, where the system can; the file itself is on the disk already."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
