"""Recordings as HDF5 in pyThermoNDT's layout (github.com/voidsy-gmbh/pyThermoNDT), read and written.

| place | holds |
|---|---|
| ``Data/Tdata`` | frames (y, x, t): numbers, or counts that ``MetaData/LookUpTable`` turns into kelvin |
| ``MetaData/DomainValues`` | times (t,) |
| ``MetaData/ExcitationSignal`` | whether the lamp was on at each time (t,) |
| ``GroundTruth/DefectMask`` | 255 over a defect, else 0 (y, x) |
| ``GroundTruth/Diffusivity`` | the truth (z, y, x); ours |
| ``nefty`` | everything else that a ``Sequence`` knows; ours |

Our frames are written as they are, float32 or float64, without counts; those of the back as ``Data/TdataBack``.
"""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import creating, mark, put, put_array, refuse_other, take, take_array
from nefty.data.assemble import Found, assemble, restate
from nefty.data.facts import METRE, Facts, KnownDefects, Origin, Units
from nefty.data.facts_file import facts_of_meta, plain_facts, read_facts
from nefty.data.formats import Format
from nefty.data.given import Given
from nefty.data.portable import flash_or_pulse
from nefty.data.readers.hdf5_safety import held, opened_safely
from nefty.data.readers.pieces import Pieces, of_array
from nefty.data.readers.simulation_parameters import known_from, parameters
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import TopHatPulse

KIND = "recording"
SIGNATURE = b"\x89HDF\r\n\x1a\n"
UNITS = {
    "K": {"name": "kelvin", "quantity": "temperature", "symbol": "K"},
    "C": {"name": "celsius", "quantity": "temperature", "symbol": "°C"},
    "s": {"name": "second", "quantity": "time", "symbol": "s"},
    "1": {"name": "dimensionless", "quantity": "dimensionless", "symbol": "1"},
    "a. u.": {"name": "arbitrary", "quantity": "arbitrary", "symbol": "a. u."},
}


def write_recording(sequence: Sequence, path: str | os.PathLike[str]) -> Path:
    """Write a recording; what the file held stays until all of the new one is on the disk."""
    if Path(path).suffix.lower() not in (".h5", ".hdf5"):
        raise InputError(f"{os.fspath(path)} must end in .h5 or .hdf5, the format that recordings are saved in.")
    units, defects = sequence.facts.units, sequence.facts.defects
    with creating(path) as file:
        mark(file, KIND)
        faces = sequence.frames if sequence.observe == "both" else sequence.frames[None]
        for name, frames in zip(("Tdata", "TdataBack"), faces, strict=False):
            data = put_array(file.require_group("Data"), name, np.moveaxis(frames, 0, -1))
            data.attrs["Unit"] = _unit(units.temperature)
        about = file.create_group("MetaData")
        put_array(about, "DomainValues", sequence.times).attrs["Unit"] = _unit(units.time)
        put_array(about, "ExcitationSignal", _signal(sequence)).attrs["Unit"] = _unit("1")
        known = file.create_group("GroundTruth")
        if sequence.truth is not None:
            put_array(known, "Diffusivity", sequence.truth).attrs["AxisOrder"] = "z, y, x"
        if defects is not None and defects.mask is not None:
            over = np.where(defects.mask, 255, 0).astype(np.uint8)
            put_array(known, "DefectMask", over).attrs["Unit"] = _unit("1")
        put(file.create_group("nefty"), _extras(sequence))
    return Path(path)


def read_recording(path: str | os.PathLike[str], given: Given | None = None) -> Sequence:
    """Read a recording that nefty, pyThermoNDT or a program with the same layout wrote.

    Of a file without nefty's group the frames become a rise above ambient and the times count from the pulse, where
    ``ExcitationSignal`` or ``flash_frame`` tells when that was; ``facts.notes`` says what was done.
    """
    path, given = Path(path), given or Given()
    with opened_safely(path) as file:
        if "nefty_kind" in file.attrs:
            refuse_other(file, KIND)
        if held(file, "Data/Tdata") is None or held(file, "MetaData/DomainValues") is None:
            return _other_layout(path, file, given)
        if held(file, "nefty") is not None:
            return restate(path, Sequence(**_own(file)), given)
        return assemble(path, _foreign(path, file), given)


def pulsed(
    path: Path,
    frames: Pieces,
    *,
    times: np.ndarray | None,
    lookup: np.ndarray | None = None,
    signal: np.ndarray | None = None,
    defects: np.ndarray | None = None,
    table: Any = None,
    unit: str | None = None,
    notes: tuple[str, ...] = (),
) -> Found:
    """What the arrays of pyThermoNDT's layout say, wherever they stand.

    Args:
        path: of the file, for messages.
        frames: the values.
        times: of the frames, in seconds.
        lookup: temperature of each count, in kelvin.
        signal: above 0 at the times when the lamp was on.
        defects: above 0 at the pixels (y, x) over a defect.
        table: parameters of a simulation.
        unit: of the values.
        notes: what the reader did.
    """
    rows = parameters(table)
    known = {"boundary": Boundary(lateral="adiabatic"), **known_from(rows)} if times is not None else {}
    told = known.pop("onset", np.nan)
    facts = Facts(
        units=Units(length=METRE if times is not None else ""),
        defects=None if defects is None else KnownDefects(mask=defects > 0),
        origin=Origin(parameters={name: value for name, (value, _) in rows.items()}),
    )
    pulse = onset = None
    if times is not None:
        times = np.ravel(times).astype(np.float64)
        if frames.shape[:1] != times.shape:
            raise InputError(f"{path} has {frames.shape[0]} frames and {times.size} times; the last axis must be time.")
        on = np.ravel(signal) > 0 if signal is not None and np.size(signal) == times.size else np.zeros(0, bool)
        heated = np.flatnonzero(on)
        if heated.size:
            pulse = int(heated[0])
            onset = told if times[max(pulse - 1, 0)] <= told <= times[pulse] else float(times[pulse])
    return Found(
        frames=frames,
        times=times,
        unit=unit,
        lookup=None if lookup is None else np.ravel(lookup).astype(np.float64),
        pulse=pulse,
        onset=onset,
        exact=times is not None,
        known=known,
        facts=facts,
        notes=notes,
    )


def _extras(sequence: Sequence) -> dict[str, Any]:
    given = sequence.excitation
    if given is None or isinstance(given, np.ndarray):
        excitation: Any = given
    else:
        fields = {f.name: getattr(given, f.name) for f in dataclasses.fields(given)}
        excitation = {"kind": type(given).__name__, **fields}
        if isinstance(given, HeatingCurve):  # may be long
            excitation |= {"times": np.array(given.times), "values": np.array(given.values)}
    return {
        "size": sequence.size,
        "excitation": excitation,
        "boundary": dataclasses.asdict(sequence.boundary),
        "anisotropy": sequence.anisotropy,
        "face_mean": sequence.face_mean,
        "observe": sequence.observe,
        "mask": sequence.mask,
        "noise": sequence.noise,
        "facts": plain_facts(sequence.facts),
    }


def _own(file: h5py.File) -> dict[str, Any]:
    """Everything as it was saved."""
    values = take(file["nefty"])  # pyright: ignore[reportArgumentType]
    saved = values["excitation"]
    values["excitation"] = saved if saved is None or isinstance(saved, np.ndarray) else flash_or_pulse(saved)
    values["boundary"] = Boundary(**values["boundary"])
    values["facts"] = facts_of_meta(values.pop("meta")) if "meta" in values else read_facts(values["facts"])
    names = ("Data/Tdata", "Data/TdataBack") if values["observe"] == "both" else ("Data/Tdata",)
    faces = [of_array(_dataset(file, name), "yxt") for name in names]
    frames = np.empty((len(faces), *faces[0].shape), faces[0].dtype.newbyteorder("="))
    for place, face in zip(frames, faces, strict=True):
        for box, block in face:
            place[box] = block
    values["frames"] = frames if len(faces) > 1 else frames[0]
    values["times"] = _array(file, "MetaData/DomainValues")
    truth = "GroundTruth/Diffusivity"
    values["truth"] = None if held(file, truth) is None else _array(file, truth)
    return values


def _foreign(path: Path, file: h5py.File) -> Found:
    """What can be known of a file that nefty did not write."""
    data, times = _dataset(file, "Data/Tdata"), _array(file, "MetaData/DomainValues").astype(np.float64)
    if data.ndim != 3 or data.shape[-1:] != times.shape:
        raise InputError(
            f"{file.filename} has Data/Tdata of shape {data.shape} and times of shape {times.shape}; "
            "the last axis must be time."
        )
    if _symbol(held(file, "MetaData/DomainValues")) == "ms":
        times = times / 1000
    beside: dict[str, Any] = {
        name: None if held(file, place) is None else _array(file, place)
        for name, place in {
            "lookup": "MetaData/LookUpTable",
            "signal": "MetaData/ExcitationSignal",
            "defects": "GroundTruth/DefectMask",
        }.items()
    }
    unit = {"K": "K", "°C": "C"}.get(_symbol(data))
    about = held(file, "MetaData")
    table = None if about is None else about.attrs.get("SimulationParameter")
    return pulsed(path, of_array(data, "yxt"), times=times, table=table, unit=unit, **beside)


def _other_layout(path: Path, file: h5py.File, given: Given) -> Sequence:
    """An array of an HDF5 file in some layout; only if it is named."""
    inside = ", ".join(sorted(file)) or "nothing"
    if given.variable is None:
        raise InputError(
            f"{path} has no Data/Tdata and MetaData/DomainValues, only {inside}; recordings in HDF5 need "
            "pyThermoNDT's layout, or the name of the array with the frames, variable=..."
        )
    if held(file, given.variable) is None:
        raise InputError(f"{path} has no array {given.variable!r}, only {inside}; give variable=... as group/array.")
    axes = given.axes or "tyx"
    notes = () if given.axes else (f"The axes were taken in the order {axes}; give axes=... if that is wrong.",)
    frames = of_array(_dataset(file, given.variable), axes)
    return assemble(path, Found(frames=frames, notes=notes), given)


def _signal(sequence: Sequence) -> np.ndarray:
    """1 at the frames within a pulse, of a curve its value over the largest; a flash is over before its first frame."""
    pulse = sequence.excitation
    if isinstance(pulse, HeatingCurve):
        return pulse.history.rate(sequence.times) / max(pulse.history.rates)
    if not isinstance(pulse, TopHatPulse):
        return np.zeros(sequence.times.size)
    within = (sequence.times >= pulse.start) & (sequence.times < pulse.start + pulse.duration)
    return within.astype(np.float64)


def _array(file: h5py.File, name: str) -> np.ndarray:
    return take_array(_dataset(file, name))


def _dataset(file: h5py.File, name: str) -> h5py.Dataset:
    """An array that is still in the file."""
    item = held(file, name)
    if not isinstance(item, h5py.Dataset):
        raise InputError(f"{file.filename} holds no array at {name}.")
    if item.external or item.is_virtual:
        raise InputError(f"{file.filename} keeps {name} in another file; make a copy that holds all of it.")
    return item


def is_hdf5(head: bytes) -> bool:
    """Whether a file begins as HDF5 does, after a block of 0, 512, 1024 or 2048 bytes for others' use."""
    return any(head[start : start + 8] == SIGNATURE for start in (0, 512, 1024, 2048))


def _symbol(item: Any) -> str:
    """The symbol of an array's unit; empty if it has none."""
    try:
        return str(json.loads(item.attrs["Unit"])["symbol"])
    except (KeyError, TypeError, ValueError):
        return ""


def _unit(symbol: str | None) -> str:
    return json.dumps(UNITS.get(symbol or "a. u.", UNITS["a. u."]))


FORMATS = (
    Format(
        "a recording in HDF5",
        (".h5", ".hdf5"),
        lambda head, path: is_hdf5(head) and path.suffix.lower() != ".mat",
        read_recording,
    ),
)
