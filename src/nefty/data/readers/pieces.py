"""Frames that are still in a file, and are read in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.progress import tell

READ = "Read the frames"
Box = tuple[slice, slice, slice]
BLOCK = 2**20  # values in a piece


@dataclass(frozen=True)
class Pieces:
    """Frames (t, y, x) of a file.

    Args:
        shape: (t, y, x).
        dtype: of the values in the file.
        read: the values in a box of (t, y, x).
        boxes: all of them, in the order and the size in which the file is read fastest; runs of frames if not given.
    """

    shape: tuple[int, int, int]
    dtype: np.dtype
    read: Callable[[Box], np.ndarray]
    boxes: tuple[Box, ...] | None = None

    def __iter__(self) -> Iterator[tuple[Box, np.ndarray]]:
        done, whole = 0, max(1, math.prod(self.shape))
        for box in self.boxes if self.boxes is not None else self._runs():
            tell(READ, done / whole)
            yield box, self.read(box)
            done += math.prod(len(range(*side.indices(n))) for side, n in zip(box, self.shape, strict=True))
        tell(READ, 1.0)

    def first(self, frames: int) -> np.ndarray:
        """The first frames."""
        return self.read((slice(0, frames), slice(0, self.shape[1]), slice(0, self.shape[2])))

    def _runs(self) -> Iterator[Box]:
        t, y, x = self.shape
        run = max(1, BLOCK // max(1, y * x))
        for start in range(0, t, run):
            yield slice(start, min(start + run, t)), slice(0, y), slice(0, x)


def of_array(array: Any, axes: str = "tyx") -> Pieces:
    """Frames of an array, or of what can be cut like one: a memory map, a dataset of HDF5.

    Args:
        array: with ``shape``, ``dtype`` and cutting by slices.
        axes: the order of its axes; ``"yxt"`` is that of MATLAB and pyThermoNDT.
    """
    if len(array.shape) != 3:
        raise InputError(
            f"the array has shape {tuple(array.shape)}, and a recording three axes: time, rows and columns."
        )
    into = [axes.index(axis) for axis in "tyx"]  # axis of the array for each of (t, y, x)
    outof = ["tyx".index(axis) for axis in axes]
    t, y, x = (int(array.shape[i]) for i in into)

    def read(box: Box) -> np.ndarray:
        return np.transpose(np.asarray(array[tuple(box[i] for i in outof)]), into)

    return Pieces((t, y, x), np.dtype(array.dtype), read, _by_chunks((t, y, x), array, into))


def of_stream(opened: Callable[[], Any], shape: tuple[int, int, int], dtype: np.dtype, axes: str) -> Pieces:
    """Frames that follow each other in a stream that can only be read forward, such as a packed member of a file.

    Args:
        opened: the stream from the first frame on.
        shape: (t, y, x).
        dtype: of the values.
        axes: order within a frame, the slowest first: ``"yx"`` or ``"xy"``.
    """
    t, y, x = shape
    frame = y * x * dtype.itemsize
    state: dict[str, Any] = {"at": -1, "stream": None}  # the next frame of the stream

    def read(box: Box) -> np.ndarray:
        start, stop, _ = box[0].indices(t)
        if state["at"] != start:
            state["stream"], state["at"] = opened(), 0
            while state["at"] < start:
                _exactly(state["stream"], frame)
                state["at"] += 1
        raw = _exactly(state["stream"], frame * (stop - start))
        state["at"] = stop
        values = np.frombuffer(raw, dtype)
        if axes == "xy":
            return values.reshape(stop - start, x, y).swapaxes(1, 2)[:, box[1], box[2]]
        return values.reshape(stop - start, y, x)[:, box[1], box[2]]

    return Pieces(shape, dtype, read)


def _exactly(stream: Any, length: int) -> bytes:
    found = stream.read(length)
    if len(found) != length:
        raise InputError(f"the frames are cut off: {length} bytes were expected and {len(found)} are there.")
    return found


def _by_chunks(shape: tuple[int, int, int], array: Any, into: list[int]) -> tuple[Box, ...] | None:
    """Boxes that cut along one axis only, between the chunks in which HDF5 keeps an array."""
    if not hasattr(array, "chunks") or 0 in shape:
        return None
    chunks = array.chunks or (1, *array.shape[1:])
    chunk = [chunks[i] for i in into]
    axis = max(range(3), key=lambda i: shape[i] / chunk[i])
    slab = chunk[axis] * math.prod(n for i, n in enumerate(shape) if i != axis)
    step = chunk[axis] * max(1, BLOCK // slab)
    boxes = []
    for start in range(0, shape[axis], step):
        box = [slice(0, n) for n in shape]
        box[axis] = slice(start, min(start + step, shape[axis]))
        boxes.append((box[0], box[1], box[2]))
    return tuple(boxes)
