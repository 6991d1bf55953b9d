"""What a recording is: frames, times, and what is known about the part and the flash."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

Excitation = GaussianFlash | UniformFlash | TopHatPulse | np.ndarray


@dataclass(frozen=True, eq=False)
class Sequence:
    """A recording of a part that cools after a flash.

    Args:
        frames: temperature rise above ambient, (t, y, x); for ``observe="both"`` (2, t, y, x), the front first.
            NaN marks values that are missing.
        times: of the frames, counted from the flash, increasing; those before 0 show the part before it.
        size: edge lengths (z, y, x) of the part that the frames show, in the unit of the diffusivity.
        excitation: the flash or pulse, or the temperature (z, y, x) at t = 0.
        boundary: the sides of the part.
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        face_mean: of the model.
        observe: which faces were seen, ``"front"``, ``"back"`` or ``"both"``.
        mask: pixels (y, x) that count; all if not given.
        noise: standard deviation of a value; estimated from the frames if not given.
        truth: the diffusivity (z, y, x), where known.
        meta: whatever else is known, as plain values: source, simulator, specimen, units.
    """

    frames: np.ndarray
    times: np.ndarray
    size: tuple[float, float, float] | None = None
    excitation: Excitation | None = None
    boundary: Boundary = field(default_factory=Boundary)
    anisotropy: tuple[float, float] = (1.0, 1.0)
    face_mean: str = "harmonic"
    observe: str = "front"
    mask: np.ndarray | None = None
    noise: float | None = None
    truth: np.ndarray | None = None
    meta: dict[str, Any] = field(default_factory=dict)
