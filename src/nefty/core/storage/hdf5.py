"""HDF5 files that are either whole or not there, and that hold nothing but values.

A mapping becomes a group, an array a dataset, and everything else JSON in the group's attribute ``values``. Nothing is
ever pickled, so reading a file never runs anything.

A file is made in memory and written at once: with h5py 3.16 (HDF5 2.0) a disk that fills up under an open file ends the
whole process with a segmentation fault. Text has a fixed length and the headers have checksums (HDF5 1.8 or later):
text of variable length lies in a heap without any, and HDF5 may hang in a damaged one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5o  # pyright: ignore[reportAttributeAccessIssue]

from nefty.core.errors import InputError, NeftyError
from nefty.core.storage.files import write_atomic

FORMAT = 2  # 1: recordings and results held their facts in one dictionary, meta
COMPRESS_FROM = 2**16  # bytes
DEEPEST = 32  # groups within groups; a damaged file may hold a circle
DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, AttributeError, MemoryError, RecursionError)


class DamagedFileError(InputError):
    """A file that is not, or not all, of what it was when it was written."""


def write_hdf5(path: str | os.PathLike[str], content: Mapping[str, Any], *, kind: str, compress: bool = True) -> Path:
    """Write nested mappings and lists of arrays, text, numbers, truth values and ``None``.

    Args:
        path: the file; what it held stays until all of the new content is on the disk.
        content: what ``read_hdf5`` gives back; tuples come back as lists.
        kind: what the file is, such as ``"checkpoint"``; reading asks for it.
        compress: pack large arrays of floating-point numbers (gzip).

    Raises:
        NeftyError: the folder cannot be written or the disk is full; an existing file is untouched.
    """
    with creating(path) as file:
        mark(file, kind)
        put(file, content, compress=compress)
    return Path(path)


def read_hdf5(path: str | os.PathLike[str], *, kind: str) -> dict[str, Any]:
    """Read what ``write_hdf5`` wrote; refuse a file of another kind."""
    with opened(path) as file:
        refuse_other(file, kind)
        return take(file)


def mark(file: h5py.File, kind: str) -> None:
    """Write into a file what it is."""
    file.attrs["nefty_kind"], file.attrs["nefty_format"] = np.bytes_(kind.encode()), FORMAT


def refuse_other(file: h5py.File, kind: str) -> None:
    """Raise if a file is not marked as ``kind``, or was made by a nefty too new for this one."""
    found = _text(file.attrs.get("nefty_kind", ""))
    if found != kind:
        what = f"a nefty {found}" if found else "not of nefty"
        raise InputError(f"{file.filename} is {what}, not a nefty {kind}; give the file of one.")
    version = int(np.asarray(file.attrs.get("nefty_format", 0)))
    if version > FORMAT:
        raise InputError(f"{file.filename} has format {version}, this nefty knows {FORMAT}; install a newer nefty.")


@contextlib.contextmanager
def creating(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """An empty HDF5 file in memory, which replaces ``path`` when the block ends without an error."""
    image = io.BytesIO()
    with h5py.File(image, "w", libver=("v108", "v108")) as file:
        yield file
    with image.getbuffer() as view:  # released also after an error: one that outlives it crashed Python 3.12.1
        write_atomic(path, view)


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[h5py.File]:
    """An HDF5 file to read; what goes wrong in the block because the file is damaged becomes an ``InputError``."""
    name = os.fspath(path)
    if not os.path.isfile(name):
        raise InputError(f"there is no file {name}; check the name and the folder.")
    try:
        with open(name, "rb") as file:
            empty = not file.read(1)
        if empty or not h5py.is_hdf5(name):
            what = "empty" if empty else "no HDF5 file"
            raise DamagedFileError(f"{name} is {what}; copy it again from where it was made, or give another file.")
        with h5py.File(name, "r", locking="best-effort") as file:
            yield file
    except NeftyError:
        raise
    except PermissionError as error:
        raise InputError(f"cannot read {name}: {error.strerror}; ask its owner or copy it.") from error
    except DAMAGE as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DamagedFileError(
            f"{name} is damaged or cut off ({reason}); copy it again from where it was made."
        ) from error


def put(group: h5py.Group, content: Mapping[str, Any], *, compress: bool = True) -> None:
    """Write ``content`` into an open group; see ``write_hdf5``."""
    rest = {}
    for key, value in content.items():
        if not _holds_array(value):
            rest[key] = value
            continue
        if not isinstance(key, str) or key in ("", ".", "..") or "/" in key or "\0" in key:
            raise InputError(f"the name {key!r} of an array or group must be text without a slash.")
        if isinstance(value, np.ndarray):
            put_array(group, key, value, compress=compress)
        elif isinstance(value, Mapping):
            put(group.create_group(key), value, compress=compress)
        else:
            items = group.create_group(key)
            items.attrs["list"] = True
            put(items, {str(i): item for i, item in enumerate(value)}, compress=compress)
    group.attrs["values"] = np.bytes_(json.dumps(plain(str(group.name), rest)).encode())


def put_array(group: h5py.Group, name: str, array: np.ndarray, *, compress: bool = True) -> h5py.Dataset:
    """Write one array of numbers, truth values or text."""
    if array.dtype.kind == "U":
        data = np.char.encode(array, "utf-8")
        data = data.astype(h5py.string_dtype(length=max(1, data.dtype.itemsize)))
        return group.create_dataset(name, data=data)
    if array.dtype.kind not in "biufc":
        raise InputError(f"array {name!r} holds {array.dtype}; only numbers, truth values and text can be saved.")
    options: dict[str, Any] = {}
    if array.ndim and array.size:
        options["fletcher32"] = True
        if compress and array.dtype.kind in "fc" and array.nbytes >= COMPRESS_FROM:
            options |= {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    return group.create_dataset(name, data=array, **options)


def take(group: h5py.Group, depth: int = 0) -> dict[str, Any]:
    """Everything that ``put`` wrote into a group."""
    if depth > DEEPEST:
        raise InputError(f"{group.file.filename} has groups more than {DEEPEST} deep; it was not made by nefty.")
    found: dict[str, Any] = json.loads(_text(group.attrs.get("values", "{}")))
    for name in map(str, group):
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            raise InputError(f"{group.file.filename} links to another place at {group.name}/{name}; refused.")
        item = group[name]
        if object_info(item).rc > 1:  # groups that share groups have more ways through them than time allows
            raise InputError(
                f"{group.file.filename} holds {group.name}/{name} at two places; it was not made by nefty."
            )
        if isinstance(item, h5py.Dataset):
            found[name] = take_array(item)
        elif isinstance(item, h5py.Group):
            found[name] = take_list(item, depth + 1) if "list" in item.attrs else take(item, depth + 1)
    return found


def object_info(item: Any) -> Any:
    """What HDF5 knows of a group or array: address and number of names."""
    return h5o.get_info(item.id)


def take_list(group: h5py.Group, depth: int = 0) -> list[Any]:
    """A list that ``put`` wrote as a group, because it holds arrays."""
    found = take(group, depth)
    return [found[str(i)] for i in range(len(found))]


def take_array(item: h5py.Dataset) -> np.ndarray:
    """One array; refuses what is not numbers, truth values or text, or lies in another file."""
    if item.external or item.is_virtual:
        raise InputError(f"{item.file.filename} keeps {item.name} in another file; make a copy that holds all of it.")
    if h5py.check_string_dtype(item.dtype) is not None:
        return np.asarray(item.asstr()[()], dtype=str)
    if item.dtype.kind not in "biufc":
        raise InputError(f"{item.file.filename} holds {item.dtype} at {item.name}; only numbers and text are read.")
    return np.asarray(item[()])


def plain(what: str, value: Any) -> Any:
    """Return ``value`` as JSON knows it: text, numbers, truth values, ``None``, lists, mappings with text as keys."""
    if value is None or type(value) in (str, bool, int, float):
        return value
    if isinstance(value, np.generic):
        return plain(what, value.item())
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{what}: the key {key!r} must be text; write str(key).")
        return {str(key): plain(f"{what}/{key}", item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(f"{what}/{i}", item) for i, item in enumerate(value)]
    if isinstance(value, str):  # a member of an enumeration, for example, whose str() is its name
        return str.__str__(value)
    for base in (int, float):
        if isinstance(value, base):
            return base(value)
    raise InputError(
        f"{what}={value!r} is a {type(value).__name__} and cannot be saved; use a NumPy array, text, a number, "
        "a list or a dict."
    )


def digest(*values: Any) -> str:
    """SHA-256, in hexadecimal, of arrays, plain values, and lists, mappings and dataclasses of them.

    Equal values give equal digests on every machine; arrays count with dtype and shape, mappings without their order.
    """
    found = hashlib.sha256()
    for value in values:
        _feed(found, value)
    return found.hexdigest()


def _feed(found: Any, value: Any) -> None:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        value = {"class": type(value).__name__, **fields}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufcU":
            raise InputError(f"an array of {value.dtype} has no digest; use numbers, truth values or text.")
        value = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<")).reshape(value.shape)
        found.update(f"array {value.dtype.str} {value.shape} ".encode())
        found.update(value.tobytes() if value.dtype.kind == "U" or value.ndim == 0 else value.view(np.uint8).data)
    elif isinstance(value, Mapping):
        found.update(f"mapping {len(value)} ".encode())
        for key in sorted(value):
            _feed(found, key)
            _feed(found, value[key])
    elif isinstance(value, (list, tuple)):
        found.update(f"list {len(value)} ".encode())
        for item in value:
            _feed(found, item)
    else:
        text = json.dumps(plain("value", value))
        found.update(f"plain {len(text)} {text} ".encode())


def _holds_array(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_array(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(_holds_array(item) for item in value)
    return isinstance(value, np.ndarray)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
