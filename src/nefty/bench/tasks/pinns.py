"""Soft-constrained PINNs as rows of the benchmark."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nefty.bench.tasks.budget import Budget
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.pinn.reconstruct import reconstruct as by_pinn
from nefty.pinn.settings import settings
from nefty.result.reconstruction import Reconstruction

__all__ = ["reconstruct", "settings"]


def reconstruct(sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
    """The volume of a PINN; the faces of the part are taken as adiabatic, which is all that the networks know.

    Args:
        sequence: the recording.
        settings: as ``settings`` returns them.
        budget: of the training.
    """
    sides = sequence.boundary
    if (sides.front, sides.back) != ("adiabatic", "adiabatic"):
        sequence = dataclasses.replace(sequence, boundary=Boundary(lateral=sides.lateral))
    return by_pinn(sequence, settings, seconds=budget.seconds, iterations=budget.iterations)
