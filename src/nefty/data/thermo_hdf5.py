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
from nefty.core.hdf5 import creating, mark, opened, put, put_array, refuse_other, take, take_array
from nefty.data.sequence import Excitation, Sequence
from nefty.data.simulation_parameters import known_from, parameters
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

KIND = "recording"
EXCITATIONS = {kind.__name__: kind for kind in (GaussianFlash, UniformFlash, TopHatPulse)}
UNITS = {
    "K": {"name": "kelvin", "quantity": "temperature", "symbol": "K"},
    "s": {"name": "second", "quantity": "time", "symbol": "s"},
    "1": {"name": "dimensionless", "quantity": "dimensionless", "symbol": "1"},
    "a. u.": {"name": "arbitrary", "quantity": "arbitrary", "symbol": "a. u."},
}


def write_recording(sequence: Sequence, path: str | os.PathLike[str]) -> Path:
    """Write a recording; what the file held stays until all of the new one is on the disk."""
    if Path(path).suffix.lower() not in (".h5", ".hdf5"):
        raise InputError(f"{os.fspath(path)} must end in .h5 or .hdf5, the format that recordings are saved in.")
    units = sequence.meta.get("units") or {}
    with creating(path) as file:
        mark(file, KIND)
        faces = sequence.frames if sequence.observe == "both" else sequence.frames[None]
        for name, frames in zip(("Tdata", "TdataBack"), faces, strict=False):
            data = put_array(file.require_group("Data"), name, np.moveaxis(frames, 0, -1))
            data.attrs["Unit"] = _unit(units.get("temperature"))
        about = file.create_group("MetaData")
        put_array(about, "DomainValues", sequence.times).attrs["Unit"] = _unit(units.get("time"))
        put_array(about, "ExcitationSignal", _signal(sequence)).attrs["Unit"] = _unit("1")
        known = file.create_group("GroundTruth")
        if sequence.truth is not None:
            put_array(known, "Diffusivity", sequence.truth).attrs["AxisOrder"] = "z, y, x"
        if "defect_mask" in sequence.meta:
            over = np.where(np.asarray(sequence.meta["defect_mask"]) > 0, 255, 0).astype(np.uint8)
            put_array(known, "DefectMask", over).attrs["Unit"] = _unit("1")
        put(file.create_group("nefty"), _extras(sequence))
    return Path(path)


def read_recording(path: str | os.PathLike[str]) -> Sequence:
    """Read a recording that nefty, pyThermoNDT or a program with the same layout wrote.

    Of a file without nefty's group the frames become a rise above ambient and the times count from the pulse, where
    ``ExcitationSignal`` tells when that was; ``meta["notes"]`` says what was done.
    """
    with opened(path) as file:
        if "nefty_kind" in file.attrs:
            refuse_other(file, KIND)
        if "Data/Tdata" not in file or "MetaData/DomainValues" not in file:
            inside = ", ".join(sorted(file)) or "nothing"
            raise InputError(
                f"{os.fspath(path)} has no Data/Tdata and MetaData/DomainValues, only {inside}; "
                "recordings in HDF5 need pyThermoNDT's layout."
            )
        return Sequence(**(_own(file) if "nefty" in file else _foreign(file)))


def _extras(sequence: Sequence) -> dict[str, Any]:
    given = sequence.excitation
    if given is None or isinstance(given, np.ndarray):
        excitation: Any = given
    else:
        fields = {f.name: getattr(given, f.name) for f in dataclasses.fields(given)}
        excitation = {"kind": type(given).__name__, **fields}
    return {
        "size": sequence.size,
        "excitation": excitation,
        "boundary": dataclasses.asdict(sequence.boundary),
        "anisotropy": sequence.anisotropy,
        "face_mean": sequence.face_mean,
        "observe": sequence.observe,
        "mask": sequence.mask,
        "noise": sequence.noise,
        "meta": sequence.meta,
    }


def _own(file: h5py.File) -> dict[str, Any]:
    """Everything as it was saved."""
    values = take(file["nefty"])  # pyright: ignore[reportArgumentType]
    values["excitation"] = _excitation(values["excitation"])
    values["boundary"] = Boundary(**values["boundary"])
    names = ("Data/Tdata", "Data/TdataBack") if values["observe"] == "both" else ("Data/Tdata",)
    faces = [np.moveaxis(_array(file, name), -1, 0) for name in names]
    values["frames"] = np.stack(faces) if len(faces) > 1 else faces[0]
    values["times"] = _array(file, "MetaData/DomainValues")
    values["truth"] = _array(file, "GroundTruth/Diffusivity") if "GroundTruth/Diffusivity" in file else None
    return values


def _foreign(file: h5py.File) -> dict[str, Any]:
    """What can be known of a file that nefty did not write."""
    data, times = _array(file, "Data/Tdata"), _array(file, "MetaData/DomainValues").astype(np.float64)
    if data.ndim != 3 or data.shape[-1:] != times.shape:
        raise InputError(
            f"{file.filename} has Data/Tdata of shape {data.shape} and times of shape {times.shape}; "
            "the last axis must be time."
        )
    if _symbol(file["MetaData/DomainValues"]) == "ms":
        times = times / 1000
    table = parameters(file["MetaData"].attrs.get("SimulationParameter"))
    known, pulse = known_from(table), 0  # pulse: the first frame that it heats
    meta: dict[str, Any] = {"source": Path(file.filename).name}
    meta["units"] = {"length": "m", "time": "s", "temperature": "K"}
    if table:
        meta["simulation"] = {name: value for name, (value, _) in table.items()}
    if "GroundTruth/DefectMask" in file:
        meta["defect_mask"] = _array(file, "GroundTruth/DefectMask") > 0
    signal = _array(file, "MetaData/ExcitationSignal") if "MetaData/ExcitationSignal" in file else np.zeros(0)
    told = known.pop("onset", np.nan)
    if signal.shape == times.shape and (signal > 0).any():
        pulse = int(np.flatnonzero(signal > 0)[0])
        onset = told if times[max(pulse - 1, 0)] <= told <= times[pulse] else times[pulse]
        times = times - onset
        counted = f"Times count from the start of the pulse, {onset:g} s in the file."
    else:
        counted = "Times count as in the file, which does not say when the pulse began."
    frames, subtracted = _rise(file, data, pulse)
    meta["notes"] = [subtracted, counted]
    return {"frames": frames, "times": times, "boundary": Boundary(lateral="adiabatic"), "meta": meta, **known}


def _rise(file: h5py.File, data: np.ndarray, before: int) -> tuple[np.ndarray, str]:
    """Rise above ambient (t, y, x), which is the median of the frames before the pulse, and what was done in words."""
    data = np.ascontiguousarray(np.moveaxis(data, -1, 0))
    if data.dtype.kind in "iu" and "MetaData/LookUpTable" in file:
        table = _array(file, "MetaData/LookUpTable").astype(np.float64).ravel()
        if data.min() < 0 or data.max() >= table.size:
            raise InputError(
                f"{file.filename} has counts up to {data.max()}, its LookUpTable only {table.size} entries."
            )
        ambient = _median(table[data[:before]])
        frames, unit = (table - ambient).astype(np.float32)[data], "K"
    else:
        frames = data.astype(np.float64 if data.dtype == np.float64 else np.float32)
        before = before if np.isfinite(frames[:before]).any() else 0
        ambient = _median(frames[:before])
        frames, unit = (
            frames - frames.dtype.type(ambient),
            "counts" if data.dtype.kind in "iu" else "of the file's unit",
        )
    if not before:
        return frames, "No frame lies before the pulse, so ambient is not known: temperatures are as in the file."
    return frames, f"Ambient, {ambient:g} {unit}, the median of {before} frames before the pulse, was subtracted."


def _median(values: np.ndarray) -> float:
    """Median of the numbers that are not missing; 0 if there are none."""
    here = values[np.isfinite(values)]
    return float(np.median(here)) if here.size else 0.0


def _excitation(saved: Any) -> Excitation | None:
    if saved is None or isinstance(saved, np.ndarray):
        return saved
    fields: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in saved.items()}
    return EXCITATIONS[fields.pop("kind")](**fields)


def _signal(sequence: Sequence) -> np.ndarray:
    """1 at the frames within a pulse; a flash is over before its first frame."""
    pulse = sequence.excitation
    if not isinstance(pulse, TopHatPulse):
        return np.zeros(sequence.times.size)
    within = (sequence.times >= pulse.start) & (sequence.times < pulse.start + pulse.duration)
    return within.astype(np.float64)


def _array(file: h5py.File, name: str) -> np.ndarray:
    item = file[name]
    if not isinstance(item, h5py.Dataset):
        raise InputError(f"{file.filename} holds no array at {name}.")
    return take_array(item)


def _symbol(item: Any) -> str:
    """The symbol of an array's unit; empty if it has none."""
    try:
        return str(json.loads(item.attrs["Unit"])["symbol"])
    except (KeyError, TypeError, ValueError):
        return ""


def _unit(symbol: str | None) -> str:
    return json.dumps(UNITS.get(symbol or "a. u.", UNITS["a. u."]))
