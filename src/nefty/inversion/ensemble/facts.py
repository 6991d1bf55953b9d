"""A recording as another user would have described it: facts that are off by as much as users are."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import exp, log1p
from typing import Any

import numpy as np

from nefty.data.sequence import Sequence
from nefty.inversion.ensemble.settings import EnsembleSettings
from nefty.physics.pulses import TopHatPulse

FARTHEST = 2.5  # standard deviations
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
        start: frames by which the heat came sooner.
    """

    thickness: float = 1.0
    diffusivity: float = 1.0
    ratio: float = 1.0
    pulse: float = 1.0
    losses: float = 1.0
    start: float = 0.0

    @staticmethod
    def drawn(random: np.random.Generator, widths: EnsembleSettings) -> OtherFacts:
        """Normal in the logarithms, cut at 2.5 standard deviations; the start is even."""
        off = np.clip(random.standard_normal(5), -FARTHEST, FARTHEST)
        scales = (log1p(widths.thickness), log1p(widths.diffusivity), widths.ratio, log1p(widths.pulse))
        factors = [exp(scale * one) for scale, one in zip((*scales, log1p(widths.losses)), off.tolist(), strict=True)]
        return OtherFacts(*factors, start=widths.start * float(random.uniform(-1, 1)))

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
