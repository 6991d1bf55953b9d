"""From what a file holds and what the user knows to a ``Sequence``; every step is said in its notes."""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.storage.files import cannot_write
from nefty.data import checks
from nefty.data.facts import Facts, Note, NoteKind, Origin, Source
from nefty.data.given import SCENE, Given, MissingTimesError
from nefty.data.radiometry import ZERO_CELSIUS, Radiometry
from nefty.data.readers.pieces import Pieces
from nefty.data.sequence import Sequence

UNKNOWN_FLASH = Note(
    NoteKind.FLASH, "Times count as in the file, which does not say when the pulse began.", assumed=True
)
UNKNOWN_AMBIENT = Note(
    NoteKind.AMBIENT,
    "No frame lies before the pulse, so ambient is not known: temperatures are as in the file.",
    assumed=True,
)
KEPT_AMBIENT = Note(NoteKind.AMBIENT, "Values are as in the file; ambient was not subtracted, as asked.")
ONLY_COUNTS = Note(
    NoteKind.VALUES,
    "Values are counts of the camera, not temperatures; give lookup=... or calibration=... for those.",
    assumed=True,
)
UNKNOWN_UNIT = Note(
    NoteKind.VALUES,
    'The file does not say the unit of its values; give units="K", "C" or "counts".',
    assumed=True,
)
WORDS = {"counts": "counts", "K": "K", "C": "degrees C", None: "of the file's unit"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What a file says of its recording; a reader fills in what it finds and calls ``assemble``.

    Args:
        frames: the values, still in the file.
        times: of the frames, in seconds, as the file counts them.
        unit: of the values, ``"counts"``, ``"K"`` or ``"C"``; whole numbers of unknown unit are taken for counts.
        lookup: temperature of each count, in ``unit``.
        radiometry: constants of the camera and the scene, from which temperatures in K follow; instead of ``lookup``.
        pulse: number, from 0, of the frame in which the flash falls, or of the first frame that a pulse heats.
        onset: when the pulse began, as the file counts time; the time of that frame if not given.
        exact: keep float64 instead of rounding to float32.
        known: further arguments of ``Sequence``.
        facts: what else the file says; of its origin only the parameters of a simulation.
        notes: what the reader did, in words.
    """

    frames: Pieces
    times: np.ndarray | None = None
    unit: str | None = None
    lookup: np.ndarray | None = None
    radiometry: Radiometry | None = None
    pulse: int | None = None
    onset: float | None = None
    exact: bool = False
    known: dict[str, Any] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    notes: tuple[str, ...] = ()


def assemble(path: str | os.PathLike[str], found: Found, given: Given) -> Sequence:
    """The recording, as a rise above ambient and with times from the flash where the flash is known.

    Raises:
        InputError: the file does not say when its frames were taken, and neither ``fps`` nor ``times`` was given.
    """
    _refuse_no_recording(path, found.frames)
    frames = found.frames.shape[0]
    times, notes = _times(path, found, given)
    pulse = found.pulse if given.flash_frame is None else given.flash_frame
    if pulse is not None and not 0 <= pulse < frames:
        raise InputError(f"{Path(path)}: flash_frame={pulse} is not one of the {frames} frames, 0 to {frames - 1}.")
    if pulse is None:
        counted = UNKNOWN_FLASH
    else:
        own = given.flash_frame is None and given.fps is None and given.times is None
        onset = found.onset if own and found.onset is not None else times[pulse]
        times = times - onset
        counted = Note(NoteKind.FLASH, f"Times count from the start of the pulse, {onset:g} s in the file.")
    found, scene = _seen(path, found, given)
    scale, unit, said = _scale(path, found, given)
    ambient, subtracted = (None, KEPT_AMBIENT) if given.absolute else _ambient(found.frames, scale, pulse or 0, unit)
    exact = found.exact and found.frames.dtype == np.float64
    room = _room(found.frames.shape, np.dtype(np.float64 if exact else np.float32), given.scratch)
    values = _collect(found.frames, scale, ambient, room)
    if ambient is not None and unit == "C":
        unit = "K"
    if not exact and found.frames.dtype.itemsize > 4 and given.lookup is None:
        said.append(Note(NoteKind.VALUES, f"Values were rounded from {found.frames.dtype.name} to float32."))
    known, more = _part(found, given)
    origin = Origin(
        source=Source.FILE,
        name=Path(path).name,
        flash_known=pulse is not None,
        flash_frame=pulse,
        ambient=ambient,
        parameters=found.facts.origin.parameters,
    )
    read = (Note(NoteKind.FILE, text) for text in found.notes)
    facts = found.facts.replaced(
        units=dataclasses.replace(found.facts.units, time="s", temperature=unit or ""), origin=origin, **more
    ).noted(subtracted, counted, *notes, *said, *scene, *_sized(found.known, given), *read)
    return Sequence(frames=values, times=times, **known, facts=facts)


def restate(path: str | os.PathLike[str], sequence: Sequence, given: Given) -> Sequence:
    """A whole recording, such as nefty writes, with the facts that the user gives instead of its own."""
    for name in ("lookup", "calibration", "variable", "axes", *SCENE):
        if getattr(given, name) is not None:
            raise InputError(f"{Path(path)} is a recording that nefty wrote: it needs no {name}; leave it out.")
    times, changed = sequence.times, {}
    notes: list[Note] = []
    if given.fps is not None:
        times = np.arange(sequence.shape[0]) / given.fps
        text = f"Times follow from fps={given.fps:.12g}, as given instead of the file's."
        notes.append(Note(NoteKind.TIMES, text))
    elif given.times is not None:
        times = checks.times(given.times, sequence.shape[0])
        notes.append(Note(NoteKind.TIMES, "Times were given instead of the file's."))
    if given.flash_frame is not None:
        if given.flash_frame >= sequence.shape[0]:
            raise InputError(f"{Path(path)}: flash_frame={given.flash_frame} is not one of {sequence.shape[0]} frames.")
        times = times - times[given.flash_frame]
        notes.append(Note(NoteKind.FLASH, f"Times count from frame {given.flash_frame}, as given."))
    if times is not sequence.times:
        changed["times"] = times
    size = _size(sequence.shape, given, sequence.size)
    if size != sequence.size:
        changed["size"] = size
        notes += _sized({"size": sequence.size} if sequence.size else {}, given)
    facts = sequence.facts
    if given.units is not None:
        facts = facts.replaced(units=dataclasses.replace(facts.units, temperature=given.units))
        notes.append(Note(NoteKind.VALUES, f"The values are in {WORDS[given.units]}, as given."))
    if not changed and not notes:
        return sequence
    return dataclasses.replace(sequence, **changed, facts=facts.noted(*notes))


def _refuse_no_recording(path: str | os.PathLike[str], frames: Pieces) -> None:
    if frames.dtype.kind not in "iuf":
        raise InputError(f"{Path(path)} holds {frames.dtype}, and a recording real numbers, such as uint16 or float32.")
    if 0 in frames.shape:
        raise InputError(f"{Path(path)} holds frames of shape {frames.shape} (t, y, x): there is nothing in it.")


def _times(path: str | os.PathLike[str], found: Found, given: Given) -> tuple[np.ndarray, list[Note]]:
    frames = found.frames.shape[0]
    instead = "" if found.times is None else " instead of the file's"
    if given.times is not None:
        if given.times.shape != (frames,) or given.times.dtype.kind not in "iuf":
            raise InputError(
                f"{Path(path)} has {frames} frames, and the times given the shape {given.times.shape}; "
                "give one number per frame."
            )
        return given.times.astype(np.float64), [Note(NoteKind.TIMES, f"Times were given{instead}.")]
    if given.fps is not None:
        text = f"Times follow from fps={given.fps:.12g}, as given{instead}."
        return np.arange(frames) / given.fps, [Note(NoteKind.TIMES, text)]
    if found.times is None:
        raise MissingTimesError(
            f"{Path(path)} does not say when its {frames} frames of {found.frames.shape[1]} x {found.frames.shape[2]} "
            "pixels were taken; give fps=... (frames per second), or times=... (in seconds, one per frame)."
        )
    times = np.asarray(found.times, dtype=np.float64)
    if times.shape != (frames,):
        raise InputError(f"{Path(path)} has {frames} frames and {times.size} times; give fps=... or times=...")
    return times, []


def _scale(
    path: str | os.PathLike[str], found: Found, given: Given
) -> tuple[Callable[[np.ndarray], np.ndarray] | None, str | None, list[Note]]:
    """How values become temperatures, their unit, and what to say of it."""
    whole = found.frames.dtype.kind in "iu"
    own = found.lookup if given.calibration is None and given.units != "counts" else None
    table = given.lookup if given.lookup is not None else own
    if table is not None and whole:

        def by_table(block: np.ndarray) -> np.ndarray:
            if block.size and (block.min() < 0 or block.max() >= table.size):
                raise InputError(
                    f"{Path(path)} has counts from {block.min()} to {block.max()}, "
                    f"its LookUpTable only {table.size} entries, the first for 0."
                )
            return table[block]

        if given.lookup is None:
            return by_table, given.units or found.unit or "K", []
        unit = given.units or "K"
        text = f"Counts became temperatures, taken as {unit}, by the lookup table that was given."
        return by_table, unit, [Note(NoteKind.CONVERSION, text)]
    if given.lookup is not None:
        raise InputError(f"{Path(path)} holds {found.frames.dtype}, no counts; a lookup table does not apply to it.")
    if given.calibration is not None:
        slope, offset = given.calibration
        unit = given.units or "K"
        text = f"Values became temperatures, taken as {unit}: {slope:g} x value + {offset:g}, as given."
        return (lambda block: slope * block.astype(np.float64) + offset), unit, [Note(NoteKind.CONVERSION, text)]
    unit = given.units or found.unit or ("counts" if whole else None)
    if unit is None:
        return None, None, [UNKNOWN_UNIT]
    said = [Note(NoteKind.VALUES, f"Values are in {WORDS[unit]}, as given.")] if given.units else []
    if unit == "counts":
        said.append(ONLY_COUNTS)
    return None, unit, said


def _ambient(
    frames: Pieces, scale: Callable[[np.ndarray], np.ndarray] | None, before: int, unit: str | None
) -> tuple[float | None, Note]:
    """Median of the frames before the flash, if there are any, and what to say of it."""
    values = frames.first(before) if before else np.zeros(0)
    values = scale(values) if scale is not None and before else values
    values = values[np.isfinite(values)]
    if not values.size:
        return None, UNKNOWN_AMBIENT
    ambient = float(np.median(values))
    said = f"Ambient, {ambient:g} {WORDS[unit]}, the median of {before} frames before the pulse, was subtracted."
    return ambient, Note(NoteKind.AMBIENT, said)


def _collect(
    frames: Pieces, scale: Callable[[np.ndarray], np.ndarray] | None, ambient: float | None, values: np.ndarray
) -> np.ndarray:
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows becomes infinite, and is refused as such
        for box, block in frames:
            block = block if scale is None else scale(block)
            values[box] = block if ambient is None else block.astype(np.float64) - ambient
    return values


def _room(shape: tuple[int, int, int], dtype: np.dtype, scratch: Path | None) -> np.ndarray:
    """Where the values go: memory, or a file without a name, which the system removes with the last use of it."""
    if scratch is None:
        return np.empty(shape, dtype)
    try:
        with tempfile.TemporaryFile(dir=scratch) as file:
            os.truncate(file.fileno(), math.prod(shape) * dtype.itemsize)
            return np.memmap(file, dtype, "r+", shape=shape)
    except OSError as error:
        raise cannot_write(scratch, error) from error


def _seen(path: str | os.PathLike[str], found: Found, given: Given) -> tuple[Found, list[Note]]:
    """What was found, with the temperatures that follow from the camera's constants and the scene."""
    said, radiometry = given.scene(), found.radiometry
    if radiometry is None:
        if said:
            raise InputError(
                f"{Path(path)} does not hold the constants of its camera, so that {next(iter(said))} cannot change its "
                "values; export it with that value from the camera's program, or give calibration=... or lookup=..."
            )
        return found, []
    scene = radiometry.scene.said(**said)
    facts = found.facts.replaced(scene=scene)
    if given.lookup is not None or given.calibration is not None or given.units == "counts":
        return dataclasses.replace(found, facts=facts), []
    table = dataclasses.replace(radiometry, scene=scene).temperatures()
    if given.units == "C":
        table = table - ZERO_CELSIUS
    who = f" ({' and '.join(said)} as given, instead of the file's)" if said else ", as the file says"
    text = f"Counts became temperatures by the camera's constants: {scene.words()}{who}."
    found = dataclasses.replace(found, lookup=table, unit=given.units or "K", facts=facts)
    return found, [Note(NoteKind.CONVERSION, text)]


def _part(found: Found, given: Given) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arguments of the ``Sequence`` with the size, if it is known, and what is known of it otherwise."""
    size = _size(found.frames.shape, given, found.known.get("size"))
    if size is not None:
        return {**found.known, "size": size}, {}
    return found.known, {name: getattr(given, name) for name in ("pixel", "thickness") if getattr(given, name)}


def _size(
    shape: tuple[int, int, int], given: Given, known: tuple[float, float, float] | None
) -> tuple[float, float, float] | None:
    thickness = given.thickness if given.thickness is not None else known[0] if known else None
    if given.pixel is not None:
        face = (given.pixel[0] * shape[1], given.pixel[1] * shape[2])
    else:
        face = known[1:] if known else None
    return None if thickness is None or face is None else (thickness, *face)


def _sized(known: dict[str, Any], given: Given) -> list[Note]:
    names = [name for name in ("pixel", "thickness") if getattr(given, name) is not None]
    if not names or not known.get("size"):
        return []
    return [Note(NoteKind.SIZE, f"{' and '.join(names)} as given, instead of the file's.")]
