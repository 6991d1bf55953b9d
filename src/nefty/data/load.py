"""Recordings from files, by the ending of the name."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError, unknown_name
from nefty.data.sequence import Sequence
from nefty.data.thermo_hdf5 import read_recording

ARRAYS = ("frames", "times", "excitation", "mask", "truth")
PLAIN = ("size", "anisotropy", "face_mean", "observe", "noise")
DAMAGE = (OSError, EOFError, KeyError, TypeError, AttributeError, RuntimeError, MemoryError)
DAMAGE += (zipfile.BadZipFile, zlib.error, struct.error)


def load(path: str | os.PathLike[str]) -> Sequence:
    """Read a recording.

    Args:
        path: ``.h5`` or ``.hdf5`` in pyThermoNDT's layout, which is also that of ``Sequence.save``; or ``.npz`` with
            ``frames`` and ``times``, and as many of the other arguments of ``Sequence`` as are known (``size``,
            ``excitation`` as the temperature (z, y, x) at t = 0, ``mask``, ``noise``, ``truth``, ``anisotropy``,
            ``observe``, ``face_mean``).
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"there is no file {path}{_near(path)}; check the name and the folder.")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give one file, {_supported()}.")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path} ends in {path.suffix or 'nothing'}, which nefty cannot read yet; it reads {_supported()}. "
            "Other formats: nefty.Sequence(frames=..., times=...) of arrays, and its save(...)."
        )
    try:
        return reader(path)
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error


def read_npz(path: str | os.PathLike[str]) -> Sequence:
    """Read a recording from NumPy's archive of arrays; never unpickles."""
    path = Path(path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            found: dict[str, Any] = {name: archive[name] for name in archive.files}
    except PermissionError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; ask its owner or copy it.") from error
    except ValueError as error:
        if "pickle" not in str(error):
            raise _damaged(path, error) from error
        raise InputError(
            f"{path} holds Python objects or no arrays, which are not read; save plain numbers, "
            "np.savez(path, frames=..., times=...)."
        ) from error
    except DAMAGE as error:
        raise _damaged(path, error) from error
    for name in found:
        if name not in ARRAYS + PLAIN:
            raise unknown_name(f"{path}: array", name, ARRAYS + PLAIN)
    for name in ("frames", "times"):
        if name not in found:
            raise InputError(f"{path} has no array {name!r}, only {', '.join(sorted(found)) or 'nothing'}; add it.")
    found |= {name: found[name].tolist() for name in PLAIN if name in found}
    return Sequence(**found, meta={"source": path.name})


READERS = {".h5": read_recording, ".hdf5": read_recording, ".npz": read_npz}


def _supported() -> str:
    *most, last = sorted(READERS)
    return f"{', '.join(most)} and {last}"


def _near(path: Path) -> str:
    """The file in the same folder whose name is nearest."""
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix.lower() in READERS]
    except OSError:
        return f" (nor the folder {path.parent})" if not path.parent.exists() else ""
    near = get_close_matches(path.name, names, n=1)
    return f"; did you mean {near[0]}" if near else ""


def _damaged(path: Path, error: Exception) -> InputError:
    return InputError(f"{path} is damaged or no archive of arrays ({error}); copy it again from where it was made.")
