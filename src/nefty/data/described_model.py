"""The heat model that a recording describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nefty.core.errors import InputError
from nefty.data.sequence import Sequence

if TYPE_CHECKING:
    from nefty.physics.heat_model import HeatModel


def described_model(sequence: Sequence, layers: int, *, face_mean: str | None = None, **choices: Any) -> HeatModel:
    """Its part, flash, sides and frames as a model.

    Args:
        sequence: frames after the flash.
        layers: cells along z.
        face_mean: in place of the one that the recording names.
        choices: of ``HeatModel``: ``integrator``, ``dtype``, ...
    """
    from nefty.physics.heat_model import HeatModel

    if sequence.excitation is None:
        raise InputError(
            "the recording does not say how the part was heated; give pulse=... to nefty.load or nefty.describe_part, "
            "or excitation=nefty.UniformFlash(...), GaussianFlash, TopHatPulse, HeatingCurve or the temperature after "
            "the flash."
        )
    return HeatModel(
        sequence.grid(layers),
        sequence.times,
        sequence.excitation,
        sequence.boundary,
        face_mean=face_mean or sequence.face_mean,
        anisotropy=sequence.anisotropy,
        observe=sequence.observe,
        **choices,
    )
