"""The variants by name: which network the temperature is, and how losses become a gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nefty.pinn.balance import Balance, FixedWeights
from nefty.pinn.causal import Causal
from nefty.pinn.dcgd import DualCone
from nefty.pinn.features import axis_features
from nefty.pinn.gradnorm import GradNorm
from nefty.pinn.networks import Temperature, TemperatureNetwork
from nefty.pinn.problem import Problem
from nefty.pinn.separable import SeparableNetwork
from nefty.pinn.settings import Settings


def build_temperature(settings: Settings, problem: Problem, generator: torch.Generator) -> Temperature:
    """T_phi of a variant: separable for SPINN, else fully connected."""
    choice, dtype = settings.temperature, problem.times.dtype
    features = axis_features(problem.lateral, hard=choice.hard, harmonics=choice.harmonics, cooling=choice.cooling)
    if settings.variant == "spinn":
        return SeparableNetwork(
            features, depth=choice.depth, width=choice.width, rank=choice.rank, generator=generator, dtype=dtype
        )
    return TemperatureNetwork(features, depth=choice.depth, width=choice.width, generator=generator, dtype=dtype)


def build_balance(settings: Settings, temperature: Temperature, parameters: Sequence[Tensor]) -> Balance:
    """The step of a variant.

    Args:
        settings: which one.
        temperature: its network.
        parameters: all that learn.
    """
    if settings.variant == "gradnorm":
        return GradNorm(settings.weights, temperature.shared, settings.gradnorm)
    if settings.variant == "causal":
        return Causal(settings.weights, settings.causal)
    if settings.variant == "dcgd":
        return DualCone(settings.weights, parameters, settings.rule)
    return FixedWeights(settings.weights)
