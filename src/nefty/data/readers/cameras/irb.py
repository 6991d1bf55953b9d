"""Pictures and sequences of InfraTec's cameras, .irb.

A table of blocks leads to the images. All numbers are little-endian; places within an image count from its first byte.

| byte | holds |
|---|---|
| 0, 5 | ``ff 49 52 42 00``; text, 16 bytes: the kind of file |
| 25, 29 | int32: place of the table, number of its blocks, 32 bytes each |
| block 0, 8, 12, 16 | int32: kind (1 image, 2 preview, 3 text, 4 header of a frame), frame, place, bytes |
| image 0, 2, 4, 6 | int16: bytes of a pixel, compression, columns, rows |
| image 24, 28, 32, 40 | float32: emissivity, distance (m), temperature of the surroundings and of the air (K) |
| image 60 | 256 float32: the palette, in K |
| image 1226, 1286, 1534 | text of 12, 32, 16 bytes: camera, lens, number of the camera |
| image 1624, 1632 | float64: days since 1899-12-30; int32: milliseconds |
| image 1728 | the pixels |

A pixel is a fraction f and a place i in the palette, a byte each: T = palette[i] (1 - f/256) + palette[i + 1] f/256.
Without compression f and i follow each other; with compression 1 come first all f, then pairs of how often, and i.

The header of a frame is two more blocks: the image of this frame, and the header of the next. Whole files may also
follow each other; their first image may be without pixels, and a header of a frame behind their text leads to them.

Sources: github.com/jonathanschilling/irb, docs/irb_file_format.md and docs/notes.txt.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.radiometry import Scene
from nefty.data.readers.cameras.mapped import mapped, text_of
from nefty.data.readers.cameras.stamps import clock, from_stamps
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.readers.sizes import MOST_FRAMES, refuse_longer
from nefty.data.sequence import Sequence

MAGIC = b"\xffIRB\0"
HEAD, ENTRY, PIXELS = 64, 32, 1728  # bytes of a file's head, of a block in the table, of an image before its pixels
IMAGE, TEXT, FRAME = 1, 3, 4  # kinds of blocks
MOST_BLOCKS = 10_000  # of one table
LARGEST = 10_000  # rows or columns
EPOCH = datetime(1899, 12, 30)
DAY = 86400.0


@dataclass(frozen=True)
class Block:
    """An entry of a table: kind, and place and size in the whole file."""

    kind: int
    place: int
    size: int

    @property
    def end(self) -> int:
        """One past its last byte."""
        return self.place + self.size


@dataclass(frozen=True)
class Image:
    """Where the pixels of a frame are, and how they are packed."""

    place: int
    size: int
    compression: int
    rows: int
    columns: int


def read(path: Path, given: Given) -> Sequence:
    """Read the temperatures of a picture or a sequence."""
    raw = mapped(path)
    images = _images(path, raw)
    first = images[0]

    def read_box(box: Box) -> np.ndarray:
        return np.stack([_decoded(path, raw, image) for image in images[box[0]]])[:, box[1], box[2]]

    stamps = np.array([_stamp(raw, image) for image in images])
    times = from_stamps(stamps) if len(images) > 1 else np.zeros(1)
    notes = ["The values are the temperatures as the camera or its program wrote them."]
    if len(images) > 1 and times is not None:
        notes.append("Times are those of the camera's clock beside each frame.")
    found = Found(
        frames=Pieces((len(images), first.rows, first.columns), np.dtype(np.float32), read_box),
        times=times,
        unit="K",
        facts=Facts(camera=_camera(raw, first, stamps[0]), scene=_scene(raw, first)),
        notes=tuple(notes),
    )
    return assemble(path, found, given)


def _images(path: Path, raw: mmap.mmap) -> list[Image]:
    """Images with pixels, in the order of the file, all of one size."""
    found: dict[int, Image] = {}
    base = 0
    while base >= 0:
        end = base + HEAD
        for block in _frames(path, raw, base):
            image = _image(path, raw, block)
            found[image.place] = image
            end = max(end, block.end)
            if len(found) > MOST_FRAMES:
                raise InputError(f"{path} holds more than {MOST_FRAMES} frames; cut the recording into several files.")
        base = raw.find(MAGIC, end)
    images = [found[place] for place in sorted(found)]
    if not images:
        raise InputError(f"{path} holds no image with pixels; copy it again from where it was made.")
    first = images[0]
    for i, image in enumerate(images):
        if (image.rows, image.columns) != (first.rows, first.columns):
            raise InputError(
                f"{path} has images of several sizes: {first.columns} x {first.rows} pixels, and frame {i} "
                f"{image.columns} x {image.rows}; save each kind as a file of its own."
            )
    return images


def _frames(path: Path, raw: mmap.mmap, base: int) -> Iterator[Block]:
    """Blocks of images of the file that begins at ``base``: by its headers of frames, else by its table."""
    if base + HEAD > len(raw):  # a head without a table at the end of a sequence
        if base == 0:
            refuse_longer(path, HEAD, len(raw), "the values of its header")
        return
    place, count = struct.unpack_from("<2i", raw, base + 25)
    table = base + place
    if not 0 < count <= MOST_BLOCKS or place < HEAD or table + ENTRY * count > len(raw):
        raise InputError(
            f"{path} has a damaged header: a table of {count} blocks at byte {table} of {len(raw)}; "
            "copy it again from where it was made."
        )
    blocks = [_block(raw, table + ENTRY * i, base) for i in range(count)]
    starts = [block.place for block in blocks if block.kind == FRAME]
    starts += [block.end for block in blocks if block.kind == TEXT]
    headed = [block for start in starts for block in _chain(raw, start, base)]
    texts = [block.place for block in blocks if block.kind == TEXT]
    whole = (block for block in blocks if block.kind == IMAGE and block.size > PIXELS)
    yield from headed or (b for b in whole if not any(b.place < text < b.end for text in texts))


def _chain(raw: mmap.mmap, at: int, base: int) -> Iterator[Block]:
    """The images to which one header of a frame after the other leads; headers only lead forward."""
    while 0 < at <= len(raw) - 2 * ENTRY:
        image, following = _block(raw, at, base), _block(raw, at + ENTRY, base)
        if image.kind != IMAGE or following.kind not in (0, FRAME) or image.size <= PIXELS:
            return
        yield image
        if following.kind != FRAME or following.place <= at:
            return
        at = following.place


def _block(raw: mmap.mmap, at: int, base: int) -> Block:
    """An entry of a table; places count from the start of the whole file, or of the file that begins at ``base``."""
    kind, _, _, place, size = struct.unpack_from("<5i", raw, at)
    return Block(kind, place if place >= base else base + place, size)


def _image(path: Path, raw: mmap.mmap, block: Block) -> Image:
    refuse_longer(path, block.end, len(raw), f"the image at byte {block.place}")
    if block.place < HEAD:
        raise InputError(f"{path} is damaged: an image at byte {block.place}; copy it again from where it was made.")
    width, compression, columns, rows = struct.unpack_from("<4h", raw, block.place)
    if not (0 < columns <= LARGEST and 0 < rows <= LARGEST):
        raise InputError(
            f"{path} has a damaged image of {columns} x {rows} pixels at byte {block.place}; copy it again from where "
            "it was made."
        )
    if width != 2 or compression not in (0, 1):
        raise InputError(
            f"{path} has pixels of {width} bytes with compression {compression}; known are 2 bytes with 0 or 1. "
            "Save it uncompressed with InfraTec's program, or export it to TIFF or CSV."
        )
    needed = PIXELS + rows * columns * (2 if compression == 0 else 1)
    refuse_longer(path, needed, block.size, f"{columns} x {rows} pixels of the image at byte {block.place}")
    return Image(block.place, block.size, compression, rows, columns)


def _decoded(path: Path, raw: mmap.mmap, image: Image) -> np.ndarray:
    """Temperatures (y, x) in K."""
    palette = np.frombuffer(raw, "<f4", 256, image.place + 60).astype(np.float64)
    above = np.append(palette[1:], palette[-1])
    part = np.arange(256) / 256
    with np.errstate(invalid="ignore", over="ignore"):
        table = (palette[:, None] * (1 - part) + above[:, None] * part).astype(np.float32).ravel()
    pixels = image.rows * image.columns
    if image.compression == 0:
        places = np.frombuffer(raw, "<u2", pixels, image.place + PIXELS)
    else:
        fractions = np.frombuffer(raw, np.uint8, pixels, image.place + PIXELS)
        packed = image.size - PIXELS - pixels
        runs = np.frombuffer(raw, np.uint8, packed - packed % 2, image.place + PIXELS + pixels).reshape(-1, 2)
        runs = runs[:pixels]  # each is for one pixel at least
        whole = np.repeat(runs[:, 1], np.maximum(runs[:, 0], 1))[:pixels]
        refuse_longer(path, pixels, whole.size, f"pixels of the image at byte {image.place}")
        places = whole.astype(np.uint16) * 256 + fractions
    values = table[places].reshape(image.rows, image.columns)
    return np.where(values > 0, values, np.float32(np.nan))  # below absolute zero, or no number


def _stamp(raw: mmap.mmap, image: Image) -> float:
    """Seconds since the epoch; the milliseconds count if the days do not hold them already. NaN if damaged."""
    days, milliseconds = struct.unpack_from("<di", raw, image.place + 1624)
    if not (math.isfinite(days) and 0 <= days < 200_000 and 0 <= milliseconds < 1000):
        return math.nan
    seconds, more = round(days * DAY, 6), milliseconds / 1000
    within = seconds % 1
    apart = min(abs(within - more), 1 - abs(within - more))
    return seconds if apart < 2e-3 else seconds + more


def _camera(raw: mmap.mmap, image: Image, stamp: float) -> CameraFacts:
    at = image.place
    return CameraFacts(
        model=text_of(raw[at + 1226 : at + 1238]),
        lens=text_of(raw[at + 1286 : at + 1318]),
        serial=text_of(raw[at + 1534 : at + 1550]),
        recorded=clock(EPOCH, stamp) if math.isfinite(stamp) else "",
    )


def _scene(raw: mmap.mmap, image: Image) -> Scene:
    emissivity, distance, around, _, air = struct.unpack_from("<5f", raw, image.place + 24)
    return Scene(
        emissivity=_within(emissivity, 1.0),
        reflected=_within(around, 5000.0),
        atmosphere=_within(air, 5000.0),
        distance=_within(distance, 1e6),
    )


def _within(value: float, most: float) -> float | None:
    return float(f"{value:.7g}") if 0 < value <= most else None


FORMATS = (Format("an InfraTec .irb", (".irb",), lambda head, path: head[:5] == MAGIC, read),)
