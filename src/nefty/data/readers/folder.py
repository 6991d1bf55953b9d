"""A folder with one file per frame: TIFF, PNG or CSV, in the order that a person would sort them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.csv_frame import read_csv
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.readers.png_frame import read_png
from nefty.data.readers.sizes import MOST_FRAMES
from nefty.data.readers.tiff import read_page
from nefty.data.sequence import Sequence

READERS = {".tif": read_page, ".tiff": read_page, ".png": read_png, ".csv": read_csv}
KINDS = {".tif": "TIFF", ".tiff": "TIFF", ".png": "PNG", ".csv": "CSV"}


def read(path: Path, given: Given) -> Sequence:
    """Read a folder of frames."""
    files, others = _files(path)
    first = _frame(files[0])

    def read_box(box: Box) -> np.ndarray:
        block = np.empty((len(files[box[0]]), *first.shape), first.dtype)
        for values, file in zip(block, files[box[0]], strict=True):
            frame = _frame(file)
            if frame.shape != first.shape or frame.dtype != first.dtype:
                raise InputError(
                    f"{file} has {frame.shape} {frame.dtype}, and {files[0].name} {first.shape} {first.dtype}; "
                    "all frames of a folder must be alike."
                )
            values[...] = frame
        return block[:, box[1], box[2]]

    notes = [f"Frames in the order of their names, {files[0].name} to {files[-1].name}."]
    if others:
        notes.append(f"{others} files of the folder are no frames and were passed over.")
    pieces = Pieces((len(files), *first.shape), first.dtype, read_box)  # pyright: ignore[reportArgumentType]
    return assemble(path, Found(frames=pieces, notes=tuple(notes)), given)


def in_order(name: str) -> tuple[tuple[int, int, str], ...]:
    """Key by which frame 2 comes before frame 10."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((1, int(part), part) if part.isdecimal() else (0, 0, part.lower()) for part in parts)


def _frame(path: Path) -> np.ndarray:
    values = READERS[path.suffix.lower()](path)
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(f"{path} has shape {values.shape}, and a frame rows and columns.")
    return values


def _files(folder: Path) -> tuple[list[Path], int]:
    """The frames in order, and how many other files there are."""
    kinds: dict[str, list[Path]] = {}
    others = 0
    for number, entry in enumerate(_entries(folder)):
        if number >= MOST_FRAMES:
            raise InputError(
                f"{folder} holds more than {MOST_FRAMES} files; put the frames into a folder of their own."
            )
        suffix = os.path.splitext(entry.name)[1].lower()
        if suffix in READERS and not entry.name.startswith(".") and entry.is_file():
            kinds.setdefault(KINDS[suffix], []).append(folder / entry.name)
        else:
            others += 1
    if len(kinds) > 1:
        counts = " and ".join(f"{len(files)} {kind}" for kind, files in sorted(kinds.items()))
        raise InputError(f"{folder} holds {counts} files; put the frames of one kind into a folder of their own.")
    if not kinds:
        raise InputError(f"{folder} holds no TIFF, PNG or CSV file.")
    return sorted(next(iter(kinds.values())), key=lambda path: (in_order(path.name), path.name)), others


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from entries


def _is_folder_of_frames(head: bytes, path: Path) -> bool:
    if head or not path.is_dir():
        return False
    return any(
        number > MOST_FRAMES or os.path.splitext(entry.name)[1].lower() in READERS
        for number, entry in enumerate(_entries(path))
    )


FORMATS = (Format("a folder of TIFF, PNG or CSV frames", (), _is_folder_of_frames, read),)
