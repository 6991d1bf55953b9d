"""Causal training (Wang, Sankaran and Perdikaris 2024): a time counts once all earlier ones are solved.

Legal notice: this baseline is here for comparison in research. The authors state that the causal training algorithm is
patented, and their own code is for non-commercial use. Ours is written from the paper; nothing of theirs is copied.
"""

from __future__ import annotations

import torch
from torch import Tensor

from nefty.pinn.balance import weighted_sum
from nefty.pinn.losses import Losses
from nefty.pinn.settings import Causal as Choice
from nefty.pinn.settings import Weights


class Causal:
    """With Lt_i the mean squared residual of the i-th chunk of time and L0 = w_ic L_ic,

        W_i = exp(-eps (L0 + sum_{k<i} Lt_k)),   held constant,   loss = mean_i(W_i Lt_i) + L0 + all others,

    for one eps after the other: the next where all W exceed ``settled``, or where the stage's share of the run ends.

    Args:
        weights: of the losses; Lt_i is counted times that of the pde.
        choice: chunks and stages.
    """

    finished = None

    def __init__(self, weights: Weights, choice: Choice) -> None:
        self.weights, self.choice = weights, choice
        self.stage, self._iteration, self._began = 0, 0, 0.0

    def backward(self, losses: Losses, share: float) -> dict[str, float]:
        """Gradient of the causal loss."""
        chunks = self.weights.pde * chunk_means(losses.squared, self.choice.chunks)
        first = self.weights.ic * losses.ic
        causal = causal_weights(chunks, first, self.choice.steepness[self.stage])
        others = weighted_sum(losses, self.weights, without="pde")
        ((causal * chunks).mean() + others + self.weights.tv * losses.tv).backward()
        used = {"steepness": self.choice.steepness[self.stage], "least_weight": float(causal.min())}
        self._advance(float(causal.min()), share)
        return used

    def _advance(self, least: float, share: float) -> None:
        """Go on to the next stage if it is time."""
        self._iteration += 1
        stages = len(self.choice.steepness)
        if self.stage == stages - 1:
            return
        budget = (1 - self._began) / (stages - self.stage)  # what is left, in equal parts
        solved = self._iteration % self.choice.every == 0 and least > self.choice.settled
        if solved or share >= self._began + budget:
            self.stage, self._began = self.stage + 1, share


def chunk_means(squared: Tensor, chunks: int) -> Tensor:
    """Means of squared residuals in order of time, (t, ...), over chunks of time, so many if there are."""
    return torch.stack([part.mean() for part in squared.tensor_split(min(chunks, len(squared)))])


def causal_weights(chunks: Tensor, first: Tensor, steepness: float) -> Tensor:
    """W_i = exp(-eps (L0 + sum_{k<i} Lt_k)), constant.

    Args:
        chunks: Lt, in order of time.
        first: L0, of the initial temperature.
        steepness: eps.
    """
    chunks, first = chunks.detach(), first.detach()
    return torch.exp(-steepness * (first + torch.cumsum(chunks, 0) - chunks))
