"""Dual cone gradient descent (Hwang and Lim 2024): a step that increases neither the residual nor the other losses."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from nefty.core.checks import one_of
from nefty.pinn.balance import weighted_sum
from nefty.pinn.losses import Losses
from nefty.pinn.settings import Weights

OPPOSED = -1 + 1e-8  # cosine of two gradients between which no direction helps both
RULES = ("center", "projection", "average")


class DualCone:
    """Replaces the gradient g = g_r + g_b by one within the cone of directions that both agree with.

    g_r is the gradient of the residual's loss by all parameters, g_b that of all other losses.

    Args:
        weights: of the losses.
        parameters: all that learn.
        rule: ``"center"``, ``"projection"`` or ``"average"``.
    """

    def __init__(self, weights: Weights, parameters: Sequence[Tensor], rule: str) -> None:
        self.weights, self.parameters, self.rule = weights, list(parameters), one_of("rule", rule, RULES)
        self.finished: str | None = None

    def backward(self, losses: Losses, share: float) -> dict[str, float]:
        """Put the chosen direction into ``.grad`` of the parameters that learn now."""
        active = [parameter for parameter in self.parameters if parameter.requires_grad]
        residual = _gradient(self.weights.pde * losses.pde, active, retain=True)
        others = weighted_sum(losses, self.weights, without="pde") + self.weights.tv * losses.tv
        rest = _gradient(others, active, retain=False)
        cosine = float(torch.nn.functional.cosine_similarity(residual, rest, dim=0, eps=1e-30))
        if cosine < OPPOSED:
            self.finished = "the gradients of the residual and of the other losses are opposed: no step helps both"
        first, direction = 0, dual_cone_step(residual, rest, self.rule)
        for parameter in active:
            parameter.grad = direction[first : first + parameter.numel()].view_as(parameter).to(parameter.dtype)
            first += parameter.numel()
        return {"cosine": cosine}


def _gradient(loss: Tensor, parameters: Sequence[Tensor], *, retain: bool) -> Tensor:
    """By all parameters, one long vector, float64; 0 where the loss does not depend on one."""
    parts = torch.autograd.grad(loss, parameters, retain_graph=retain, allow_unused=True, materialize_grads=True)
    return torch.cat([part.double().flatten() for part in parts])


def dual_cone_step(residual: Tensor, rest: Tensor, rule: str) -> Tensor:
    """The direction whose inner products with both gradients are at least 0.

    Where one of them vanishes, both agree with any multiple of the other, and the sum is returned.

    Args:
        residual: g_r.
        rest: g_b.
        rule: ``"center"``: the part of g along the bisector c of the two, (|g_r| + |g_b|)/2 c with c the sum of their
            unit vectors. ``"projection"``: g itself if it lies in the cone, else the other gradient's part that is
            orthogonal to the one it hurts. ``"average"``: g itself if it lies in the cone, else the mean of the two
            projections.
    """
    total = residual + rest
    size_r, size_b = float(residual.norm()), float(rest.norm())
    if size_r == 0 or size_b == 0:
        return total
    if rule == "center":
        return (size_r + size_b) / 2 * (residual / size_r + rest / size_b)
    inner = float(residual @ rest)
    hurts_rest, hurts_residual = size_b**2 + inner < 0, size_r**2 + inner < 0
    if not (hurts_rest or hurts_residual):
        return total
    if rule == "average":
        return ((1 - inner / size_b**2) * rest + (1 - inner / size_r**2) * residual) / 2
    if hurts_rest:
        return residual - inner / size_b**2 * rest
    return rest - inner / size_r**2 * residual
