"""The heat equation's residual, the same for every variant:  r = dT/dt - alpha lap(T) - grad(alpha) . grad(T)."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from nefty.pinn.networks import Jet
from nefty.pinn.points import Points

BOX = (2.0, 2.0, 2.0)  # edge lengths of the box of coordinates from -1 to 1


class Field(Protocol):
    """A diffusivity that can be asked anywhere, such as a ``nefty.fields.neural.NeuralField``."""

    def at(self, points: Any, size: Any = None) -> Tensor:
        """Diffusivity (n,) at points (n, 3) of a box with edges ``size``; differentiable in the points."""
        ...


class Diffusivity(NamedTuple):
    """alpha and its gradient by the coordinates u in [-1, 1], where the points lie.

    Args:
        alpha: of the shape of the places.
        gradient: d alpha/du along z, y, x, (3, ...).
    """

    alpha: Tensor
    gradient: Tensor


def diffusivity(field: Field, points: Points) -> Diffusivity:
    """alpha and its gradient at the places of points, differentiable in the field's parameters."""
    place = points.place.detach().requires_grad_()
    with torch.enable_grad():
        alpha = field.at(place + 1, BOX)
        (gradient,) = torch.autograd.grad(alpha.sum(), place, create_graph=True)
    shape = points.place_shape
    return Diffusivity(alpha.view(shape), gradient.T.reshape(3, *shape))


def residual(jet: Jet, found: Diffusivity, weights: Tensor, scale: float) -> Tensor:
    """t_end/(A scale) [dT/dt - div(alpha grad T)], of the shape of the points.

    Args:
        jet: of T/A, whose Laplacian has the same weights.
        found: the diffusivity.
        weights: c_d = (2/L_d)^2 t_end alpha_d/alpha_z along z, y, x, (3,): from coordinates to lengths and times.
        scale: what counts as 1.
    """
    slopes = sum(c * a * t for c, a, t in zip(weights, found.gradient, jet.gradient, strict=True))
    return (2 * jet.time - found.alpha * jet.laplacian - slopes) / scale
