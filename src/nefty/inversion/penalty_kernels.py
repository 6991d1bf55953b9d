"""Penalties with their derivatives in one compiled pass each, on the CPU; ``penalties`` says what they are.

The value is summed in float64, column by column, so that it does not depend on how the loops are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

_COMPILED = {"fastmath": {"contract"}, "cache": True, "nogil": True, "error_model": "numpy"}


def variation(
    values: Tensor,
    spacing: tuple[float, float, float],
    smoothing: float,
    *,
    periodic: bool,
    sound_back: bool,
    gains: np.ndarray,
    depth_apart: float = 0.0,
) -> Tensor:
    """``TotalVariation.of``: dx dy dz sum gain(z) root, a float64 scalar, differentiable once.

    root = (1 - s) sqrt(z^2 + y^2 + x^2 + e^2) + s (sqrt(z^2 + e^2) + sqrt(y^2 + x^2 + e^2)) of the slopes.

    Args:
        values: a, (z, y, x).
        spacing: dz, dy, dx.
        smoothing: e.
        periodic: whether differences wrap around along y and x.
        sound_back: whether a is 0 beyond the back.
        gains: of each layer, (z,).
        depth_apart: s.
    """
    kind = values.detach().numpy().dtype
    steps = np.array([1 / d for d in spacing]).astype(kind)
    choice = (steps, kind.type(smoothing**2), periodic, sound_back, kind.type(depth_apart))
    return _Penalty.apply(values, _variation, float(np.prod(spacing)), (*choice, gains.astype(kind)))  # pyright: ignore[reportReturnType]


def double_well(alpha: Tensor, background: np.ndarray, cell: float) -> Tensor:
    """``VoidWell``: cell sum max(u (1 - u), 0), u = 1 - alpha/background(z), a float64 scalar, differentiable once."""
    inverse = (1 / background).astype(alpha.detach().numpy().dtype)
    return _Penalty.apply(alpha, _double_well, cell, (inverse,))  # pyright: ignore[reportReturnType]


class _Penalty(torch.autograd.Function):
    """``factor`` times what a kernel(values, out, ...) returns, with its derivative in ``out``."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, kernel: Any, factor: float, choice: tuple) -> Tensor:
        gradient = torch.zeros(values.shape, dtype=values.dtype)
        total = kernel(values.detach().contiguous().numpy(), gradient.numpy(), *choice)
        ctx.factor = factor
        ctx.save_for_backward(gradient)
        return torch.tensor(factor * total, dtype=torch.float64)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (gradient,) = ctx.saved_tensors
        return gradient * (ctx.factor * float(grad_outputs[0])), None, None, None


@njit(**_COMPILED)
def _variation(a, out, steps, least, periodic, sound_back, apart, gains):
    """Rows are visited in order; each adds to itself, to the next row and to the row below."""
    nz, ny, nx = a.shape
    rz, ry, rx = steps[0], steps[1], steps[2]
    together = a.dtype.type(1) - apart
    z, y, x = np.empty(nx, a.dtype), np.empty(nx, a.dtype), np.empty(nx, a.dtype)
    columns = np.zeros(nx)
    for k in range(nz):
        gain = gains[k]
        deepest = k == nz - 1
        below = k if deepest else k + 1
        for j in range(ny):
            behind = j + 1 if j < ny - 1 else (0 if periodic else j)
            if deepest and sound_back:
                for i in range(nx):
                    z[i] = -a[k, j, i] * rz
            else:
                for i in range(nx):
                    z[i] = (a[below, j, i] - a[k, j, i]) * rz
            for i in range(nx):
                y[i] = (a[k, behind, i] - a[k, j, i]) * ry
            for i in range(nx - 1):
                x[i] = (a[k, j, i + 1] - a[k, j, i]) * rx
            x[nx - 1] = (a[k, j, 0] - a[k, j, nx - 1]) * rx if periodic else a.dtype.type(0)
            if apart == 0:
                for i in range(nx):
                    root = np.sqrt(z[i] * z[i] + y[i] * y[i] + x[i] * x[i] + least)
                    columns[i] += np.float64(gain * root)
                    share = gain / root
                    z[i], y[i], x[i] = z[i] * share * rz, y[i] * share * ry, x[i] * share * rx
            else:
                for i in range(nx):
                    along, across = z[i] * z[i], y[i] * y[i] + x[i] * x[i]
                    root = np.sqrt(along + across + least)
                    deep, wide = np.sqrt(along + least), np.sqrt(across + least)
                    columns[i] += np.float64(gain * (together * root + apart * (deep + wide)))
                    share = gain * together / root
                    down, side = share + gain * apart / deep, share + gain * apart / wide
                    z[i], y[i], x[i] = z[i] * down * rz, y[i] * side * ry, x[i] * side * rx
            for i in range(nx):
                out[k, j, i] -= z[i] + y[i] + x[i]
            if not deepest:
                for i in range(nx):
                    out[below, j, i] += z[i]
            elif not sound_back:  # the difference is 0
                for i in range(nx):
                    out[k, j, i] += z[i]
            for i in range(nx):
                out[k, behind, i] += y[i]
            for i in range(nx - 1):
                out[k, j, i + 1] += x[i]
            out[k, j, 0 if periodic else nx - 1] += x[nx - 1]
    return columns.sum()


@njit(**_COMPILED)
def _double_well(alpha, out, inverse):
    nz, ny, nx = alpha.shape
    one, nought = alpha.dtype.type(1), alpha.dtype.type(0)
    columns = np.zeros(nx)
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                ratio = alpha[k, j, i] * inverse[k]
                height = (one - ratio) * ratio
                inside = height > nought
                columns[i] += np.float64(height if inside else nought)
                out[k, j, i] = (one - ratio - ratio) * inverse[k] if inside else nought
    return columns.sum()
