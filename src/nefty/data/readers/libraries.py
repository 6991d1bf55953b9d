"""Cameras' formats that other libraries read: thin adapters, which name the library when it is missing.

| format | library |
|---|---|
| FLIR .ats, .sfmov | pyflir |
| FLIR .seq, .fff | flirpy |
| edevis .di, .OTvis, .ITvisPulse | pythermondt |
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError, MissingExtraError
from nefty.data.assemble import Found, assemble
from nefty.data.facts import CameraFacts, Facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.readers.pieces import Box, Pieces, of_array
from nefty.data.sequence import Sequence


def read_ats(path: Path, given: Given) -> Sequence:
    """Read the counts of FLIR's ResearchIR recording; the library does not give times."""
    counts, about = _library("pyflir.io", "pyflir", path).read_ats(str(path))
    facts = Facts(camera=CameraFacts(model=about.camera_model or "", lens=about.lens or ""))
    return assemble(path, Found(frames=of_array(np.asarray(counts)), unit="counts", facts=facts), given)


def read_sfmov(path: Path, given: Given) -> Sequence:
    """Read the counts of FLIR's .sfmov; the library does not give times."""
    library = _library("pyflir.io", "pyflir", path)
    try:
        counts = library.read_sfmov(str(path))
    except ImportError as error:
        raise _missing("pysfmov", path) from error
    return assemble(path, Found(frames=of_array(np.asarray(counts)), unit="counts"), given)


def read_seq(path: Path, given: Given) -> Sequence:
    """Read the counts of FLIR's .seq, a row of .fff frames."""
    frames = _library("flirpy.io.seq", "flirpy", path).Seq(str(path))
    if not len(frames):
        raise InputError(f"{path} holds no frame; copy it again from where it was made.")
    return _of_fff(path, frames, given)


def read_fff(path: Path, given: Given) -> Sequence:
    """Read the counts of the only frame of FLIR's .fff."""
    return _of_fff(path, [_library("flirpy.io.fff", "flirpy", path).Fff(str(path))], given)


def read_edevis(path: Path, given: Given) -> Sequence:
    """Read an edevis measurement; its lookup table is used if it has one."""
    library = _library("pythermondt.io", "pythermondt", path)
    found = library.EdevisParser.parse(library.IOPathWrapper(str(path)))
    lookup = np.asarray(found.get_dataset("/MetaData/LookUpTable"))
    return assemble(
        path,
        Found(
            frames=of_array(np.asarray(found.get_dataset("/Data/Tdata")), "yxt"),
            times=np.asarray(found.get_dataset("/MetaData/DomainValues"), dtype=np.float64),
            lookup=lookup.astype(np.float64) if lookup.size else None,
        ),
        given,
    )


def _of_fff(path: Path, frames: Any, given: Given) -> Sequence:
    first = frames[0]
    rows, columns = np.shape(first.get_image())
    rate = first.meta.get("FrameRate")

    def read(box: Box) -> np.ndarray:
        return np.stack([frames[i].get_image() for i in range(*box[0].indices(len(frames)))])[:, box[1], box[2]]

    pieces = Pieces((len(frames), rows, columns), np.dtype(np.uint16), read)
    times = np.arange(len(frames)) / rate if rate else None
    note = (f"The file says {rate} frames per second.",) if rate else ()
    return assemble(path, Found(frames=pieces, times=times, unit="counts", notes=note), given)


def _library(module: str, name: str, path: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(name, path) from error


def _missing(name: str, path: Path) -> MissingExtraError:
    return MissingExtraError(
        f"{path} is read with {name}, which is not installed: pip install nefty[formats]; "
        "or export the recording to TIFF, CSV or HDF5."
    )


def _ends(*suffixes: str) -> Any:
    return lambda head, path: bool(head) and path.suffix.lower() in suffixes


FORMATS = (
    Format("a FLIR .ats", (".ats",), lambda head, path: head.startswith(b"FLIR ATS-US File"), read_ats),
    Format("a FLIR .sfmov", (".sfmov",), _ends(".sfmov"), read_sfmov),
    Format("a FLIR .seq", (".seq",), _ends(".seq"), read_seq),
    Format("a FLIR .fff", (".fff",), _ends(".fff"), read_fff),
    Format("an edevis file", (".di", ".otvis", ".itvispulse"), _ends(".di", ".otvis", ".itvispulse"), read_edevis),
)
