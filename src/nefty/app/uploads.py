"""Files that are dropped onto the page: streamed to the disk, and there as a whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from nefty.app.root import Root, recording_suffixes
from nefty.core.errors import InputError
from nefty.core.storage.files import cannot_write

SPARE = 2**29  # bytes of the disk that stay free
LONGEST = 120  # bytes of a name
FLUSH = 2**25  # bytes after which what was written goes to the disk


def safe_name(given: str) -> str:
    """The last part of a name, without what could be a path, markup, or hidden; or an error."""
    name = re.sub(r"[\x00-\x1f\x7f<>:\"|?*&]", "_", re.split(r"[/\\]", given)[-1]).strip(" .")
    stem, suffix = os.path.splitext(name)
    if suffix.lower() not in recording_suffixes() or not stem:
        raise InputError(
            f"{given[:80]!r} is no recording that nefty reads; it reads {', '.join(recording_suffixes())}."
        )
    return stem.encode()[:LONGEST].decode(errors="ignore") + suffix


def free_place(folder: Path, name: str) -> Path:
    """A path in the folder that is not taken: ``plate.h5``, ``plate-2.h5``, ..."""
    stem, suffix = os.path.splitext(name)
    names = (name, *(f"{stem}-{n}{suffix}" for n in range(2, 10_000)))
    return next(folder / one for one in names if not (folder / one).exists())


async def store(root: Root, name: str, size: int, chunks: AsyncIterator[bytes]) -> Path:
    """Write an upload of ``size`` bytes.

    Args:
        root: of the app.
        name: as the browser says it.
        size: of the file, as stated.
        chunks: the bytes as they come.

    Raises:
        InputError: the name is no recording's, the disk has no room, or more or fewer bytes came than stated.
    """
    name = safe_name(name)
    if size <= 0:
        raise InputError(f"{name} is empty; copy it again from where it was made.")
    if size > (free := shutil.disk_usage(root.uploads).free - SPARE):
        raise InputError(
            f"{name} has {size / 1e9:.3g} GB, the disk has room for {max(free, 0) / 1e9:.3g} GB; make room."
        )
    try:
        handle, passing = tempfile.mkstemp(prefix=".upload-", dir=root.uploads)
    except OSError as error:
        raise cannot_write(root.uploads, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            await _written(file, name, size, chunks)
        place = free_place(root.uploads, name)
        os.chmod(passing, 0o644)
        os.replace(passing, place)
    except BaseException:
        Path(passing).unlink(missing_ok=True)
        raise
    return place


async def _written(file, name: str, size: int, chunks: AsyncIterator[bytes]) -> None:
    """All chunks, counted; nothing beyond the stated size is kept."""
    received = flushed = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > size:
            raise InputError(f"{name} is longer than the {size} bytes that were stated; send it again.")
        try:
            file.write(chunk)
            if received - flushed > FLUSH:
                file.flush()
                flushed = received
        except OSError as error:
            raise cannot_write(Path(name), error) from error
    if received != size:
        raise InputError(f"{received} bytes of {name} came, {size} were stated; send it again.")


def remove_remains(root: Root) -> None:
    """Delete what uploads of an earlier server left half done."""
    for path in root.uploads.glob(".upload-*"):
        path.unlink(missing_ok=True)
