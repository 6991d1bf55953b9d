"""Recordings that FLIR's ResearchIR exports, .sfmov: lines of text, then the frames.

A line is a name and a value: ``xPixls`` columns, ``yPixls`` rows, ``NumDPs`` frames, ``DaType`` ``Flt32`` for float32,
else the values are uint16. The text ends with a line that begins with ``DATA``; the values follow 6 bytes after the
start of that word, little-endian, frame by frame. The layout is that of pysfmov 0.2 (MIT); the unit of float32 is not
known.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.cameras.mapped import mapped
from nefty.data.readers.pieces import of_array
from nefty.data.readers.sizes import refuse_longer
from nefty.data.sequence import Sequence

LONGEST = 2**16  # bytes of the text
SIDE = 2**14  # most rows or columns
MOST = 2**31  # frames


def read(path: Path, given: Given) -> Sequence:
    """Read the values of a recording; the file does not say when the frames were taken."""
    said, start = _head(path, mapped(path))
    columns, rows = (_count(path, said, name, SIDE) for name in ("xPixls", "yPixls"))
    dtype = np.dtype("<f4" if said.get("DaType") == "Flt32" else "<u2")
    each, held = columns * rows * dtype.itemsize, os.path.getsize(path) - start
    frames = _count(path, said, "NumDPs", MOST) if "NumDPs" in said else held // each
    refuse_longer(path, max(frames, 1) * each, held, f"{frames} frames of {columns} x {rows} pixels")
    values = np.memmap(path, dtype, "r", offset=start, shape=(frames, rows, columns))
    return assemble(path, Found(frames=of_array(values), unit="counts" if dtype.kind == "u" else None), given)


def _head(path: Path, raw: mmap.mmap) -> tuple[dict[str, str], int]:
    """Values by name, and the place of the first number."""
    end = raw.find(b"\nDATA", 0, LONGEST)
    if end < 0:
        raise InputError(f"{path} has no line DATA in its first {LONGEST} bytes, so it is no .sfmov; export it again.")
    lines = (line.split(None, 1) for line in raw[:end].decode("latin-1").splitlines())
    return {line[0]: line[1].strip() for line in lines if len(line) == 2}, end + 1 + 6


def _count(path: Path, said: dict[str, str], name: str, most: int) -> int:
    text = said.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) < 12 and 0 < int(text) <= most):
        raise InputError(f"{path} has a damaged header: {name} is {text[:20]!r}; copy it again from where it was made.")
    return int(text)


def _sniff(head: bytes, path: Path) -> bool:
    return b"xPixls" in head and (b"DATA" in head or b"saf_padding" in head)


FORMATS = (Format("a FLIR .sfmov", (".sfmov",), _sniff, read),)
