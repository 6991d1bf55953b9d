"""What is minimised: the misfit of the frames, and the penalties on the volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from nefty.inversion.observation import Observation
from nefty.inversion.penalties import total_variation, void_well
from nefty.inversion.recipe import TotalVariation
from nefty.physics.heat_model import HeatModel


class Field(Protocol):
    """What the unknown must be able to do: return the diffusivity (z, y, x), on the graph."""

    def __call__(self) -> Tensor:
        """Diffusivity, (z, y, x)."""
        ...


@dataclass
class Weights:
    """How much the penalties count, which a stage may change.

    Args:
        tv: of the total variation.
        voids: of the double well.
    """

    tv: float
    voids: float = 0.0


class Terms(NamedTuple):
    """The parts of the objective; ``value`` is on the graph."""

    value: Tensor
    data: float
    tv: float
    voids: float


class Objective:
    """J = D + w_tv R + w_voids W, with D = sum of weights (model - measured)^2.

    Args:
        model: diffusivity to frames.
        seen: the recording and the weights of its values.
        variation: which total variation.
        background: diffusivity of the sound part, (z,); ``None`` for penalties on the volume itself.
        weights: of the penalties.
    """

    def __init__(
        self,
        model: HeatModel,
        seen: Observation,
        variation: TotalVariation,
        background: np.ndarray | None,
        weights: Weights,
    ) -> None:
        self.model, self.seen, self.variation, self.weights = model, seen, variation, weights
        self._measured = torch.from_numpy(seen.frames).to(model.dtype)
        self._weights = torch.from_numpy(seen.weights)
        self.set_background(background)

    def set_background(self, background: np.ndarray | None) -> None:
        """Compare with another sound part from now on."""
        self._log_background = None if background is None else torch.from_numpy(np.log(background))[:, None, None]

    def __call__(self, field: Field) -> Terms:
        """Evaluate at the field's present unknowns; ``value.backward()`` gives their gradient."""
        alpha = field()
        residual = self.model(alpha) - self._measured
        data = (self._weights * residual.double().square()).sum()
        grid, thickness = self.model.grid, self.model.grid.size[0]
        on = self.variation.on
        values = alpha if on == "alpha" else torch.log(alpha)
        if on == "log-ratio" and self._log_background is not None:
            values = values - self._log_background.to(values)
        tv = total_variation(
            values,
            grid,
            smoothing=self.variation.smoothing,
            lateral=self.model.boundary.lateral,
            back=self.variation.back,
            depth_gain=self.variation.depth_gain,
            unit=1.0 if on == "alpha" else thickness,
        ).double()
        value = data + self.weights.tv * tv
        voids = torch.zeros((), dtype=torch.float64)
        if self.weights.voids:
            assert self._log_background is not None  # the recipe sees to it
            ratio = torch.log(alpha) - self._log_background.to(alpha)
            voids = void_well(ratio, grid, unit=thickness).double()
            value = value + self.weights.voids * voids
        return Terms(value, float(data.detach()), float(tv.detach()), float(voids.detach()))
