"""Bytes of a camera's file, where they lie."""

from __future__ import annotations

import mmap
from pathlib import Path


def mapped(path: Path) -> mmap.mmap:
    """All bytes of a file that is not empty, without reading them; they are given back with the last use."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def text_of(raw: bytes) -> str:
    """Text of a fixed field, up to its first zero; empty if it holds anything that is not printed."""
    found = raw.split(b"\0")[0].decode("latin-1").strip()
    return found if found.isprintable() else ""
