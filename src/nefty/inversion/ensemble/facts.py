"""A recording as another user would have described it: facts that are off by as much as users are."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np
from scipy.special import ndtri

from nefty.data.sequence import Sequence
from nefty.inversion.ensemble.settings import EnsembleSettings
from nefty.physics.pulses import TopHatPulse

FARTHEST = 2.5  # standard deviations
STREAM = 616  # seeds of facts
EARLIEST = 0.1  # of the time of the first frame, that it keeps


@dataclass(frozen=True)
class OtherFacts:
    """By what the facts of a member differ from those stated, as factors.

    Args:
        thickness: of the part.
        diffusivity: of the material.
        ratio: of the diffusivities along the part, where they are not 1.
        pulse: of its duration.
        losses: of both faces.
        penalties: of their weight, which is no fact but as little known.
        start: frames by which the heat came sooner.
    """

    thickness: float = 1.0
    diffusivity: float = 1.0
    ratio: float = 1.0
    pulse: float = 1.0
    losses: float = 1.0
    penalties: float = 1.0
    start: float = 0.0

    @staticmethod
    def drawn(seed: int, number: int, widths: EnsembleSettings) -> OtherFacts:
        """Those of a member: normal in the logarithms, cut at 2.5 standard deviations; the start is even.

        Members are spread evenly over what facts may be, so that eight of them scatter like a thousand.

        Args:
            seed: of the recipe.
            number: of the member, from 0.
            widths: of the facts.
        """
        scales = (
            log1p(widths.thickness),
            log1p(widths.diffusivity),
            widths.ratio,
            log1p(widths.pulse),
            log1p(widths.losses),
            log1p(widths.penalties),
        )
        *even, last = spread_evenly(seed, number, len(scales) + 1).tolist()
        off = np.clip(ndtri(even), -FARTHEST, FARTHEST)
        return OtherFacts(*np.exp(off * scales).tolist(), start=widths.start * (2 * last - 1))

    def told(self, sequence: Sequence) -> Sequence:
        """The recording with these facts. Facts of recordings that are not in metres are definitions, and stay."""
        if not sequence.facts.units.in_metres or sequence.size is None:
            return sequence
        z, y, x = sequence.size
        shift = self.start * float(np.diff(sequence.times).min()) if len(sequence.times) > 1 else 0.0
        shift = max(shift, (EARLIEST - 1) * float(sequence.times[0]))
        boundary, pulse, material = sequence.boundary, sequence.excitation, sequence.facts.material
        losses = {f"h_{face}": self.losses * getattr(boundary, f"h_{face}") for face in ("front", "back")}
        changed: dict[str, Any] = {
            "size": (self.thickness * z, y, x),
            "times": sequence.times + shift,
            "boundary": dataclasses.replace(boundary, **losses),
            "anisotropy": tuple(1.0 if ratio == 1 else self.ratio * ratio for ratio in sequence.anisotropy),
            "truth": None,
        }
        if isinstance(pulse, TopHatPulse):
            changed["excitation"] = dataclasses.replace(pulse, duration=self.pulse * pulse.duration)
        if material is not None:
            along = {f"alpha_{axis}": self.diffusivity * getattr(material, f"alpha_{axis}") for axis in "zyx"}
            changed["facts"] = sequence.facts.replaced(material=material.model_copy(update=along))
        return dataclasses.replace(sequence, **changed)


def spread_evenly(seed: int, number: int, dimensions: int) -> np.ndarray:
    """The point of that number, from 0, of a sequence that fills the unit cube evenly, (dimensions,).

    u_n = frac(shift + n (1/g, 1/g^2, ...)), g^(d + 1) = g + 1 (Roberts' sequence), shifted at random by the seed.
    """
    g = 1.5
    for _ in range(50):
        g = (1 + g) ** (1 / (dimensions + 1))
    shift = np.random.default_rng([seed, STREAM]).random(dimensions)
    return (shift + (number + 1) * g ** -np.arange(1.0, dimensions + 1)) % 1
