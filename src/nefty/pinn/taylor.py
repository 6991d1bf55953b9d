"""tanh and products of quantities that carry their derivatives with them, so that no derivative is taken afterwards."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

SPACE = slice(2, 5)  # channels of d/dz, d/dy, d/dx; 0 the value, 1 d/dt, 5 the Laplacian


class TanhJet(torch.autograd.Function):
    """tanh of a jet in channels (value, d/dt, d/dz, d/dy, d/dx, Laplacian), with its derivative for training.

    With the bias b of the value, a = tanh(v + b) and s = 1 - a^2:

        a_d = s v_d,   lap(a) = s lap(v) - 2 a s q,   q = sum_d c_d v_d^2 over z, y, x.
    """

    @staticmethod
    def forward(ctx: Any, v: Tensor, bias: Tensor, weights: Tensor) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Channels (6, n, width) of tanh, of channels v; weights c (3,)."""
        a = torch.tanh(v[0] + bias)
        s = 1 - a * a
        q = torch.einsum("dnw,d->nw", v[SPACE].square(), weights)
        out = v * s
        out[0] = a
        out[5].addcmul_(a * s, q, value=-2)
        ctx.save_for_backward(v, weights, a, s, q)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, Tensor, None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Gradient by v and the bias."""
        v, weights, a, s, q = ctx.saved_tensors
        bend = -2 * a * s  # ds/dv
        out = g * s
        out[0].addcmul_((g[1:] * v[1:]).sum(0), bend)
        out[0].addcmul_(g[5] * q, s * (1 - 3 * a * a), value=-2)
        out[SPACE].addcmul_(g[5] * bend, v[SPACE] * (2 * weights[:, None, None]))
        return out, out[0].sum(0), None


def line_tanh(v: Tensor) -> Tensor:
    """tanh in channels (value, first and second derivative by one coordinate), (3, ...):

    a = tanh(v),   a' = s v',   a'' = s (v'' - 2 a v'^2),   s = 1 - a^2.
    """
    a = torch.tanh(v[0])
    s = 1 - a * a
    return torch.stack([a, s * v[1], s * (v[2] - 2 * a * v[1] ** 2)])


def line_product(v: Tensor, w: Tensor) -> Tensor:
    """v w in the same channels: (v w)'' = v'' w + 2 v' w' + v w''."""
    return torch.stack([v[0] * w[0], v[1] * w[0] + v[0] * w[1], v[2] * w[0] + 2 * v[1] * w[1] + v[0] * w[2]])


def line_dense(layer: Any, v: Tensor) -> Tensor:
    """A linear layer on the same channels: the bias belongs to the value alone."""
    out = v @ layer.weight.T
    return torch.cat([out[:1] + layer.bias, out[1:]])
