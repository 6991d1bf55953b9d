"""Formats without a well-kept reader; the message says what to do instead."""

from __future__ import annotations

from pathlib import Path

from nefty.core.errors import InputError
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.sequence import Sequence

OWNERS = {".csq": "FLIR", ".ravi": "Optris"}


def read(path: Path, given: Given) -> Sequence:
    """Refuse, and say how to go on."""
    suffix = path.suffix.lower()
    raise InputError(
        f"{path} is a {suffix} of {OWNERS[suffix]}, for which there is no well-kept reader; export it to TIFF (one "
        "page or file per frame), CSV (one file per frame) or HDF5 with the camera's program, and load that."
    )


FORMATS = tuple(
    Format(f"a {owner} {suffix}", (suffix,), lambda head, path, suffix=suffix: path.suffix.lower() == suffix, read)
    for suffix, owner in OWNERS.items()
)
