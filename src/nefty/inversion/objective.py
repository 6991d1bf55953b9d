"""What is minimised: the misfit of the frames, and the penalties on the volume."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from nefty.fields.voxel import VoxelField
from nefty.inversion.misfit_kernel import weighted_squares
from nefty.inversion.observation import Observation
from nefty.inversion.penalties import Trial, WeightedPenalty
from nefty.physics.heat_model import HeatModel


class Field(Protocol):
    """What the unknown must be able to do: return the diffusivity (z, y, x), on the graph."""

    def __call__(self) -> Tensor:
        """Diffusivity, (z, y, x)."""
        ...


class Terms(NamedTuple):
    """The parts of the objective; ``value`` is on the graph, ``penalties`` are without their weights."""

    value: Tensor
    data: float
    penalties: dict[str, float]


class Objective:
    """J = D + sum_k w_k P_k, with D = sum of weights (model - measured)^2 and penalties P_k on the volume.

    Args:
        model: diffusivity to frames.
        seen: the recording and the weights of its values.
        background: diffusivity of the background, (z,); ``None`` for penalties on the volume itself.
        penalties: P_k and w_k, which a stage may change; those of weight 0 are left out.
        share: of its weight that each value keeps, broadcast to the frames.
    """

    def __init__(
        self,
        model: HeatModel,
        seen: Observation,
        background: np.ndarray | None,
        penalties: Sequence[WeightedPenalty] = (),
        *,
        share: np.ndarray | float = 1.0,
    ) -> None:
        self.model, self.seen, self.penalties = model, seen, penalties
        self._measured = torch.from_numpy(seen.frames).to(model.dtype)
        self._weights = torch.from_numpy(seen.weights * share)
        self._stiffness = seen.unit / seen.gain_spread**2 if seen.gain_spread else None
        self._early_stiffness = seen.unit / seen.early_spread**2 if seen.early_spread else None
        self._early = torch.zeros(len(seen.times), 1, 1, dtype=torch.float64)  # psi
        if self._early_stiffness is not None:
            self._early = torch.from_numpy((seen.times[0] / seen.times) ** seen.early_fall)[:, None, None]
        self.gain: Tensor | None = None  # g of the last evaluation, (1, y, x)
        self.factor: Tensor | None = None  # g + e psi of it, (t, y, x)
        self._log_background = None if background is None else torch.from_numpy(np.log(background))[:, None, None]

    def __call__(self, field: Field) -> Terms:
        """Evaluate at the field's present unknowns; ``value.backward()`` gives their gradient."""
        alpha, trial = self._judged(field)
        data = self._misfit(self.model(alpha))
        value, found = data, {}
        for penalty, weight in self.penalties:
            found[penalty.name] = 0.0
            if weight:
                term = penalty(trial).double()
                value = value + weight * term
                found[penalty.name] = float(term.detach())
        return Terms(value, float(data.detach()), found)

    def springs(self, field: Field) -> tuple[Tensor, Tensor, Tensor]:
        """The quadratic form of log alpha that touches the convex penalties at the field's present unknowns from above.

        Returns:
            anchors (z, y, x), faces (3, z, y, x) and layers (z - 1,); see ``penalties.Springs``.
        """
        with torch.no_grad():
            alpha, trial = self._judged(field)
        anchors, faces = torch.zeros_like(alpha), alpha.new_zeros((3, *alpha.shape))
        layers = alpha.new_zeros(len(alpha) - 1)
        for penalty, weight in self.penalties:
            if weight and (found := penalty.springs(trial)) is not None:
                anchors += 0.0 if found.anchors is None else weight * found.anchors
                faces += 0.0 if found.faces is None else weight * found.faces
                layers += 0.0 if found.layers is None else weight * found.layers
        return anchors, faces, layers

    def _judged(self, field: Field) -> tuple[Tensor, Trial]:
        """The diffusivity, and what the penalties judge: the same, but that free layers of the background are held,
        since all but one of the penalties depend on the ratio to it alone.
        """
        grid, lateral = self.model.grid, self.model.boundary.lateral
        if not isinstance(field, VoxelField) or field.layers is None:
            alpha = field()
            return alpha, Trial(alpha, grid, lateral, self._log_background)
        ratio, background = field.ratio(), field.present_background
        assert background is not None
        held = background.detach()
        return background * ratio, Trial(held * ratio, grid, lateral, held.double().log(), background.log().ravel())

    def _misfit(self, predicted: Tensor) -> Tensor:
        """D of predicted frames p, on the graph; of pixels with unknown gain g and early deviation e its minimum:

        sum w ((g + e psi) p - m)^2 + s_g sum (g - 1)^2 + s_e sum e^2,   s = unit/spread^2,

        a linear problem of two unknowns for each pixel. At the minimum the derivatives by g and e vanish, so that they
        are constants for the gradient. psi = (t_first/t)^p.
        """
        if self._stiffness is None:
            if predicted.device.type == "cpu":
                return weighted_squares(predicted, self._measured, self._weights)
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
