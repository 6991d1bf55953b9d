"""Recordings of FLIR's ResearchIR, .ats: counts, and what the file says of camera and scene.

The format is not published. What is known was found on files of two cameras (A8581, A6751sc) and is written down in
pyflir 0.2.4 (pyflir.io, MIT). All numbers are little-endian.

| place | holds |
|---|---|
| 0 | ``FLIR ATS-US File`` |
| text ``SourceInfo``, and 77 bytes on | the record of the camera |
| record 80, 82 | uint16: columns, rows |
| record 142, 190, 206 | text: camera, its number, lens |
| text ``<workspaceFileSettings>`` | XML; ``objectParameters`` holds emissivity, distance, humidity and temperatures |
| in the first 50,000 bytes | the mark of the first frame, 6 bytes that begin with 14 00 |

Every frame is a row of marks, which begins with the mark, and the rows of counts, uint16; so the mark comes again after
each (rows + 1) x columns x 2 bytes. The file tells neither times nor temperatures in a known place.
"""

from __future__ import annotations

import mmap
import re
import struct
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.radiometry import ZERO_CELSIUS, Scene
from nefty.data.readers.cameras.mapped import mapped, text_of
from nefty.data.readers.pieces import of_array
from nefty.data.readers.sizes import MOST_FRAMES
from nefty.data.sequence import Sequence

MAGIC = b"FLIR ATS-US File"
RECORD = 77  # bytes from the name of a record to what it holds
MARK = 6  # bytes
NEAR = 50_000  # bytes in which the first frame begins
HEADS = 2**20  # bytes in which the record of the camera is looked for
LONGEST = 2**16  # bytes of the tag with the scene
BEGIN = re.compile(rb"\x14\0(?!\0\0\0\0)(?=.{4})", re.DOTALL)
MARKS = (bytes.fromhex("1400d5033400"), bytes.fromhex("1400d9040370"))  # of the two cameras, for a file of one frame
MOST_TRIED = 100  # places where the same mark comes twice
PARAMETERS = re.compile(rb"<objectParameters\b[^<>]{0,4000}>")
ATTRIBUTE = re.compile(rb'(\w{1,40})\s*=\s*"([-+.0-9eE]{1,30})"')


def read(path: Path, given: Given) -> Sequence:
    """Read the counts of a recording."""
    raw = mapped(path)
    columns, rows, camera = _source(path, raw)
    start, frames = _frames(path, raw, columns, rows)
    frame = np.dtype([("mark", f"V{2 * columns}"), ("counts", "<u2", (rows, columns))])
    counts = np.memmap(path, frame, "r", offset=start, shape=(frames,))["counts"]
    found = Found(frames=of_array(counts), unit="counts", facts=Facts(camera=camera, scene=_scene(raw)))
    return assemble(path, found, given)


def _source(path: Path, raw: mmap.mmap) -> tuple[int, int, CameraFacts]:
    """Columns, rows, camera."""
    named = raw.find(b"SourceInfo", 0, HEADS)
    at = named + RECORD
    if named < 0 or at + 270 > len(raw):
        raise InputError(
            f"{path} has no record SourceInfo, so the size of its frames is not known; export it to TIFF or CSV with "
            "FLIR's program."
        )
    columns, rows = struct.unpack_from("<2H", raw, at + 80)
    if not (rows and columns):
        raise InputError(f"{path} has a damaged header: frames of {columns} x {rows} pixels; copy it again.")
    camera = CameraFacts(
        model=text_of(raw[at + 142 : at + 190]),
        serial=text_of(raw[at + 190 : at + 206]),
        lens=text_of(raw[at + 206 : at + 270]),
    )
    return columns, rows, camera


def _frames(path: Path, raw: mmap.mmap, columns: int, rows: int) -> tuple[int, int]:
    """The first byte of the first frame, and the number of frames that bear the same mark."""
    size = 2 * columns * (rows + 1)
    begins = [found.start() for found in BEGIN.finditer(raw[: NEAR + MARK])]
    again = [at for at in begins if raw[at : at + MARK] == raw[at + size : at + size + MARK]]
    best = (0, 0)
    for at in again[:MOST_TRIED] or [at for at in begins if raw[at : at + MARK] in MARKS][:1]:
        whole = min((len(raw) - at) // size, MOST_FRAMES)
        bytes_of = np.frombuffer(raw, np.uint8, whole * size, at).reshape(whole, size)
        alike = (bytes_of[:, :MARK] == np.frombuffer(raw, np.uint8, MARK, at)).all(axis=1)
        best = max(best, (whole if alike.all() else int(alike.argmin()), -at))
        if alike.all():
            break
    frames, start = best[0], -best[1]
    if not frames:
        raise InputError(
            f"{path} is cut off, or of a camera whose .ats is not known: no mark of a frame of {columns} x {rows} "
            "pixels was found; export it to TIFF or CSV with FLIR's program."
        )
    return start, frames


def _scene(raw: mmap.mmap) -> Scene:
    """What the settings say; temperatures in degrees C."""
    at = raw.find(b"<objectParameters")
    tag = PARAMETERS.match(raw[at : at + LONGEST]) if at >= 0 else None
    if tag is None:
        return Scene()
    said = {name.decode(): _number(text) for name, text in ATTRIBUTE.findall(tag[0])}
    warm = {name: said[name] for name in ("reflectedTemp", "atmosphereTemp", "extOpticsTemp") if said.get(name)}
    kelvin = {name: value + ZERO_CELSIUS for name, value in warm.items() if value is not None and value > -ZERO_CELSIUS}
    return Scene(
        emissivity=said.get("emissivity"),
        reflected=kelvin.get("reflectedTemp"),
        atmosphere=kelvin.get("atmosphereTemp"),
        humidity=said.get("relativeHumidity"),
        distance=said.get("distance"),
        window=kelvin.get("extOpticsTemp"),
        transmission=said.get("extOpticsTransmission"),
    )


def _number(text: bytes) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


FORMATS = (Format("a FLIR .ats", (".ats",), lambda head, path: head.startswith(MAGIC), read),)
