"""Recordings of FLIR and Cedip cameras, .ptw.

A header; then for each frame a header and rows x columns counts, uint16. All numbers are little-endian.

| byte | holds |
|---|---|
| 0 | ``CED`` |
| 11, 15 | uint32: bytes of the header, and of the header of a frame |
| 23, 27 | uint32: pixels of a frame, number of frames |
| 44, 64 | text, 20 bytes: camera, lens |
| 377, 379 | uint16: columns, rows |
| 403, 407 | float32: frame period, integration time, in seconds |
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.pieces import of_array
from nefty.data.readers.sizes import refuse_longer
from nefty.data.sequence import Sequence

HEADER_BYTES = 411  # bytes, up to the last value that is used
LONGEST = 3600.0  # seconds between two frames


def read(path: Path, given: Given) -> Sequence:
    """Read the counts of a recording; the file holds no temperatures."""
    size = os.path.getsize(path)
    refuse_longer(path, HEADER_BYTES, size, "the values of its header")
    with open(path, "rb") as file:
        head = file.read(HEADER_BYTES)
    main, each, _, pixels, frames = struct.unpack_from("<5I", head, 11)
    columns, rows = struct.unpack_from("<2H", head, 377)
    period, integration = struct.unpack_from("<2f", head, 403)
    if main < HEADER_BYTES or not (frames and rows and columns) or pixels not in (0, rows * columns):
        raise InputError(
            f"{path} has a damaged header: {frames} frames of {columns} x {rows} pixels ({pixels} in all), "
            f"a header of {main} bytes; copy it again from where it was made."
        )
    needed = main + frames * (each + 2 * rows * columns)
    refuse_longer(path, needed, size, f"{frames} frames of {columns} x {rows} pixels")
    frame = np.dtype(
        [("head", f"V{each}"), ("counts", "<u2", (rows, columns))] if each else [("counts", "<u2", (rows, columns))]
    )
    counts = np.memmap(path, frame, "r", offset=main, shape=(frames,))["counts"]
    camera = CameraFacts(
        model=_text(head[44:64]),
        lens=_text(head[64:84]),
        integration_time=float(integration) if np.isfinite(integration) else None,
    )
    known = 0 < period < LONGEST
    return assemble(
        path,
        Found(
            frames=of_array(counts),
            times=np.arange(frames) * float(np.float32(period)) if known else None,
            unit="counts",
            facts=Facts(camera=camera),
            notes=(f"The file says {period:g} s between frames.",) if known else (),
        ),
        given,
    )


def _text(raw: bytes) -> str:
    return raw.split(b"\0")[0].decode("latin-1").strip()


FORMATS = (Format("a FLIR/Cedip .ptw", (".ptw",), lambda head, path: head[:4] == b"CED\0", read),)
