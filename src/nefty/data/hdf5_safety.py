"""Checks of a foreign HDF5 file that HDF5 itself does not make, before anything in it is read.

In a damaged heap of text HDF5 may walk in a circle without an end, a few bytes may declare an array of terabytes, and a
link may lead to any other file, whose arrays nobody has checked.
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
from h5py import h5o  # pyright: ignore[reportAttributeAccessIssue]

from nefty.core.errors import InputError
from nefty.core.hdf5 import DEEPEST, opened
from nefty.data.sizes import DEFLATED, refuse_packed

START = b"GCOL\x01\x00\x00\x00"  # signature, version, three zeros; HDF5 itself refuses a heap that starts otherwise
HEAD = 16
MOST_ITEMS = 100_000  # arrays and groups of a file, which a walk sees in some ten seconds


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
    for name, item in walk(file):
        if isinstance(item, h5py.Dataset) and not item.is_virtual and item.external is None and item.shape is not None:
            refuse_packed(file.filename, item.shape, item.dtype.itemsize, item.id.get_storage_size(), name, DEFLATED)


def walk(file: h5py.File) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
    """The arrays and groups of a file with their places, ``"group/array"``, each once; no link is followed.

    Raises:
        InputError: groups lie more than ``DEEPEST`` deep, or there are more than ``MOST_ITEMS`` of both.
    """
    seen: set[int] = set()

    def within(group: h5py.Group, place: str, depth: int) -> Iterator[tuple[str, h5py.Group | h5py.Dataset]]:
        if depth > DEEPEST:
            raise InputError(f"{file.filename} has groups more than {DEEPEST} deep; copy its arrays to a plain file.")
        for name in group:
            item = group[name] if isinstance(group.get(name, getlink=True), h5py.HardLink) else None
            if not isinstance(item, (h5py.Group, h5py.Dataset)):
                continue
            address = int(h5o.get_info(item.id).addr)
            if address in seen:
                continue
            seen.add(address)
            if len(seen) > MOST_ITEMS:
                raise InputError(
                    f"{file.filename} holds more than {MOST_ITEMS} arrays and groups; copy the frames to one array."
                )
            yield f"{place}{name}", item
            if isinstance(item, h5py.Group):
                yield from within(item, f"{place}{name}/", depth + 1)

    return within(file, "", 0)


def held(file: h5py.File, place: str) -> h5py.Group | h5py.Dataset | None:
    """What the file itself holds at ``"group/array"``; None if there is nothing.

    Raises:
        InputError: the way leads through a link, be it to another file or to another place in this one.
    """
    item: Any = file
    for part in place.split("/"):
        if part in ("", "."):
            continue
        link = item.get(part, getlink=True) if isinstance(item, h5py.Group) else None
        if isinstance(link, h5py.ExternalLink):
            raise InputError(
                f"{file.filename} links to another file, {link.filename}, at {place}; refused. Give that file, or make "
                "a copy that holds all of it."
            )
        if isinstance(link, h5py.SoftLink):
            raise InputError(
                f"{file.filename} links to another place, {link.path}, at {place}; refused. "
                f"Give variable={link.path!r}, or make a copy without links."
            )
        item = None if link is None else item[part]
    return item if isinstance(item, (h5py.Group, h5py.Dataset)) else None


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
