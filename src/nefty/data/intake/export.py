"""The frames of a recording as a file for other programs: ``nefty inspect FILE --export out.npz``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nefty.core.errors import InputError
from nefty.core.progress import tell
from nefty.core.storage.files import writing_folder
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.data.intake.values import facts_given
from nefty.data.read import read
from nefty.data.sequence import Sequence

WRITE = "Write the frames"
SUFFIXES = (".npz", ".tif", ".tiff", ".csv")


@dataclass(frozen=True)
class Written:
    """What was exported.

    Args:
        path: the file, or the folder of CSV frames.
        words: how many frames of which size and unit.
    """

    path: Path
    words: str


def export_frames(file: Path, known: Known, path: Path, *, prepared: bool = False) -> Written:
    """Write the value of every pixel in every frame.

    Frames as they are in the file, with ambient, lie on the disk and not in memory while they are read and written;
    only files that nefty wrote are read into memory. Prepared frames are rises above ambient.

    Args:
        file: the recording.
        known: what the user said of it; for frames as they are, what a reader needs: rate, units, scene.
        path: ends in ``.npz`` or ``.tif``, files that ``nefty.read`` reads with all that is known; or in ``.csv``: then
            a folder of that name, without the ending, gets a file per frame.
        prepared: the frames as a reconstruction would use them.

    Raises:
        InputError: the ending is another one, or the file does not say when its frames were taken.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path} must end in .npz, .tif or .csv, the formats that frames are exported in.")
    if prepared:
        sequence = take_in(file, known).complete(only=("fps",))
    else:
        scratch = _folder(path)
        sequence = read(file, **facts_given(known), absolute=True, scratch=scratch)
    tell(WRITE, 0.0)
    target = write_csv(sequence, path.with_suffix("")) if suffix == ".csv" else sequence.save(path)
    tell(WRITE, 1.0)
    t, y, x = sequence.shape
    unit = sequence.facts.units.temperature or "the file's unit"
    rise = " above ambient" if prepared else ""
    count = "1 frame" if t == 1 else f"{t} frames"
    return Written(target, f"{count} of {y} x {x} pixels (rows x columns), in {unit}{rise}")


def write_csv(sequence: Sequence, folder: Path) -> Path:
    """Write a folder with a file per frame, which ``nefty.read`` reads: a line of heading, then rows of numbers.

    Numbers have nine digits, which tell every float32 from the next; NaN is a missing value.
    """
    frames = sequence.frames[0] if sequence.observe == "both" else sequence.frames
    unit = sequence.facts.units.temperature or "the file's unit"
    digits = len(str(len(frames) - 1))
    with writing_folder(folder) as inside:
        for i, (frame, time) in enumerate(zip(frames, sequence.times, strict=True)):
            tell(WRITE, i / len(frames))
            heading = f"frame {i}, {time:.9g} {sequence.facts.units.time or 's'}, values in {unit}"
            np.savetxt(inside / f"frame-{i:0{digits}d}.csv", frame, "%.9g", ",", header=heading)
    return folder


def _folder(path: Path) -> Path:
    """Where the frames may lie while they are written: beside the file."""
    try:
        os.makedirs(path.parent, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {path.parent}: {error.strerror or error}; choose another.") from error
    return path.parent
