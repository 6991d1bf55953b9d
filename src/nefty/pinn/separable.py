"""SPINN: a temperature that is a sum of products of functions of one coordinate.

A few points along each axis stand for all their combinations: a million points of the heat equation cost a few networks
of some dozen points and some products of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nefty.core.checks import count
from nefty.pinn.features import AxisFeatures
from nefty.pinn.networks import Jet, dense
from nefty.pinn.points import Points, Product
from nefty.pinn.taylor import line_dense, line_product, line_tanh


class SeparableNetwork(nn.Module):
    """SPINN (Cho et al. 2023): T = sum_r f_r(t) g_r(z) h_r(y) k_r(x), one modified MLP of each axis.

    Args:
        features: of t, z, y, x.
        depth: layers of each axis' network.
        width: units in each.
        rank: number of products.
        generator: what the weights are drawn from.
        dtype: of everything.
    """

    def __init__(
        self,
        features: Sequence[AxisFeatures],
        *,
        depth: int = 4,
        width: int = 64,
        rank: int = 64,
        generator: torch.Generator | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.axes = nn.ModuleList(ModifiedMLP(f, depth, width, rank, generator, dtype) for f in features)

    @property
    def shared(self) -> list[nn.Parameter]:
        """The output layers of all axes, which all losses share."""
        return [axis.output.weight for axis in self.axes]  # pyright: ignore[reportReturnType, reportAttributeAccessIssue]

    def forward(self, points: Points) -> Tensor:
        """T at all combinations of the points of the axes, (t, z, y, x)."""
        points = _product(points)
        parts = [network(u) for network, u in zip(self.axes, points.axes, strict=True)]
        return _outer(parts).view(points.shape)

    def jet(self, points: Points, weights: Tensor) -> Jet:
        """T and its derivatives at all combinations of the points of the axes.

        Args:
            points: of the axes.
            weights: c of the Laplacian, (3,).
        """
        points = _product(points)
        (t, dt, _), *space = (network.jet(u) for network, u in zip(self.axes, points.axes, strict=True))  # pyright: ignore[reportCallIssue]
        value = [f for f, _, _ in space]
        gradient = [_outer([t, *(f[1] if a == b else f[0] for b, f in enumerate(space))]) for a in range(3)]
        (z, _, zz), (y, _, yy), (x, _, xx) = space
        across = weights[1] * _columns(yy, x) + weights[2] * _columns(y, xx)
        laplacian = _columns(t, weights[0] * zz) @ _columns(y, x).T + _columns(t, z) @ across.T
        shape = points.shape
        return Jet(
            _outer([t, *value]).view(shape),
            _outer([dt, *value]).view(shape),
            torch.stack(gradient).view(3, *shape),
            laplacian.view(shape),
        )


class ModifiedMLP(nn.Module):
    """f(u) of one axis, (n, rank): H <- (1 - Z) U + Z V with Z = tanh(dense(H)) and gates U, V = tanh(dense(features)).

    Args:
        features: of the axis.
        depth: layers.
        width: units in each.
        rank: outputs.
        generator: what the weights are drawn from.
        dtype: of everything.
    """

    def __init__(
        self,
        features: AxisFeatures,
        depth: int,
        width: int,
        rank: int,
        generator: torch.Generator | None,
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.features = features
        self.gates = nn.ModuleList(dense(features.size, width, generator, dtype) for _ in range(3))
        self.hidden = nn.ModuleList(dense(width, width, generator, dtype) for _ in range(count("depth", depth)))
        self.output = dense(width, count("rank", rank), generator, dtype)

    def forward(self, u: Tensor) -> Tensor:
        """(n, rank) of u (n,)."""
        features = self.features(u)
        one, other, h = (torch.tanh(gate(features)) for gate in self.gates)
        for layer in self.hidden:
            z = torch.tanh(layer(h))
            h = one + z * (other - one)
        return self.output(h)

    def jet(self, u: Tensor) -> Tensor:
        """f, f' and f'', (3, n, rank), of u (n,)."""
        features = torch.stack(self.features.jet(u))
        one, other, h = (line_tanh(line_dense(gate, features)) for gate in self.gates)
        for layer in self.hidden:
            h = one + line_product(line_tanh(line_dense(layer, h)), other - one)
        return line_dense(self.output, h)


def _columns(first: Tensor, second: Tensor) -> Tensor:
    """Products (n m, rank) of two axes."""
    return (first[:, None] * second).flatten(0, 1)


def _outer(parts: Sequence[Tensor]) -> Tensor:
    """sum_r of the products of four axes, (t z, y x)."""
    t, z, y, x = parts
    return _columns(t, z) @ _columns(y, x).T


def _product(points: Points) -> Product:
    assert isinstance(points, Product), "a separable network takes points along the axes"
    return points
