"""The facts of a recording that decide a reconstruction, by names that a user knows.

``Sequence.digest`` is one hash of all of them; a run folder keeps them by name as well, so that it can say which one
is another.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nefty.core.storage.hdf5 import digest
from nefty.data.sequence import Sequence


def deciding_facts(sequence: Sequence) -> dict[str, Any]:
    """What is known of part, heating, sides and preparation, as plain values; lengths and times in its own units."""
    facts, size = sequence.facts, sequence.size
    pixels = sequence.shape[1:]
    return {
        "frames": list(sequence.frames.shape),
        "thickness": None if size is None else size[0],
        "pixel": None if size is None else [side / n for side, n in zip(size[1:], pixels, strict=True)],
        "material": None if facts.material is None else facts.material.name,
        "diffusivity": None if facts.material is None else facts.material.alpha_z,
        "ratios of diffusivity": list(sequence.anisotropy),
        "sides and losses": dataclasses.asdict(sequence.boundary),
        "heating": _heating(sequence),
        "observe": sequence.observe,
        "face_mean": sequence.face_mean,
        "in metres": facts.units.in_metres,
        "preparation": {step.name: dict(step.values) for step in facts.steps},
    }


CURVES = ("times", "values")  # of a heating curve, by their hash


def _heating(sequence: Sequence) -> Any:
    """The flash or pulse by its values; an array by its hash."""
    given = sequence.excitation
    if given is None or isinstance(given, np.ndarray):
        return None if given is None else digest(given)
    values = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    arrays = {
        name: digest(np.asarray(v)) for name, v in values.items() if isinstance(v, (np.ndarray, list)) or name in CURVES
    }
    return {"kind": type(given).__name__, **values, **arrays}
