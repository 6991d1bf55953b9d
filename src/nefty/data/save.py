"""Recordings to files, by the ending of the name."""

from __future__ import annotations

import os
from pathlib import Path

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence


def save(sequence: Sequence, path: str | os.PathLike[str]) -> Path:
    """Write a recording; see ``Sequence.save``."""
    suffix = Path(path).suffix.lower()
    if suffix in (".h5", ".hdf5"):
        from nefty.data.readers.thermo_hdf5 import write_recording

        return write_recording(sequence, path)
    if suffix == ".npz":
        from nefty.data.readers.numpy_arrays import write_npz

        return write_npz(sequence, path)
    if suffix in (".tif", ".tiff"):
        from nefty.data.readers.tiff import write

        return write(sequence, path)
    raise InputError(
        f"{os.fspath(path)} must end in .h5 or .hdf5, .npz, .tif or .tiff, the formats that recordings are saved in."
    )
