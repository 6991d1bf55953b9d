"""One more row and column of pixels on every side, as the part goes on there."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

#: Where the value beyond the first and the last pixel is taken from, as positions of the enlarged image.
SOURCES = {"periodic": (-2, 1), "adiabatic": (1, -2)}


def padded(x: Tensor, lateral: str, *, depth: bool = False) -> Tensor:
    """(..., z, y, x) with one pixel more on each of the four sides, and layers of zeros at front and back if wanted.

    The same as ``torch.nn.functional.pad`` with ``"circular"`` or ``"replicate"``, whose derivative fills and copies
    the whole volume once per side: a fifth of the time of a training on a CPU. The layers of zeros are added here
    because convolutions without padding of their own have derivatives that are 1.6 times as fast.

    Args:
        x: (..., z, y, x).
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
        depth: whether z grows as well.
    """
    return _Padded.apply(x, *SOURCES[lateral], int(depth))  # pyright: ignore[reportReturnType]


class _Padded(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, before: int, after: int, layers: int) -> Tensor:
        ctx.sources, ctx.layers = (before, after), layers
        nz, ny, nx = x.shape[-3:]
        whole = x.new_empty((*x.shape[:-3], nz + 2 * layers, ny + 2, nx + 2))
        out = whole[..., layers : nz + layers, :, :]
        out[..., 1:-1, 1:-1] = x
        out[..., 0, 1:-1], out[..., -1, 1:-1] = out[..., before, 1:-1], out[..., after, 1:-1]
        out[..., 0], out[..., -1] = out[..., before], out[..., after]
        if layers:
            whole[..., 0, :, :] = whole[..., -1, :, :] = 0
        return whole

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (before, after), layers = ctx.sources, ctx.layers
        g = gradients[0]
        g = g[..., layers : g.shape[-3] - layers, :, :].clone()
        g[..., before] += g[..., 0]
        g[..., after] += g[..., -1]
        g[..., before, :] += g[..., 0, :]
        g[..., after, :] += g[..., -1, :]
        return g[..., 1:-1, 1:-1], None, None, None
