"""One frame as a grey PNG of 8 or 16 bits."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.data.readers.sizes import refuse_packed

START = b"\x89PNG\r\n\x1a\n"
GREY = 0


def read_png(path: Path) -> np.ndarray:
    """Values (y, x), uint8 or uint16; the declared size is checked before anything is unpacked."""
    from PIL import Image

    with open(path, "rb") as file:
        head = file.read(26)
    if len(head) < 26 or head[:8] != START or head[12:16] != b"IHDR":
        raise InputError(f"{path} is no PNG, or cut off; export the frame again.")
    columns, rows, bits, colour = struct.unpack(">IIBB", head[16:26])
    if colour != GREY or bits not in (8, 16):
        raise InputError(
            f"{path} shows colours or fewer than 8 bits (colour type {colour}, {bits} bits), not temperatures; "
            "export grey values of 8 or 16 bits, TIFF or CSV."
        )
    refuse_packed(path, (rows, columns), bits // 8, os.path.getsize(path), "pixels")
    with Image.open(path, formats=("PNG",)) as image:
        values = np.asarray(image)
    return values.astype(np.uint8 if bits == 8 else np.uint16)
