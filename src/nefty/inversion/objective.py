"""What is minimised: the misfit of the frames, and the penalties on the volume."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from nefty.inversion.observation import Observation
from nefty.inversion.penalties import anomaly, total_variation, void_well
from nefty.inversion.recipe import TotalVariation
from nefty.physics.heat_model import HeatModel

EARLY_FALL = 2.0  # psi = (t_first/t)^2: how deviations of what lies above the first clear depth die out


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
        sparse: of the anomaly as a whole.
    """

    tv: float
    voids: float = 0.0
    sparse: float = 0.0


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
        self._stiffness = seen.unit / seen.gain_spread**2 if seen.gain_spread else None
        self._early_stiffness = seen.unit / seen.early_spread**2 if seen.early_spread else None
        self._early = torch.zeros(len(seen.times), 1, 1, dtype=torch.float64)  # psi
        if self._early_stiffness is not None:
            self._early = torch.from_numpy((seen.times[0] / seen.times) ** EARLY_FALL)[:, None, None]
        self.gain: Tensor | None = None  # g of the last evaluation, (1, y, x)
        self.factor: Tensor | None = None  # g + e psi of it, (t, y, x)
        self.set_background(background)

    def discount(self, share: np.ndarray) -> None:
        """Let values count less from now on.

        Args:
            share: of its weight that each keeps, broadcast to the frames.
        """
        self._weights = torch.from_numpy(self.seen.weights * share)

    def set_background(self, background: np.ndarray | None) -> None:
        """Compare with another sound part from now on."""
        self._log_background = None if background is None else torch.from_numpy(np.log(background))[:, None, None]

    def __call__(self, field: Field) -> Terms:
        """Evaluate at the field's present unknowns; ``value.backward()`` gives their gradient."""
        alpha = field()
        data = self._misfit(self.model(alpha))
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
        if self.weights.sparse:
            assert self._log_background is not None  # the recipe sees to it
            ratio = torch.log(alpha) - self._log_background.to(alpha)
            value = value + self.weights.sparse * anomaly(ratio, grid, unit=thickness).double()
        return Terms(value, float(data.detach()), float(tv.detach()), float(voids.detach()))

    def _misfit(self, predicted: Tensor) -> Tensor:
        """D of predicted frames p, on the graph; of pixels with unknown gain g and early deviation e its minimum:

        sum w ((g + e psi) p - m)^2 + s_g sum (g - 1)^2 + s_e sum e^2,   s = unit/spread^2,

        a linear problem of two unknowns for each pixel. At the minimum the derivatives by g and e vanish, so that they
        are constants for the gradient.
        """
        if self._stiffness is None:
            return (self._weights * (predicted - self._measured).double().square()).sum()
        with torch.no_grad():
            p = predicted.double()
            weighted = self._weights * p
            gg = (weighted * p).sum(-3, keepdim=True) + self._stiffness
            g = (weighted * self._measured).sum(-3, keepdim=True) + self._stiffness
            e: Tensor | float = 0.0
            prior: Tensor | float = 0.0
            if self._early_stiffness is not None:
                ge, ee = ((weighted * p * self._early**k).sum(-3, keepdim=True) for k in (1, 2))
                ee = ee + self._early_stiffness
                right = (weighted * self._measured * self._early).sum(-3, keepdim=True)
                determinant = gg * ee - ge**2
                g, e = (g * ee - right * ge) / determinant, (right * gg - g * ge) / determinant
                prior = self._early_stiffness * e.square().sum()
            else:
                g = g / gg
            prior = prior + self._stiffness * (g - 1).square().sum()
            self.gain, self.factor = g, g + e * self._early
        return (self._weights * (self.factor * predicted - self._measured).double().square()).sum() + prior
