"""Flashes drawn from a seed, where those of a data set shall differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.physics.pulses import GaussianFlash
from nefty.synth.specimen import refuse_reversed

STREAM = 1000  # beside the seed, and none of those that draw_specimen uses


@dataclass(frozen=True)
class FlashRanges:
    """What is drawn of a ``GaussianFlash``, each uniformly between two values; by default nothing.

    Args:
        amplitude: rise of temperature at the surface.
        width: lateral standard deviation.
        depth: absorption depth.
        shift: most that the centre lies off the middle of the face, along y and along x.
    """

    amplitude: tuple[float, float] = (100.0, 100.0)
    width: tuple[float, float] = (2.5, 2.5)
    depth: tuple[float, float] = (0.2, 0.2)
    shift: float = 0.0

    def __post_init__(self) -> None:
        for name in ("amplitude", "width", "depth"):
            refuse_reversed(f"flash {name}", getattr(self, name))
        for name in ("width", "depth"):
            if getattr(self, name)[0] <= 0:
                raise InputError(f"flash {name}={getattr(self, name)!r} must be above 0.")
        number("flash shift", self.shift, at_least=0)

    def draw(self, seed: int, face: tuple[float, float]) -> GaussianFlash:
        """The flash of a seed on a face of edge lengths (y, x)."""
        random = np.random.default_rng([count("seed", seed, at_least=0), STREAM])
        amplitude, width, depth = (float(random.uniform(*r)) for r in (self.amplitude, self.width, self.depth))
        offsets = random.uniform(-self.shift, self.shift, size=2)
        centre = tuple(length / 2 + float(d) for length, d in zip(face, offsets, strict=True)) if self.shift else None
        return GaussianFlash(amplitude, width, depth, centre)  # pyright: ignore[reportArgumentType]
