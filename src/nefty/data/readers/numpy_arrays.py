"""NumPy's files: .npy with the frames, .npz with the frames and as many arguments of ``Sequence`` as are known."""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from nefty.core.errors import InputError, unknown_name
from nefty.core.storage.files import writing
from nefty.data.assemble import Found, assemble, restate
from nefty.data.facts import Facts, Origin
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.portable import describe, restore
from nefty.data.readers.pieces import BLOCK, Pieces, of_array, of_stream
from nefty.data.readers.sizes import refuse_longer, refuse_packed
from nefty.data.sequence import Sequence

ARRAYS = ("frames", "times", "excitation", "mask", "truth")
PLAIN = ("size", "anisotropy", "face_mean", "observe", "noise")
OURS = "nefty"  # array of text in the archives that nefty writes
MOST_ARRAYS = 1000


def read_npy(path: Path, given: Given) -> Sequence:
    """Read frames (t, y, x), or of other ``axes``, without unpickling anything."""
    with open(path, "rb") as file:
        shape, fortran, dtype = _header(path, file)
        start = file.tell()
    refuse_longer(path, math.prod(shape) * dtype.itemsize, os.path.getsize(path) - start, f"values of shape {shape}")
    if len(shape) != 3 or 0 in shape:
        raise InputError(f"{path} holds an array of shape {shape}, and a recording has (t, y, x).")
    array = np.memmap(path, dtype, "r", offset=start, shape=shape, order="F" if fortran else "C")
    axes = given.axes or "tyx"
    return assemble(path, Found(frames=of_array(array, axes), notes=_taken(given, axes)), given)


def read_npz(path: Path, given: Given) -> Sequence:
    """Read a recording from an archive of arrays, without unpickling anything."""
    with zipfile.ZipFile(path) as archive:
        members = {_name(info): info for info in archive.infolist()}
        if len(members) > MOST_ARRAYS:
            raise InputError(f"{path} holds {len(members)} arrays; a recording has a few.")
        if "frames" in members and given.variable in (None, "frames"):
            return _recording(path, archive, members, given)
        return _some_array(path, archive, members, given)


def write_npz(sequence: Sequence, path: str | os.PathLike[str]) -> Path:
    """Write a recording, which ``load`` reads back as it was."""
    text, arrays = describe(sequence)
    arrays = {"frames": sequence.frames, "times": sequence.times, **arrays, OURS: np.asarray(text)}
    with writing(path) as file:
        np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
    return Path(path)


def _recording(path: Path, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], given: Given) -> Sequence:
    """An archive whose arrays have the names of ``Sequence``'s arguments."""
    ours = OURS in members
    for name in members if not ours else ():
        if name not in ARRAYS + PLAIN:
            raise unknown_name(f"{path}: array", name, ARRAYS + PLAIN)
    found: dict[str, Any] = {name: _array(path, archive, info) for name, info in members.items()}
    frames = found.pop("frames")
    timed = given.fps is not None or given.times is not None
    if "times" not in found and not timed:
        raise InputError(
            f"{path} has no array 'times', only {', '.join(sorted(members))}; add it, or give fps=... "
            "(frames per second)."
        )
    times = found.pop("times", np.arange(frames.shape[-3] if frames.ndim > 2 else 0))
    if ours:
        return restate(path, restore(str(found.pop(OURS)), found, frames, times), given)
    found |= {name: found[name].tolist() for name in PLAIN if name in found}
    return restate(
        path, Sequence(frames=frames, times=times, **found, facts=Facts(origin=Origin(name=path.name))), given
    )


def _some_array(path: Path, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], given: Given) -> Sequence:
    """An archive of arrays with other names, one of which holds the frames."""
    shapes = {}
    for name, info in members.items():
        with archive.open(info) as file:
            shapes[name] = _header(path, file)[0]
    name = chosen(path, shapes, given)
    axes = given.axes or "tyx"
    found = Found(
        frames=_packed(path, archive, members[name], axes),
        notes=(f"The frames are the array {name!r}.", *_taken(given, axes)),
    )
    return assemble(path, found, given)


def chosen(path: Path, shapes: dict[str, tuple[int, ...]], given: Given) -> str:
    """The name of the array with the frames: the one that was given, or the only one with three axes."""
    if given.variable is not None:
        if given.variable not in shapes:
            raise unknown_name(f"{path}: variable", given.variable, shapes)
        return given.variable
    three = [name for name, shape in shapes.items() if len(shape) == 3]
    if len(three) == 1:
        return three[0]
    inside = ", ".join(f"{name} {shape}" for name, shape in sorted(shapes.items())[:20]) or "nothing"
    which = "several arrays with three axes" if three else "no array with three axes"
    raise InputError(f"{path} holds {which}: {inside}; name the frames with variable=...")


def _packed(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, axes: str) -> Pieces:
    with archive.open(info) as file:
        shape, fortran, dtype = _header(path, file)
        start = file.tell()
    if fortran or axes[0] != "t" or dtype.kind not in "iuf":
        return of_array(_array(path, archive, info), axes)
    _refuse_bomb(path, info, shape, dtype, start)

    def opened() -> IO[bytes]:
        file = archive.open(info)
        file.read(start)
        return file

    t, *face = shape
    y, x = face if axes == "tyx" else face[::-1]
    return of_stream(opened, (t, y, x), dtype, axes[1:])


def _array(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """One array of an archive, read in pieces."""
    with archive.open(info) as file:
        shape, fortran, dtype = _header(path, file)
        _refuse_bomb(path, info, shape, dtype, file.tell())
        values = np.empty(math.prod(shape), dtype)
        step = max(1, BLOCK * 4 // max(1, dtype.itemsize))
        for at in range(0, values.size, step):
            wanted = min(step, values.size - at)
            raw = file.read(wanted * dtype.itemsize)
            refuse_longer(path, wanted * dtype.itemsize, len(raw), f"values of {info.filename}")
            values[at : at + wanted] = np.frombuffer(raw, dtype)
        file.read(1)  # the end, where the check sum is compared
    return values.reshape(shape, order="F" if fortran else "C")


def _refuse_bomb(path: Path, info: zipfile.ZipInfo, shape: tuple[int, ...], dtype: np.dtype, start: int) -> None:
    refuse_longer(path, math.prod(shape) * dtype.itemsize, info.file_size - start, f"values of {info.filename}")
    refuse_packed(path, shape, dtype.itemsize, info.compress_size, info.filename)


def _header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether in Fortran's order, and type of an array; the file stands at its first value then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
        else:
            raise InputError(f"{path} has version {version} of NumPy's format, which is for names that are not ASCII.")
    if dtype.hasobject:
        raise InputError(
            f"{path} holds Python objects, which are not read; save plain numbers, "
            "np.savez(path, frames=..., times=...)."
        )
    if dtype.kind not in "biufcUS" or dtype.itemsize == 0 or min(shape, default=1) < 0:
        raise InputError(f"{path} holds {dtype} of shape {shape}; only numbers, truth values and text are read.")
    return tuple(int(n) for n in shape), bool(fortran), dtype


def _name(info: zipfile.ZipInfo) -> str:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or not info.filename.endswith(".npy"):
        raise InputError(f"the archive holds {info.filename!r}, which is no array of NumPy; np.savez writes archives.")
    return info.filename[: -len(".npy")]


def _taken(given: Given, axes: str) -> tuple[str, ...]:
    return () if given.axes else (f"The axes were taken in the order {axes}; give axes=... if that is wrong.",)


FORMATS = (
    Format("a NumPy .npz archive", (".npz",), lambda head, path: head[:4] == b"PK\x03\x04", read_npz),
    Format("a NumPy .npy array", (".npy",), lambda head, path: head[:6] == b"\x93NUMPY", read_npy),
)
