"""A network that begins with a volume."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from nefty.core.errors import InputError
from nefty.fields.heads import Head, LinearBox, LogBox, LogHead, SigmoidHead
from nefty.fields.neural import NeuralField
from nefty.inversion.lbfgs import ProjectedLBFGS

MEMORY = 30  # pairs of the quasi-Newton steps, as in the stages


def fit_network(field: NeuralField, values: np.ndarray, iterations: int) -> None:
    """Fit a network to values of its head, the heat equation aside.

    What the head returns lies a share s = sigmoid(f) of the way between its ends. The cross entropy between s and the
    share that is wanted is minimised: its derivative by f is their difference, which does not fade where the sigmoid is
    flat, as that of squares does.

    Args:
        field: whose weights are changed.
        values: what its head is to return, (z, y, x); beyond its ends, the ends.
        iterations: quasi-Newton steps at most.
    """
    head = field.head
    if not isinstance(head, SigmoidHead | LogHead):
        raise InputError(f"a network with {head} cannot begin with a volume; set field.head to sigmoid or log.")
    wanted = torch.sigmoid(head.inverse(within(values, head))).to(field.along_z.dtype)
    parameters = list(field.parameters())

    def evaluate(x: Tensor) -> tuple[float, Tensor]:
        vector_to_parameters(x.clone(), parameters)
        for parameter in parameters:
            parameter.grad = None
        loss = binary_cross_entropy_with_logits(field.values(), wanted, reduction="sum")
        loss.backward()
        return float(loss.detach()), parameters_to_vector([_gradient(p) for p in parameters])

    optimiser = ProjectedLBFGS(parameters_to_vector(parameters).detach(), memory=MEMORY)
    for _ in range(iterations):
        optimiser.step(evaluate)
        if optimiser.stuck:
            break
    vector_to_parameters(optimiser.x.clone(), parameters)


def within(values: np.ndarray, head: Head) -> np.ndarray:
    """Values, moved to where the head can return them."""
    if not isinstance(head, LinearBox | LogBox | SigmoidHead | LogHead):
        return values
    inside = 0.0 if isinstance(head, LinearBox | LogBox) else 1e-3  # a sigmoid reaches its ends nowhere
    return np.clip(values, head.low * (1 + inside), head.high * (1 - inside))


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
