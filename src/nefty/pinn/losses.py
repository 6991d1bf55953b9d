"""The losses of a soft-constrained inversion, the same for every variant."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nefty.pinn.networks import Temperature
from nefty.pinn.problem import Problem
from nefty.pinn.residual import Diffusivity, Field, diffusivity, residual
from nefty.pinn.sampler import Batch, Sides

SMOOTHING = 1e-3  # of the total variation, in its own unit
NAMES = ("data", "pde", "ic", "sides")


@dataclass(frozen=True, eq=False)
class Losses:
    """Mean squares, without dimension.

    Args:
        data: of measured minus T at the surface, ``None`` without frames. The diffusivity has no part in it.
        squared: residuals of the heat equation squared, of the shape of the collocation points, in order of time.
        ic: of T minus the flash at t = 0; nor in this.
        sides: of the conditions at the sides, ``None`` where features keep them; nor in this.
        tv: total variation of the diffusivity, see ``total_variation``.
    """

    data: Tensor | None
    squared: Tensor
    ic: Tensor
    sides: Tensor | None
    tv: Tensor

    @property
    def pde(self) -> Tensor:
        """Mean square of the residual."""
        return self.squared.mean()

    def named(self) -> dict[str, Tensor]:
        """Those that are there, by name: data, pde, ic, sides."""
        return {name: loss for name in NAMES if (loss := getattr(self, name)) is not None}


def losses(temperature: Temperature, field: Field, problem: Problem, batch: Batch, width: float) -> Losses:
    """All losses at the points of a batch.

    Args:
        temperature: T_phi.
        field: alpha_theta.
        problem: what is asked.
        batch: where.
        width: of the range of diffusivities, the unit of the total variation.
    """
    found = diffusivity(field, batch.collocation)
    jet = temperature.jet(batch.collocation, problem.weights)
    return Losses(
        data=None if batch.data is None else _mean_square(temperature(batch.data) - batch.frames, batch.counted),
        squared=residual(jet, found, problem.weights, problem.scale).square(),
        ic=_mean_square(temperature(batch.initial) - batch.flash),
        sides=_sides(temperature, problem, batch.sides) if batch.sides else None,
        tv=total_variation(found, problem, width),
    )


def total_variation(found: Diffusivity, problem: Problem, width: float) -> Tensor:
    """The paper's isotropic total variation, the integral of |grad alpha| over the part, estimated at the points.

    Its unit is the range of diffusivities times a cross-section: H/(V width) integral of |grad alpha|.

    Args:
        found: the diffusivity at uniform points.
        problem: with the part's size.
        width: of the range of diffusivities.
    """
    thickness = problem.grid.size[0]
    per_length = [2 * thickness / (size * width) for size in problem.grid.size]
    steepness = sum((g * c) ** 2 for g, c in zip(found.gradient, per_length, strict=True)) + SMOOTHING**2
    return torch.as_tensor(steepness).sqrt().mean()


def _mean_square(difference: Tensor, counted: Tensor | None = None) -> Tensor:
    if counted is None:
        return difference.square().mean()
    return torch.where(counted, difference, 0).square().sum() / counted.sum()


def _sides(temperature: Temperature, problem: Problem, sides: tuple[Sides, ...]) -> Tensor:
    """No slope at adiabatic sides; the same value and slope on periodic ones."""
    parts = []
    for axis, pair in enumerate(sides):
        low, high = (temperature.jet(points, problem.weights) for points in pair)
        if axis > 0 and problem.lateral == "periodic":
            parts += [low.value - high.value, low.gradient[axis] - high.gradient[axis]]
        else:
            parts += [low.gradient[axis], high.gradient[axis]]
    return torch.stack([part.square().mean() for part in parts]).sum()
