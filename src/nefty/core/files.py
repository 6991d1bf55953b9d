"""Files that are either whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from nefty.core.errors import NeftyError


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write ``content`` so that ``path`` holds either what it held before or all of it.

    The content goes to a temporary file in the same folder, is flushed to the disk and then renamed.

    Raises:
        NeftyError: the folder cannot be written or the disk is full; an existing file is untouched.
    """
    path = Path(path)
    data = content.encode() if isinstance(content, str) else content
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise NeftyError(
            f"cannot write {path}: {error.strerror or error}. What was there before is unchanged; "
            "free some space or choose another folder."
        ) from error
    return path


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
