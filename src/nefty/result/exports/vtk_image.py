"""Volumes as VTK image data in XML (.vti), which ParaView opens.

Values belong to cells, so there is one point more than cells along each axis. VTK counts x fastest and names axes
(x, y, z), which is our C order of (z, y, x) arrays. z is the depth: the front face is at z = 0.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

import numpy as np

from nefty.core.errors import InputError
from nefty.core.grid import Grid

#: NumPy type and its name in the file.
TYPES = {"f4": "Float32", "f8": "Float64", "i4": "Int32", "u1": "UInt8"}


def vti(grid: Grid, cells: Mapping[str, np.ndarray]) -> bytes:
    """The content of a .vti file: XML with base64 data, each led by its length in bytes (UInt64).

    Args:
        grid: the cells.
        cells: name and values (z, y, x) of each quantity.
    """
    extent = " ".join(f"0 {n}" for n in reversed(grid.shape))
    spacing = " ".join(f"{d:.17g}" for d in reversed(grid.spacing))
    arrays = []
    for name, values in cells.items():
        data = _checked(name, values, grid).astype(values.dtype.newbyteorder("<")).tobytes()
        text = base64.b64encode(struct.pack("<Q", len(data)) + data).decode()
        kind = TYPES[values.dtype.str[1:]]
        arrays.append(f'<DataArray type="{kind}" Name={quoteattr(name)} format="binary">{text}</DataArray>\n')
    return (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        f'<ImageData WholeExtent="{extent}" Origin="0 0 0" Spacing="{spacing}">\n'
        f'<Piece Extent="{extent}">\n<CellData Scalars={quoteattr(next(iter(cells)))}>\n{"".join(arrays)}</CellData>\n'
        "</Piece>\n</ImageData>\n</VTKFile>\n"
    ).encode()


def _checked(name: str, values: np.ndarray, grid: Grid) -> np.ndarray:
    if values.shape != grid.shape or values.dtype.str[1:] not in TYPES or " " in name:
        raise InputError(
            f"{name!r} of shape {values.shape} and type {values.dtype} cannot be written as VTK cells: the shape must "
            f"be {grid.shape}, the type one of {', '.join(TYPES)}, and the name without spaces."
        )
    return values
