"""Frames and sequences of FLIR's cameras, .fff and .seq: counts, the camera's constants, and the scene.

A .seq is a row of .fff. Each has a head, a table of records, and the records; places count from its own start.

| byte | holds |
|---|---|
| 0, 4 | ``FFF\\0``; text, 16 bytes: the program that wrote it |
| 20, 24, 28 | uint32: version, 100 to 200; place of the table, number of its records, 32 bytes each |
| record 0, 12, 16 | uint16: kind (1 counts, 32 camera); uint32: place, bytes |
| counts 0, 2, 4, 32 | uint16: 2, which tells the order of bytes; columns, rows; the counts, uint16 |
| camera 0 | uint16: 2, the same |
| camera 32 to 60 | float32: emissivity, distance (m), reflected, air, window (K), transmission of it, -, humidity |
| camera 88, 92, 96, 776, 780 | float32: Planck's R1, B, F; int32: O; float32: R2 |
| camera 112 to 128 | float32: alpha1, alpha2, beta1, beta2, X of the air |
| camera 212, 260, 368 | text of 32, 16, 32 bytes: camera, its number, lens |
| camera 900, 904 | uint32: seconds since 1970, milliseconds |
| camera 1124 | uint16: frames per second |

Source: the tables of ExifTool, exiftool.org/TagNames/FLIR.html.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.radiometry import Air, Planck, Radiometry, Scene
from nefty.data.readers.cameras.mapped import mapped, text_of
from nefty.data.readers.cameras.stamps import clock, from_rate
from nefty.data.readers.pieces import Box, Pieces
from nefty.data.readers.sizes import MOST_FRAMES, refuse_longer
from nefty.data.sequence import Sequence

MAGIC = b"FFF\0"
HEAD, ENTRY = 64, 32
COUNTS, CAMERA = 1, 32  # kinds of records
BEFORE = 32  # bytes of a record of counts before them
KNOWN = 1126  # bytes of a record of the camera that are used
MOST_RECORDS = 1000  # of one frame
EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Frame:
    """Where a frame is: its counts, and what it says of the camera, if it does.

    Args:
        counts: place of the first count in the file.
        rows: of pixels.
        columns: of pixels.
        order: of the bytes of a count, ``"<"`` or ``">"``.
        camera: the record of the camera; ``None`` if there is none.
    """

    counts: int
    rows: int
    columns: int
    order: str
    camera: bytes | None


def read(path: Path, given: Given) -> Sequence:
    """Read the counts, and make temperatures of them if the file holds the camera's constants."""
    raw = mapped(path)
    frames = _frames(path, raw)
    first = frames[0]

    def read_box(box: Box) -> np.ndarray:
        pixels = first.rows * first.columns
        kept = [np.frombuffer(raw, f"{f.order}u2", pixels, f.counts).astype(np.uint16) for f in frames[box[0]]]
        return np.stack(kept).reshape(-1, first.rows, first.columns)[:, box[1], box[2]]

    stamps = np.array([_stamp(frame) for frame in frames])
    rate = float(_value(first.camera, "H", 1124)) if first.camera is not None else 0.0
    times, told = from_rate(stamps, rate)
    radiometry = _radiometry(first)
    if radiometry is not None and given.units != "counts":
        _refuse_other_ranges(path, frames, radiometry)
    found = Found(
        frames=Pieces((len(frames), first.rows, first.columns), np.dtype(np.uint16), read_box),
        times=times,
        unit="counts",
        radiometry=radiometry,
        facts=Facts(camera=_camera(first, stamps[0], rate)),
        notes=(told,) if told else (),
    )
    return assemble(path, found, given)


def _frames(path: Path, raw: mmap.mmap) -> list[Frame]:
    """The frames in their order, all of one size."""
    frames: list[Frame] = []
    at = 0
    while 0 <= at < len(raw):
        frame, at = _frame(path, raw, at, len(frames))
        frames.append(frame)
        if (frame.rows, frame.columns) != (frames[0].rows, frames[0].columns):
            raise InputError(
                f"{path} has frames of several sizes: {frames[0].columns} x {frames[0].rows} pixels, and frame "
                f"{len(frames) - 1} {frame.columns} x {frame.rows}; save each kind as a file of its own."
            )
        if len(frames) > MOST_FRAMES:
            raise InputError(f"{path} holds more than {MOST_FRAMES} frames; cut the recording into several files.")
        if raw[at : at + 4] != MAGIC:
            at = raw.find(MAGIC, at)  # what fills up a block
    return frames


def _frame(path: Path, raw: mmap.mmap, start: int, number: int) -> tuple[Frame, int]:
    """The frame that begins here, and one past its last byte."""
    what = f"frame {number} at byte {start}"
    refuse_longer(path, start + HEAD, len(raw), f"the head of {what}")
    order = "<" if struct.unpack_from("<I", raw, start + 20)[0] <= 200 else ">"
    version, table, records = struct.unpack_from(f"{order}3I", raw, start + 20)
    if not (100 <= version < 200 and 0 < records <= MOST_RECORDS and table >= HEAD):
        raise InputError(
            f"{path} has a damaged head of {what}: version {version}, {records} records at byte {table}; "
            "copy it again from where it was made."
        )
    end = start + table + ENTRY * records
    refuse_longer(path, end, len(raw), f"the table of {what}")
    counts = camera = None
    for i in range(records):
        kind, packing = struct.unpack_from(f"{order}2H", raw, start + table + ENTRY * i)
        place, size = struct.unpack_from(f"{order}2I", raw, start + table + ENTRY * i + 12)
        refuse_longer(path, start + place + size, len(raw), f"a record of {what}")
        end = max(end, start + place + size)
        if kind == COUNTS and size:
            counts = (start + place, size, packing)
        elif kind == CAMERA and size >= KNOWN:
            camera = bytes(raw[start + place : start + place + KNOWN])
    if counts is None:
        raise InputError(f"{path} has no counts in {what}; copy it again from where it was made.")
    return _counts(path, raw, what, counts, camera), end


def _counts(path: Path, raw: mmap.mmap, what: str, record: tuple[int, int, int], camera: bytes | None) -> Frame:
    place, size, packing = record
    refuse_longer(path, BEFORE, size, f"the counts of {what}")
    order = "<" if struct.unpack_from("<H", raw, place)[0] == 2 else ">"
    mark, columns, rows = struct.unpack_from(f"{order}3H", raw, place)
    if mark != 2 or packing not in (0, 1, 2) or not (rows and columns):
        raise InputError(
            f"{path} has counts that are packed in another way ({packing}, {mark}; {columns} x {rows} pixels) in "
            f"{what}; export the recording to TIFF or CSV with FLIR's program."
        )
    refuse_longer(path, BEFORE + 2 * rows * columns, size, f"{columns} x {rows} pixels of {what}")
    return Frame(place + BEFORE, rows, columns, order, camera)


def _order(camera: bytes) -> str:
    return "<" if struct.unpack_from("<H", camera)[0] == 2 else ">"


def _value(camera: bytes, kind: str, at: int) -> float:
    return struct.unpack_from(_order(camera) + kind, camera, at)[0]


def _radiometry(frame: Frame) -> Radiometry | None:
    """Constants and scene; ``None`` if the file lacks them or temperatures do not follow from them."""
    if frame.camera is None:
        return None
    order = _order(frame.camera)
    e, distance, reflected, air, window, w, _, humidity = struct.unpack_from(f"{order}8f", frame.camera, 32)
    r1, b, f = struct.unpack_from(f"{order}3f", frame.camera, 88)
    o, r2 = struct.unpack_from(f"{order}if", frame.camera, 776)
    planck, constants = Planck(r1, r2, b, f, float(o)), Air(*struct.unpack_from(f"{order}5f", frame.camera, 112))
    humidity = humidity / 100 if humidity > 2 else humidity  # some programs write percent
    plausible = 0 < e <= 1 and 0 < w <= 1 and 0 <= humidity <= 1 and distance >= 0
    plausible &= all(0 < kelvin < 5000 for kelvin in (reflected, air, window))
    finite = bool(
        np.isfinite([constants.alpha1, constants.alpha2, constants.beta1, constants.beta2, constants.x]).all()
    )
    if not (planck.usable and plausible and finite and math.isfinite(distance)):
        return None
    scene = Scene(*(float(f"{v:.7g}") for v in (e, reflected, air, humidity, distance, window, w)))
    return Radiometry(planck, constants, scene) if constants.transmission(scene) > 0 else None


def _refuse_other_ranges(path: Path, frames: list[Frame], first: Radiometry) -> None:
    """Raise if the measuring range, and so the camera's constants, changed within a recording."""
    seen = frames[0].camera
    for i, frame in enumerate(frames):
        if frame.camera == seen:
            continue
        seen, own = frame.camera, _radiometry(frame)
        if own is None or own.planck != first.planck:
            raise InputError(
                f"{path} has other constants of the camera from frame {i} on, as when its range is changed; cut the "
                'recording there, or give units="counts".'
            )


def _stamp(frame: Frame) -> float:
    """Seconds since 1970; NaN if the frame does not say it."""
    if frame.camera is None:
        return math.nan
    seconds, milliseconds = struct.unpack_from(f"{_order(frame.camera)}2I", frame.camera, 900)
    return seconds + (milliseconds & 0xFFFF) / 1000 if seconds else math.nan


def _camera(frame: Frame, stamp: float, rate: float) -> CameraFacts:
    if frame.camera is None:
        return CameraFacts()
    return CameraFacts(
        model=text_of(frame.camera[212:244]),
        lens=text_of(frame.camera[368:400]),
        serial=text_of(frame.camera[260:276]),
        recorded=clock(EPOCH, stamp) if math.isfinite(stamp) else "",
        frame_rate=rate or None,
    )


FORMATS = (Format("a FLIR .seq or .fff", (".seq", ".fff"), lambda head, path: head[:4] == MAGIC, read),)
