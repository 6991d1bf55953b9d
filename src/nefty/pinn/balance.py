"""How losses become one gradient: the step in which the variants differ."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from nefty.pinn.losses import Losses
from nefty.pinn.settings import Weights


class Balance(Protocol):
    """What every variant does once per iteration."""

    def backward(self, losses: Losses, share: float) -> dict[str, float]:
        """Put the gradient into ``.grad`` of the parameters.

        Args:
            losses: of the iteration.
            share: of the run that is over, 0 to 1.

        Returns:
            what the history keeps of it, such as weights.
        """
        ...

    @property
    def finished(self) -> str | None:
        """Why the variant itself wants to stop, in words."""
        ...


class FixedWeights:
    """The plain weighted sum; SPINN uses it.

    Args:
        weights: of the losses.
    """

    finished = None

    def __init__(self, weights: Weights) -> None:
        self.weights = weights

    def backward(self, losses: Losses, share: float) -> dict[str, float]:
        """Gradient of sum_i w_i L_i."""
        (weighted_sum(losses, self.weights) + self.weights.tv * losses.tv).backward()
        return {}


def weighted_sum(losses: Losses, weights: Weights, without: str = "") -> Tensor:
    """sum_i w_i L_i over the losses that are there, without one of them and without the total variation."""
    parts = [getattr(weights, name) * loss for name, loss in losses.named().items() if name != without]
    return torch.stack(parts).sum()
