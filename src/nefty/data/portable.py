"""All of a ``Sequence`` but its frames and times, as plain values and arrays; for formats that hold only those two."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from nefty.core.errors import InputError
from nefty.core.storage.hdf5 import plain
from nefty.data.facts_file import arrays_apart, arrays_joined, facts_of_meta, plain_facts, read_facts
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

EXCITATIONS = {kind.__name__: kind for kind in (GaussianFlash, UniformFlash, TopHatPulse, HeatingCurve)}
FORMAT = 2
MARK = '{"nefty": '


def describe(sequence: Sequence) -> tuple[str, dict[str, np.ndarray]]:
    """JSON, which begins with ``MARK``, and arrays by name."""
    names = ("size", "anisotropy", "face_mean", "observe", "noise")
    values: dict[str, Any] = {"nefty": FORMAT, **{name: getattr(sequence, name) for name in names}}
    values["boundary"] = dataclasses.asdict(sequence.boundary)
    arrays = {name: getattr(sequence, name) for name in ("mask", "truth", "excitation")}
    if isinstance(values["noise"], np.ndarray):
        arrays["noise"] = values.pop("noise")
    given = sequence.excitation
    if given is not None and not isinstance(given, np.ndarray):
        fields = {f.name: getattr(given, f.name) for f in dataclasses.fields(given)}
        arrays["excitation"] = fields.pop("profile", None)
        values["excitation"] = {"kind": type(given).__name__, **fields}
    values["facts"], more = arrays_apart(plain_facts(sequence.facts), "facts")
    arrays |= more
    text = json.dumps(plain("recording", values))
    return text, {name: np.asarray(array) for name, array in arrays.items() if array is not None}


def restore(text: str, arrays: Mapping[str, np.ndarray], frames: np.ndarray, times: np.ndarray) -> Sequence:
    """The recording that ``describe`` was given."""
    try:
        values: dict[str, Any] = json.loads(text)
        version = values.pop("nefty")
        if version not in (1, FORMAT):
            raise InputError(f"the recording has format {version}, this nefty knows {FORMAT}; install a newer nefty.")
        values["boundary"] = Boundary(**values["boundary"])
        array = arrays.get("excitation")
        if "excitation" in values:
            profile = {} if array is None else {"profile": array}
            values["excitation"] = flash_or_pulse({**values["excitation"], **profile})
        else:
            values["excitation"] = array
        values |= {name: arrays[name] for name in ("mask", "truth", "noise") if name in arrays}
        if version == 1:
            values["facts"] = facts_of_meta(arrays_joined(values.pop("meta"), arrays, "meta"))
        else:
            values["facts"] = read_facts(arrays_joined(values["facts"], arrays, "facts"))
        return Sequence(frames=frames, times=times, **values)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"what the file says of its recording is damaged ({type(error).__name__}: {error})."
        ) from error


def flash_or_pulse(saved: Mapping[str, Any]) -> GaussianFlash | UniformFlash | TopHatPulse | HeatingCurve:
    """The excitation of which ``kind`` and fields were saved."""
    fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in saved.items()}
    return EXCITATIONS[fields.pop("kind")](**fields)


def encode(array: np.ndarray) -> dict[str, Any]:
    """An array of numbers, truth values or text as JSON."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    return {"dtype": array.dtype.str, "shape": array.shape, "data": base64.b64encode(array.tobytes()).decode()}


def decode(saved: Any) -> np.ndarray:
    """The array that ``encode`` was given."""
    try:
        kind, shape = str(saved["dtype"]), tuple(int(n) for n in saved["shape"])
        dtype, raw = np.dtype(kind), base64.b64decode(saved["data"], validate=True)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise InputError(f"an array in the description is damaged ({error}).") from error
    if dtype.kind not in "biufcU" or min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != len(raw):
        raise InputError(f"an array in the description, {kind} of shape {shape}, does not fit its {len(raw)} bytes.")
    return np.frombuffer(raw, dtype).reshape(shape).copy()
