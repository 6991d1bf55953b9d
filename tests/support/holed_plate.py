"""A small real part over a hole."""

from __future__ import annotations

import numpy as np

from nefty import Boundary, Grid, Sequence, TopHatPulse, simulate_explicit
from nefty.data.facts import Facts, Units
from nefty.physics.materials import Material

ALPHA = 1.3e-7
PART = Grid((12, 18, 18), (3e-3, 27e-3, 27e-3))
TIMES = np.geomspace(0.6, 60, 18)
HOLE = slice(6, 12)  # rows and columns; from 1 mm on


def part(noise: float) -> Sequence:
    """A plate with a hole, by the independent simulator; its diffusivity is not the one that is told."""
    alpha = np.full(PART.shape, ALPHA)
    alpha[4:, HOLE, HOLE] = 0.02 * ALPHA
    pulse = TopHatPulse(amplitude=1.5, duration=5e-3)
    frames = simulate_explicit(PART, alpha, TIMES, pulse, Boundary("adiabatic"), observe="surface", safety=1.5)
    told = Material(name="told", **dict.fromkeys(("alpha_z", "alpha_y", "alpha_x"), 1.1 * ALPHA))
    return Sequence(
        frames + noise * np.random.default_rng(2).standard_normal(frames.shape),
        TIMES,
        size=PART.size,
        excitation=TopHatPulse(duration=5e-3),
        boundary=Boundary("adiabatic"),
        noise=noise,
        facts=Facts(units=Units(length="m", time="s", temperature="K"), material=told),
    )
