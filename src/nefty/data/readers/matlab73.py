"""MATLAB's version 7.3, which is HDF5 with the axes in reverse order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import take_array
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.hdf5_safety import held, opened_safely, walk
from nefty.data.readers.matlab import Variables, recording
from nefty.data.readers.pieces import Pieces, of_array
from nefty.data.readers.thermo_hdf5 import is_hdf5
from nefty.data.sequence import Sequence

START = b"MATLAB 7.3 MAT-file"
HIDDEN = "#"  # names that MATLAB keeps for itself
MOST_CELLS = 10_000
LONGEST_TEXT = 10_000


def read(path: Path, given: Given) -> Sequence:
    """Read one variable of a file, in pieces."""
    with opened_safely(path) as file:
        arrays = {
            name.replace("/", "."): item
            for name, item in walk(file)
            if not name.startswith(HIDDEN) and isinstance(item, h5py.Dataset) and item.dtype.kind in "iuf"
        }

        def pieces(name: str, axes: str) -> Pieces:
            item = arrays[name]
            if item.external or item.is_virtual:
                raise InputError(f"{path} keeps {name} in another file; make a copy that holds all of it.")
            return of_array(item, axes[::-1])

        def rows(name: str) -> list[list[object]]:
            return _rows(file, name.replace(".", "/"))

        shapes = {name: tuple(item.shape[::-1]) for name, item in arrays.items()}
        return recording(path, Variables(shapes, pieces, lambda name: take_array(arrays[name]).T, rows), given)


def _rows(file: h5py.File, name: str) -> list[list[object]]:
    """Rows of a cell array of text and numbers."""
    cells = held(file, name)
    if (
        not isinstance(cells, h5py.Dataset)
        or cells.dtype.kind != "O"
        or cells.ndim != 2
        or (cells.size or 0) > MOST_CELLS
    ):
        return []
    return [[_cell(file, reference) for reference in row] for row in cells[()].T]


def _cell(file: h5py.File, reference: Any) -> object:
    item = file[reference] if isinstance(reference, h5py.Reference) and reference else None
    if not isinstance(item, h5py.Dataset) or "MATLAB_empty" in item.attrs or (item.size or 0) > LONGEST_TEXT:
        return ""
    values = np.ravel(take_array(item))
    if item.attrs.get("MATLAB_class") == b"char":
        return "".join(chr(int(letter)) for letter in values)
    return float(values[0]) if values.size == 1 else ""


def _is_matlab(head: bytes, path: Path) -> bool:
    return head.startswith(START) or (path.suffix.lower() == ".mat" and is_hdf5(head))


FORMATS = (Format("a MATLAB 7.3 .mat", (".mat",), _is_matlab, read),)
