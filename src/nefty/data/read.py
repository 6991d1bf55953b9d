"""Recordings from files and folders, by their content and the ending of the name."""

from __future__ import annotations

import dataclasses
import os
import stat
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from nefty.core.errors import InputError, NeftyError
from nefty.core.progress import Progress, watched
from nefty.data.facts import Note, NoteKind
from nefty.data.formats import HEAD, Format, built_in, choose, plug_ins
from nefty.data.given import Given
from nefty.data.sequence import Sequence


def read(
    path: str | os.PathLike[str],
    *,
    fps: Any = None,
    times: Any = None,
    pixel: Any = None,
    thickness: Any = None,
    units: Any = None,
    flash_frame: Any = None,
    variable: Any = None,
    axes: Any = None,
    lookup: Any = None,
    calibration: Any = None,
    emissivity: Any = None,
    reflected: Any = None,
    atmosphere: Any = None,
    humidity: Any = None,
    distance: Any = None,
    absolute: Any = None,
    scratch: Any = None,
    progress: Progress | None = None,
    **unknown: Any,
) -> Sequence:
    """Read a recording as its file holds it: HDF5, NumPy, TIFF, MATLAB, FLIR and other cameras' files, folders.

    Nothing is prepared; ``nefty.load`` does that.

    docs/formats.md lists the formats, and what each of them lacks. ``facts.notes`` of the recording says what was done.

    Args:
        path: a file, or a folder of TIFF, PNG or CSV frames.
        fps: frames per second, where the file does not hold the times; instead of it
        times: of the frames, in seconds, one per frame.
        pixel: edge length of the patch that a pixel shows, or two of them, (y, x).
        thickness: of the part, in the same unit.
        units: of the values, ``"counts"``, ``"K"`` or ``"C"``; after ``lookup`` or ``calibration`` of their results.
        flash_frame: number, from 0, of the frame in which the flash falls. Times count from it, and the median of the
            frames before it is subtracted as ambient.
        variable: name of the array, where a file holds several, such as ``"SimResult.Tdata"``.
        axes: order of the array's axes, such as ``"yxt"``, where the file does not say.
        lookup: temperature of each count, the first of count 0.
        calibration: (slope, offset): the temperature is slope x count + offset.
        emissivity: of the part, above 0 and at most 1. This and the next four go before what a radiometric file says;
            other files do not hold the camera's constants, which are needed for it.
        reflected: temperature that the part reflects, in K.
        atmosphere: temperature of the air between part and camera, in K.
        humidity: relative humidity of the air, 0 to 1.
        distance: from the part to the camera, in m.
        absolute: keep temperatures as they are, instead of rises above ambient.
        scratch: a folder for the frames of a recording that is larger than the memory: they lie in a nameless file
            there, which vanishes with the recording. Files that nefty wrote are read into memory.
        progress: called with the name of a stage and the fraction of it that is done, 0 to 1.
        **unknown: refused, with the nearest known name.

    Raises:
        InputError: the file is damaged, or something that it lacks must be given.
        MissingExtraError: an optional library is needed for this format.
    """
    given = Given.of(
        {
            "fps": fps,
            "times": times,
            "pixel": pixel,
            "thickness": thickness,
            "units": units,
            "flash_frame": flash_frame,
            "variable": variable,
            "axes": axes,
            "lookup": lookup,
            "calibration": calibration,
            "emissivity": emissivity,
            "reflected": reflected,
            "atmosphere": atmosphere,
            "humidity": humidity,
            "distance": distance,
            "absolute": absolute,
            "scratch": scratch,
            **unknown,
        }
    )
    path = Path(path)
    head = _head(path)
    format = choose(head, path, built_in()) or choose(head, path, plug_ins()[0])
    if format is None:
        raise _unreadable(head, path)
    try:
        with watched(progress):
            return _as_named(path, format, format.read(path, given))
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
    except NeftyError:
        raise
    except PermissionError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; ask its owner or copy it.") from error
    except Exception as error:  # parsers raise anything on a damaged file
        reason = (str(error).splitlines() or [""])[0][:200]
        raise InputError(
            f"{path} is damaged or not {format.name} ({type(error).__name__}: {reason}); "
            "copy it again from where it was made."
        ) from error


def _as_named(path: Path, format: Format, found: Sequence) -> Sequence:
    """The recording, with a note if its content is not what the name says."""
    if not format.suffixes or path.suffix.lower() in format.suffixes:
        return found
    note = f"The file was read as {format.name}, by its content; its name ends in {path.suffix or 'nothing'}."
    return dataclasses.replace(found, facts=found.facts.noted(Note(NoteKind.FILE, note)))


def _head(path: Path) -> bytes:
    """The first bytes of a file, empty for a folder; refuses what is neither."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return b""
        if not stat.S_ISREG(mode):
            raise InputError(f"{path} is neither a file nor a folder; give a recording.")
        with open(path, "rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError:
        if path.is_symlink():
            raise InputError(
                f"{path} is a link to {path.readlink()}, which is not there; restore that file, or give another."
            ) from None
        raise InputError(f"there is no file {path}{_near(path)}; check the name and the folder.") from None
    except PermissionError as error:
        raise InputError(f"cannot read {path}: {error.strerror}; ask its owner or copy it.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r}: {error}; check the name and the folder.") from error
    if not head:
        raise InputError(f"{path} is empty; copy it again from where it was made, or give another file.")
    return head


def _unreadable(head: bytes, path: Path) -> InputError:
    broken = "".join(f" The plug-in {name!r} could not be loaded ({why})." for name, why in plug_ins()[1].items())
    if path.is_dir():
        return InputError(f"{path} is a folder without TIFF, PNG or CSV frames; give one file, {_supported()}.{broken}")
    suffix = path.suffix.lower()
    for format in (*built_in(), *plug_ins()[0]):
        if suffix in format.suffixes:
            return InputError(
                f"{path} is damaged or not {format.name}: it begins with {head[:8]!r}; "
                f"copy it again from where it was made.{broken}"
            )
    return InputError(
        f"{path} ends in {path.suffix or 'nothing'}, which nefty cannot read; it reads {_supported()}. "
        f"Other formats: nefty.Sequence(frames=..., times=...) of arrays, and its save(...).{broken}"
    )


def _suffixes(formats: tuple[Format, ...]) -> list[str]:
    return sorted({suffix for format in formats for suffix in format.suffixes})


def _supported() -> str:
    from nefty.data.readers.refused import FORMATS

    *most, last = [s for s in _suffixes((*built_in(), *plug_ins()[0])) if s not in _suffixes(FORMATS)]
    return f"{', '.join(most)} and {last}, and folders of frames"


def _near(path: Path) -> str:
    """The file in the same folder whose name is nearest."""
    known = _suffixes(built_in())
    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), 1000) if entry.suffix.lower() in known]
    except OSError:
        return f" (nor the folder {path.parent})" if not path.parent.exists() else ""
    near = get_close_matches(path.name, names, n=1)
    return f"; did you mean {near[0]}" if near else ""
