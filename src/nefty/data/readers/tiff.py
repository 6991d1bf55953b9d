"""TIFF with one page per frame; our own files carry everything else as JSON in the description of the first page."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tifffile

from nefty.core.errors import InputError, MissingExtraError
from nefty.core.storage.files import writing
from nefty.data.assemble import Found, assemble, restate
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.portable import MARK, decode, describe, encode, restore
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.readers.sizes import MOST_FRAMES, refuse_longer, refuse_packed
from nefty.data.sequence import Sequence

SUFFIXES = (".tif", ".tiff")
STARTS = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
PLAIN = 1  # not compressed


def read(path: Path, given: Given) -> Sequence:
    """Read the pages of one file as frames."""
    with _quiet() as said, tifffile.TiffFile(path) as file:
        frames = _pieces(path, file, said)
        text = _description(file)
        if text.startswith(MARK):
            return restate(path, _ours(text, frames), given)
        return assemble(path, Found(frames=frames), given)


def write(sequence: Sequence, path: str | os.PathLike[str]) -> Path:
    """Write a recording, which ``load`` reads back as it was: float32 or float64, as its frames are."""
    text, arrays = describe(sequence)
    values = json.loads(text)
    values["times"] = sequence.times.tolist()
    values["frames"] = sequence.frames.shape
    values["arrays"] = {name: encode(array) for name, array in arrays.items()}
    pages = sequence.frames.reshape(-1, *sequence.frames.shape[-2:])
    with writing(path) as file:
        tifffile.imwrite(
            file,
            pages,
            shape=pages.shape,
            dtype=pages.dtype,
            photometric="minisblack",
            metadata=None,
            description=json.dumps(values),
        )
    return Path(path)


def read_page(path: Path) -> np.ndarray:
    """The only page of a file (y, x)."""
    with _quiet() as said, tifffile.TiffFile(path) as file:
        frames = _pieces(path, file, said)
        if frames.shape[0] != 1:
            raise InputError(f"{path} holds {frames.shape[0]} pages; a folder of frames has one in each file.")
        return frames.first(1)[0]


def _ours(text: str, frames: Pieces) -> Sequence:
    values: dict[str, Any] = json.loads(text)
    shape, times = tuple(values.pop("frames")), np.asarray(values.pop("times"), dtype=np.float64)
    arrays = {name: decode(array) for name, array in values.pop("arrays").items()}
    if math.prod(shape) != math.prod(frames.shape) or shape[-2:] != frames.shape[-2:]:
        raise InputError(f"the pages have shape {frames.shape}, and the description says {shape}.")
    data = np.empty(frames.shape, frames.dtype.newbyteorder("="))
    for box, block in frames:
        data[box] = block
    return restore(json.dumps(values), arrays, data.reshape(shape), times)


class _Listener(logging.Handler):
    """Keeps what tifffile says, instead of printing it."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.said.append(record.getMessage())


@contextlib.contextmanager
def _quiet() -> Iterator[list[str]]:
    listener, logger = _Listener(), logging.getLogger("tifffile")
    before = logger.propagate
    logger.addHandler(listener)
    logger.propagate = False
    try:
        yield listener.said
    finally:
        logger.propagate = before
        logger.removeHandler(listener)


def _pieces(path: Path, file: tifffile.TiffFile, said: list[str]) -> Pieces:
    """The frames; ``said`` are the messages of tifffile, which passes over a chain of pages that breaks off."""
    count = len(file.pages)
    if count > MOST_FRAMES:
        raise InputError(f"{path} holds {count} pages, more than {MOST_FRAMES}; cut the recording into several files.")
    pages = [page if isinstance(page, tifffile.TiffPage) else page.aspage() for page in file.pages]
    if not pages or any(message.startswith("<tifffile.TiffPages") for message in said):
        raise InputError(
            f"{path} is cut off or damaged after {len(pages)} pages; copy it again from where it was made."
        )
    shape, dtype = _checked(path, pages[0], 0)
    stored = 0
    for i, page in enumerate(pages):
        if _checked(path, page, i) != (shape, dtype):
            raise InputError(
                f"{path} has pages of several sizes or types: page {i} has {page.shape} {page.dtype}, "
                f"the first {shape} {dtype}; export the frames alone."
            )
        stored += sum(page.databytecounts)
    refuse_packed(path, (count, *shape), dtype.itemsize, stored, "pages")

    def read_box(box: Box) -> np.ndarray:
        return np.stack([_decoded(path, page) for page in pages[box[0]]])[:, box[1], box[2]]

    return Pieces((count, *shape), dtype, read_box)


def _checked(path: Path, page: tifffile.TiffPage, i: int) -> tuple[tuple[int, int], np.dtype]:
    """Rows and columns, and type of a page of grey values."""
    if page.dtype is None or page.samplesperpixel != 1 or page.imagedepth != 1 or page.photometric not in (0, 1):
        raise InputError(
            f"page {i} of {path} shows colours or more than one value per pixel (shape {page.shape}, {page.dtype}); "
            "export temperatures or counts as grey values."
        )
    shape, dtype = (int(page.imagelength), int(page.imagewidth)), np.dtype(page.dtype)
    held, size = sum(page.databytecounts), page.parent.filehandle.size
    if any(at + n > size for at, n in zip(page.dataoffsets, page.databytecounts, strict=False)):
        raise InputError(f"page {i} of {path} is cut off; copy the file again from where it was made.")
    if page.compression == PLAIN:
        refuse_longer(path, shape[0] * shape[1] * dtype.itemsize, held, f"{shape[1]} x {shape[0]} pixels of page {i}")
    else:
        refuse_packed(path, shape, dtype.itemsize, held, f"page {i}")
        tile = (page.tilelength, page.tilewidth) if page.is_tiled else (min(page.rowsperstrip, shape[0]), shape[1])
        refuse_packed(path, tile, dtype.itemsize, held, f"a tile of page {i}")
    return shape, dtype


def _decoded(path: Path, page: tifffile.TiffPage) -> np.ndarray:
    try:
        return page.asarray(maxworkers=1).reshape(page.imagelength, page.imagewidth)
    except ValueError as error:
        if "imagecodecs" not in str(error):
            raise
        raise MissingExtraError(
            f"{path} is packed with {page.compression!r}, which needs imagecodecs: pip install nefty[formats]; "
            "or export it without compression."
        ) from error


def _description(file: tifffile.TiffFile) -> str:
    tag = file.pages.first.tags.get(270)
    return tag.value if tag is not None and isinstance(tag.value, str) else ""


FORMATS = (Format("a TIFF", SUFFIXES, lambda head, path: head[:4] in STARTS, read),)
