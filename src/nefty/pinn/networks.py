"""The temperature as a network, with the derivatives that the heat equation needs, exact and cheap.

``jet`` returns value, time derivative, gradient and the weighted Laplacian at once: the network carries them forward
through its layers (as in the forward Laplacian of Li et al. 2024), six numbers per unit instead of nested automatic
differentiation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from nefty.core.checks import count
from nefty.pinn.features import AxisFeatures
from nefty.pinn.points import Points, Scattered
from nefty.pinn.taylor import SPACE, TanhJet


class Jet(NamedTuple):
    """A temperature and its derivatives by the coordinates u in [-1, 1], each of the shape of the points.

    Args:
        value: T.
        time: dT/du_t.
        gradient: dT/du along z, y, x, (3, ...).
        laplacian: sum_d c_d d^2T/du_d^2, with the weights that were given.
    """

    value: Tensor
    time: Tensor
    gradient: Tensor
    laplacian: Tensor


class Temperature(Protocol):
    """What every network of the temperature can do."""

    @property
    def shared(self) -> list[nn.Parameter]:
        """The last layer that all losses share before the output: what GradNorm measures gradients at."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """All that learns."""
        ...

    def __call__(self, points: Points) -> Tensor:
        """T, of the shape of the points."""
        ...

    def jet(self, points: Points, weights: Tensor) -> Jet:
        """T and its derivatives, with the weights c (3,) of the Laplacian."""
        ...


class TemperatureNetwork(nn.Module):
    """T(t, z, y, x): a fully connected tanh network on the features of the axes. Glorot-normal weights, zero biases.

    Args:
        features: of t, z, y, x.
        depth: hidden layers.
        width: units in each.
        generator: what the weights are drawn from.
        dtype: of everything.
    """

    def __init__(
        self,
        features: Sequence[AxisFeatures],
        *,
        depth: int = 5,
        width: int = 128,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.features = tuple(features)
        sizes = [sum(f.size for f in self.features)] + [count("width", width)] * count("depth", depth)
        self.hidden = nn.ModuleList(dense(i, o, generator, dtype) for i, o in pairwise(sizes))
        self.output = dense(width, 1, generator, dtype)

    @property
    def shared(self) -> list[nn.Parameter]:
        """The last layer that all losses share before the output: what GradNorm measures gradients at."""
        return [self.hidden[-1].weight]  # pyright: ignore[reportReturnType]

    def forward(self, points: Points) -> Tensor:
        """T at scattered points, (n,)."""
        u = _scattered(points).u
        h = torch.cat([f(u[:, a]) for a, f in enumerate(self.features)], dim=1)
        for layer in self.hidden:
            h = torch.tanh(layer(h))
        return self.output(h).squeeze(1)

    def jet(self, points: Points, weights: Tensor) -> Jet:
        """T and its derivatives at scattered points.

        Args:
            points: n of them.
            weights: c of the Laplacian, (3,).
        """
        h = self._features(_scattered(points).u, weights)
        for layer in self.hidden:
            h = TanhJet.apply(h @ layer.weight.T, layer.bias, weights)  # pyright: ignore[reportOperatorIssue, reportAssignmentType]
        out = (h @ self.output.weight.T).squeeze(2)
        return Jet(out[0] + self.output.bias, out[1], out[SPACE], out[5])

    def _features(self, u: Tensor, weights: Tensor) -> Tensor:
        """Channels of the features, (6, n, size)."""
        size = sum(f.size for f in self.features)
        h = torch.zeros((6, len(u), size), dtype=u.dtype, device=u.device)
        first = 0
        for axis, features in enumerate(self.features):
            here = slice(first, first + features.size)
            value, slope, bend = features.jet(u[:, axis])
            h[0, :, here], h[1 + axis, :, here] = value, slope
            if axis > 0:
                h[5, :, here] = weights[axis - 1] * bend
            first += features.size
        return h


def dense(inputs: int, outputs: int, generator: torch.Generator | None, dtype: torch.dtype) -> nn.Linear:
    """A layer with Glorot-normal weights and zero biases, which draws from nothing but ``generator``."""
    layer: Any = nn.utils.skip_init(nn.Linear, inputs, outputs, dtype=dtype)
    nn.init.xavier_normal_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def _scattered(points: Points) -> Scattered:
    assert isinstance(points, Scattered), "a fully connected network takes scattered points"
    return points
