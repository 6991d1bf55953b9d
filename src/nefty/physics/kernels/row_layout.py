"""Volumes in the order (y, z, x), one flat array each: the layout in which a sweep of the solver is fastest.

The cells of one y, a row of ``depth * width`` numbers, are one long loop without cases: the neighbours along z and x
are ``width`` and 1 numbers away, those along y at the same place of the rows before and behind. What a shift reads
beyond the ends of a line belongs to another line, and is multiplied by a conductance of 0; the faces around the corner
along x are kept apart (``around``). ``margin`` zeros before and behind all make every shift legal, and rows begin at
multiples of 64 bytes where the width allows.

Floating point: only ``contract`` is allowed to the compiler, since each function is compiled for itself and again into
those that call it. What rounds differently there would make a first run, which compiles, differ from the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from nefty.core.buffers import borrow, borrow_zeros

COMPILED = {"fastmath": {"contract"}, "error_model": "numpy", "cache": True, "nogil": True}


class Faces(NamedTuple):
    """Conductances times a factor: along z, y, x (flat), around the corner along x (y, z), sinks.

    Sinks are those of front and back, (2, y, x), or of all cells, (z, y, x).
    """

    z: np.ndarray
    y: np.ndarray
    x: np.ndarray
    around: np.ndarray
    sinks: np.ndarray


def margin_of(width: int) -> int:
    """Numbers before and behind the rows: at least one line, and whole cache lines."""
    return -(-width // 16) * 16


def flat(shape: tuple[int, int, int], like: np.ndarray, count: int | None = None) -> np.ndarray:
    """Zeros for a volume of ``shape`` (z, y, x), flat; (count, n) for several."""
    nz, ny, nx = shape
    length = 2 * margin_of(nx) + -(-nz * ny * nx // 16) * 16
    return borrow_zeros((length,) if count is None else (count, length), like.dtype)


def packed(volume: np.ndarray, factor: float = 1.0) -> np.ndarray:
    """A volume (z, y, x) times ``factor``, flat."""
    out = flat(_shape(volume), volume)
    _pack(volume, volume.dtype.type(factor), out, margin_of(volume.shape[2]))
    return out


def unpacked(rows: np.ndarray, shape: tuple[int, int, int], factor: float = 1.0) -> np.ndarray:
    """A flat volume times ``factor``, (z, y, x)."""
    out = borrow(shape, rows.dtype)
    _unpack(rows, rows.dtype.type(factor), out, margin_of(shape[2]))
    return out


def packed_faces(faces: np.ndarray, sinks: np.ndarray, factor: float) -> Faces:
    """Conductances (3, z, y, x) and sinks (2, y, x) or (z, y, x) times ``factor``."""
    _, nz, ny, nx = faces.shape
    along = [packed(face, factor) for face in faces]
    through, _, lines = (rows[margin_of(nx) :][: nz * ny * nx].reshape(ny, nz, nx) for rows in along)
    through[:, 0] = 0  # no faces there
    around = np.ascontiguousarray(lines[:, :, 0])
    lines[:, :, 0] = 0
    return Faces(along[0], along[1], along[2], around, sinks * sinks.dtype.type(factor))


def unpacked_faces(faces: Faces, shape: tuple[int, int, int], factor: float) -> tuple[np.ndarray, np.ndarray]:
    """The transpose of ``packed_faces``, for derivatives: (3, z, y, x), and sinks as they are."""
    out = borrow((3, *shape), faces.z.dtype)
    scale, margin = faces.z.dtype.type(factor), margin_of(shape[2])
    for target, rows in zip(out, faces[:3], strict=True):
        _unpack(rows, scale, target, margin)
    out[0, 0] = 0  # no faces there
    out[2, :, :, 0] = (scale * faces.around).T
    return out, faces.sinks * scale


def no_faces(shape: tuple[int, int, int], like: np.ndarray, count: int, lossy: int) -> Faces:
    """``count`` times 0, to add derivatives to; sinks of ``lossy`` layers."""
    nz, ny, nx = shape
    z, y, x = (flat(shape, like, count) for _ in range(3))
    return Faces(z, y, x, np.zeros((count, ny, nz), like.dtype), np.zeros((count, lossy, ny, nx), like.dtype))


def _shape(volume: np.ndarray) -> tuple[int, int, int]:
    nz, ny, nx = volume.shape
    return nz, ny, nx


@njit(**COMPILED)
def _pack(volume, factor, out, margin):
    nz, ny, nx = volume.shape
    for k in range(nz):
        for j in range(ny):
            start = margin + (j * nz + k) * nx
            for i in range(nx):
                out[start + i] = factor * volume[k, j, i]


@njit(**COMPILED)
def _unpack(rows, factor, out, margin):
    nz, ny, nx = out.shape
    for k in range(nz):
        for j in range(ny):
            start = margin + (j * nz + k) * nx
            for i in range(nx):
                out[k, j, i] = factor * rows[start + i]
