"""MATLAB's version 5 (up to 7.2): arrays of numbers, and those within structs, read in pieces.

SciPy's reader is not used: it takes all of a variable into memory, and damaged files make it crash the interpreter
(1.17: a segmentation fault within 4,000 files with a few wrong bytes). Layout: "MAT-File Format", The MathWorks. A
file is a head of 128 bytes and elements, each a tag (type, bytes) and its content padded to 8 bytes; the content of an
array is again elements: flags, dimensions, name, values in Fortran's order.
"""

from __future__ import annotations

import io
import math
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from nefty.core.errors import InputError
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.matlab import Variables, recording
from nefty.data.readers.pieces import Pieces, of_array, of_stream
from nefty.data.readers.sizes import HARMLESS, PACKED, refuse_longer
from nefty.data.sequence import Sequence

HEAD = 128
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
MATRIX, COMPRESSED, STRUCT = 14, 15, 2
COMPLEX = 0x08  # of the flags
MOST_VARIABLES = 10_000
LONGEST_NAMES = 2**20
DEEPEST = 8  # structs within structs
Where = tuple[Path, "tuple[int, int] | None"]  # the file, and the compressed element of it


@dataclass(frozen=True)
class Place:
    """Where the values of an array stand: from which byte of the file, or of which packed element, on."""

    path: Path
    packed: tuple[int, int] | None  # first byte and length of a compressed element
    start: int
    shape: tuple[int, ...]
    stored: np.dtype
    meant: np.dtype  # MATLAB's class; values are often stored in a smaller type

    def mapped(self) -> np.ndarray:
        """The values in the file; of a compressed element, in memory."""
        if self.packed is None:
            return np.memmap(self.path, self.stored, "r", offset=self.start, shape=self.shape, order="F")
        with self.unpacked() as stream:
            raw = Reader(stream, None, "<", 0).take(math.prod(self.shape) * self.stored.itemsize)
        return np.frombuffer(raw, self.stored).reshape(self.shape, order="F")

    def unpacked(self) -> Inflated:
        """A compressed element from the first value on."""
        assert self.packed is not None
        stream = Inflated(self.path, *self.packed)
        Reader(stream, None, "<", 0).skip(self.start)
        return stream


class Inflated(io.RawIOBase):
    """The content of a compressed element, read forward only; refuses more than its packed bytes can be worth."""

    def __init__(self, path: Path, start: int, length: int) -> None:
        self.path, self.left, self.most = path, length, max(HARMLESS, PACKED * length)
        self.file = open(path, "rb")  # noqa: SIM115
        self.file.seek(start)
        self.unpack, self.rest, self.given = zlib.decompressobj(), b"", 0

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        found = []
        while size > 0:
            if not self.rest:
                self.rest = self.file.read(min(2**16, self.left))
                self.left -= len(self.rest)
            part = self.unpack.decompress(self.rest, size)
            ended = not part and not self.rest
            self.rest = self.unpack.unconsumed_tail
            if ended or (self.unpack.eof and not part):
                break
            found.append(part)
            size -= len(part)
            self.given += len(part)
            if self.given > self.most:
                raise InputError(f"{self.path} unpacks to more than {self.most} bytes; it is made to fill the memory.")
        return b"".join(found)

    def close(self) -> None:
        """Close the file."""
        if hasattr(self, "file"):
            self.file.close()
        super().close()


class Reader:
    """Walks through the elements of a stream.

    Args:
        stream: a file, or an ``Inflated`` element.
        end: of the file; ``None`` for what can only be read forward.
        order: of the bytes, ``"<"`` or ``">"``.
        most: bytes that an array can have.
    """

    def __init__(self, stream: IO[bytes] | Inflated, end: int | None, order: str, most: int) -> None:
        self.stream, self.end, self.order, self.most = stream, end, order, most
        self.at = stream.tell() if end is not None else 0

    def take(self, length: int) -> bytes:
        """The next bytes, all of them."""
        found = self.stream.read(length)
        if len(found) != length:
            raise InputError(f"the file is cut off or damaged: {length} bytes were expected, {len(found)} are there.")
        self.at += length
        return found

    def skip(self, length: int) -> None:
        """Leave bytes out."""
        if self.end is not None:
            if self.at + length > self.end:
                raise InputError(f"the file is cut off or damaged: an element of {length} bytes goes beyond its end.")
            self.stream.seek(length, os.SEEK_CUR)
            self.at += length
            return
        while length > 0:
            length -= len(self.take(min(length, 2**16)))

    def tag(self) -> tuple[int, int, bytes | None]:
        """Type and length of the next element; its content too, if that is so short that it stands in the tag."""
        raw = self.take(8)
        kind, length = struct.unpack(self.order + "II", raw)
        if kind >> 16:
            kind, length = kind & 0xFFFF, kind >> 16
            if length > 4:
                raise InputError(f"the file is damaged: a short element of {length} bytes.")
            return kind, length, raw[4 : 4 + length]
        return kind, length, None

    def small(self, most: int = LONGEST_NAMES) -> bytes:
        """The content of the next element, which must not be long."""
        _, length, content = self.tag()
        if content is not None:
            return content
        if length > most:
            raise InputError(f"the file is damaged: {length} bytes where at most {most} can be.")
        content = self.take(length)
        self.skip(-length % 8)
        return content


def read(path: Path, given: Given) -> Sequence:
    """Read one variable of a file, in pieces."""
    places = variables_of(path)
    shapes = {name: place.shape for name, place in places.items()}
    variables = Variables(
        shapes,
        lambda name, axes: frames_at(places[name], axes),
        lambda name: np.array(places[name].mapped()),
        lambda name: [],
    )
    return recording(path, variables, given)


def frames_at(place: Place, axes: str) -> Pieces:
    """The frames of an array whose axes stand in this order."""
    if place.packed is None or len(place.shape) != 3 or axes[2] != "t":
        found = of_array(place.mapped(), axes)
    else:
        y, x = place.shape[:2] if axes == "yxt" else place.shape[1::-1]
        within = "xy" if axes == "yxt" else "yx"
        found = of_stream(place.unpacked, (place.shape[2], y, x), place.stored, within)
    return Pieces(found.shape, place.meant, found.read)


def variables_of(path: Path) -> dict[str, Place]:
    """Where the arrays of numbers of a file stand, by name."""
    size = os.path.getsize(path)
    refuse_longer(path, HEAD, size, "the values of its head")
    with open(path, "rb") as file:
        order = {b"IM": "<", b"MI": ">"}.get(file.read(HEAD)[126:128])
        if order is None:
            raise InputError(f"{path} is a damaged MATLAB file; save it again.")
        places: dict[str, Place] = {}
        top = Reader(file, size, order, size)
        while top.at + 8 <= size:
            kind, length, _ = top.tag()
            start = top.at
            refuse_longer(path, start + length, size, "its variables")
            if kind == COMPRESSED:
                with Inflated(path, start, length) as stream:
                    inner = Reader(stream, None, order, stream.most)
                    if inner.tag()[0] == MATRIX:
                        _matrix(inner, "", places, (path, (start, length)), 0)
            elif kind == MATRIX and length:
                _matrix(top, "", places, (path, None), 0)
            file.seek(start + length)
            top.at = start + length
            if len(places) > MOST_VARIABLES:
                raise InputError(f"{path} holds more than {MOST_VARIABLES} variables.")
    return places


def _matrix(reader: Reader, within: str, places: dict[str, Place], where: Where, depth: int) -> None:
    """Note the places of the numbers in an array or struct, whose tag has been read."""
    flags = reader.small()
    if len(flags) < 8:
        raise InputError("the file is damaged: the flags of a variable are cut off.")
    (word,) = struct.unpack_from(reader.order + "I", flags)
    raw = reader.small(2**10)
    shape = struct.unpack(f"{reader.order}{len(raw) // 4}i", raw[: len(raw) // 4 * 4])
    if len(shape) < 2 or min(shape) < 0:
        raise InputError(f"the file is damaged: a variable of shape {shape}.")
    name = reader.small().decode("latin-1") or within
    if word & 0xFF == STRUCT and math.prod(shape) == 1 and depth < DEEPEST:
        _struct(reader, name, places, where, depth)
    elif word & 0xFF in CLASSES and not (word >> 8) & COMPLEX:
        kind, length, content = reader.tag()
        if kind not in NUMBERS:
            raise InputError(f"the file is damaged: {name!r} has values of the unknown type {kind}.")
        stored = np.dtype(reader.order + NUMBERS[kind])
        if math.prod(shape) * stored.itemsize != length:
            raise InputError(
                f"the file is damaged: {name!r} of shape {shape} needs {math.prod(shape) * stored.itemsize} bytes, "
                f"and has {length}."
            )
        refuse_longer(
            where[0], length, reader.most if reader.end is None else reader.end - reader.at, f"values of {name!r}"
        )
        start = reader.at if content is None else reader.at - 4
        places[name] = Place(*where, start, shape, stored, np.dtype(CLASSES[word & 0xFF]))


def _struct(reader: Reader, name: str, places: dict[str, Place], where: Where, depth: int) -> None:
    (width,) = struct.unpack(reader.order + "i", reader.small()[:4].ljust(4, b"\0"))
    names = reader.small()
    if width <= 0 or len(names) % width:
        raise InputError(f"the file is damaged: the names of the fields of {name!r}.")
    for at in range(0, len(names), width):
        field = names[at : at + width].split(b"\0")[0].decode("latin-1")
        kind, length, _ = reader.tag()
        end = reader.at + length
        if kind == MATRIX and length:
            _matrix(reader, f"{name}.{field}", places, where, depth + 1)
        if end < reader.at:
            raise InputError(f"the file is damaged: the field {field!r} of {name!r} is longer than it says.")
        reader.skip(end - reader.at)


def _is_matlab(head: bytes, path: Path) -> bool:
    return head.startswith(b"MATLAB 5.0 MAT-file") or (
        path.suffix.lower() == ".mat" and head[126:128] in (b"IM", b"MI")
    )


FORMATS = (Format("a MATLAB .mat", (".mat",), _is_matlab, read),)
