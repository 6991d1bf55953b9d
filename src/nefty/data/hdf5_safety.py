"""Checks of a foreign HDF5 file that HDF5 itself does not make, before anything in it is read.

In a damaged heap of text HDF5 may walk in a circle without an end, and a few bytes may declare an array of terabytes.
Heaps: format specification of HDF5, III.E, "Global Heap".
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py

from nefty.core.errors import InputError
from nefty.core.hdf5 import opened
from nefty.data.sizes import DEFLATED, refuse_packed

START = b"GCOL\x01\x00\x00\x00"  # signature, version, three zeros; HDF5 itself refuses a heap that starts otherwise
HEAD = 16


@contextlib.contextmanager
def opened_safely(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """As ``core.hdf5.opened``, for a file that anybody may have made."""
    if os.path.isfile(path):
        refuse_damaged_heaps(path)
    with opened(path) as file:
        refuse_absurd_sizes(file)
        yield file


def refuse_damaged_heaps(path: str | os.PathLike[str]) -> None:
    """Raise if a heap does not lead from each of its objects to the next one."""
    if not os.path.getsize(path):
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.find(START)
        while at >= 0:
            if not _is_whole(content, at):
                raise InputError(
                    f"{Path(path)} is damaged (the heap of text at byte {at}); copy it again from where it was made."
                )
            at = content.find(START, at + len(START))


def refuse_absurd_sizes(file: h5py.File) -> None:
    """Raise if an array claims to be far larger than what the file stores of it."""

    def check(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not item.is_virtual and item.external is None and item.shape is not None:
            refuse_packed(file.filename, item.shape, item.dtype.itemsize, item.id.get_storage_size(), name, DEFLATED)

    file.visititems(check)


def _is_whole(content: mmap.mmap, start: int) -> bool:
    if start + HEAD > len(content):
        return False
    (size,) = struct.unpack_from("<Q", content, start + 8)
    end = start + size
    if size < HEAD or end > len(content):
        return False
    at = start + HEAD
    while at + HEAD <= end:
        index, _, _, length = struct.unpack_from("<HHIQ", content, at)
        if index == 0:  # free space: the rest of the heap, its own head included
            return length == end - at
        at += HEAD + (length + 7) // 8 * 8
    return at <= end
