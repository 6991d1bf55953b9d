"""GradNorm (Chen et al. 2018): weights of the losses that keep their gradients at one size and their pace alike."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nefty.pinn.losses import Losses
from nefty.pinn.settings import GradNorm as Choice
from nefty.pinn.settings import Weights

SMALLEST_WEIGHT = 1e-3  # of a weight: none vanishes or turns negative
TINY = 1e-30


class GradNorm:
    """With G_i = w_i |grad_W L_i| at the last shared layer W of the temperature, and r_i the loss's remaining share
    L_i/L_i(0) over the mean of all, the weights descend on

        L_grad = sum_i |G_i - mean(G) r_i^a|,   the target held constant,

    are kept positive and rescaled to the sum N. A loss that lags (r_i > 1) gets more weight. L_grad is a function of
    the weights only: the networks never see it.

    Args:
        weights: fixed factors on the losses, before the adaptive ones.
        shared: W.
        choice: exponent a and learning rate of the weights.
    """

    finished = None

    def __init__(self, weights: Weights, shared: Sequence[Tensor], choice: Choice) -> None:
        self.weights, self.shared, self.exponent, self.rate = weights, shared, choice.exponent, choice.rate
        self.w = torch.empty(0)
        self._first = torch.empty(0)
        self._adam: torch.optim.Adam | None = None

    def backward(self, losses: Losses, share: float) -> dict[str, float]:
        """Gradient of sum_i w_i L_i with the present weights held constant; then one step of the weights."""
        scaled = {name: getattr(self.weights, name) * loss for name, loss in losses.named().items()}
        values = list(scaled.values())
        if self._adam is None:
            self._begin(_detached(values))
        norms = torch.stack([self._norm(loss) for loss in values])
        total = sum((w * loss for w, loss in zip(self.w.tolist(), values, strict=True)), start=torch.zeros(()))
        (total + self.weights.tv * losses.tv).backward()
        used = {f"weight_{name}": w for name, w in zip(scaled, self.w.tolist(), strict=True)}
        self._step(norms, _detached(values))
        return used

    def imbalance(self, norms: Tensor, values: Tensor) -> Tensor:
        """L_grad of the present weights.

        Args:
            norms: |grad_W L_i|, constant.
            values: L_i, constant.
        """
        size = self.w * norms
        left = values / self._first.clamp(min=TINY)
        pace = left / left.mean().clamp(min=TINY)
        target = (size.mean() * pace**self.exponent).detach()
        return (size - target).abs().sum()

    def _begin(self, values: Tensor) -> None:
        """Equal weights, and the losses to compare later ones with."""
        self._first = values
        self.w = torch.ones(len(values), dtype=torch.float64, requires_grad=True)
        self._adam = torch.optim.Adam([self.w], lr=self.rate)

    def _step(self, norms: Tensor, values: Tensor) -> None:
        """Descend on L_grad, keep the weights positive and their sum at their number."""
        assert self._adam is not None
        (self.w.grad,) = torch.autograd.grad(self.imbalance(norms, values), self.w)
        self._adam.step()
        with torch.no_grad():
            self.w.clamp_(min=SMALLEST_WEIGHT)
            self.w.mul_(len(self.w) / self.w.sum())

    def _norm(self, loss: Tensor) -> Tensor:
        """|grad_W L|, constant."""
        parts = torch.autograd.grad(loss, self.shared, retain_graph=True)
        return torch.stack([part.double().square().sum() for part in parts]).sum().sqrt()


def _detached(values: Sequence[Tensor]) -> Tensor:
    return torch.stack([value.detach().double() for value in values])
