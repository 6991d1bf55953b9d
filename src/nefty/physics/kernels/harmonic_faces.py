"""Conductances by the harmonic mean, their derivative and the bound of the spectrum, compiled: one pass each.

The same as ``physics.conductance``, which is the reference and serves all other cases. There each of about forty
operations of torch is a parallel loop over the cells: a tenth of a gradient in all, and far more where other programs
use the cores (docs/decisions/020-one-sweep.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from nefty.core.buffers import borrow
from nefty.core.grid import Grid
from nefty.physics.kernels.row_layout import COMPILED


def harmonic_faces(alpha: Tensor, grid: Grid, lateral: str, anisotropy: tuple[float, float]) -> Tensor:
    """``face_conductances`` for the harmonic mean on the CPU, differentiable once; arguments as there."""
    scale = tuple(r / d**2 for r, d in zip((1.0, *anisotropy), grid.spacing, strict=True))
    return _Faces.apply(alpha, np.array(scale), lateral == "periodic")  # pyright: ignore[reportReturnType]


def gershgorin(faces: Tensor, sinks: Tensor) -> float:
    """``spectral_bound`` on the CPU, for faces (3, z, y, x) and sinks (2, y, x)."""
    return float(_largest_row(faces.detach().contiguous().numpy(), sinks.detach().contiguous().numpy()))


class _Faces(torch.autograd.Function):
    """With m = s 2/(1/a + 1/b), dm/da = m^2/(2 s a^2)."""

    @staticmethod
    def forward(ctx: Any, alpha: Tensor, scale: np.ndarray, periodic: bool) -> Tensor:
        values = alpha.detach().contiguous()
        faces = torch.from_numpy(borrow((3, *alpha.shape), values.numpy().dtype))
        _means(values.numpy(), scale.astype(values.numpy().dtype), periodic, faces.numpy())
        ctx.scale = scale
        ctx.save_for_backward(values, faces)
        return faces

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        values, faces = ctx.saved_tensors
        gradient = torch.from_numpy(borrow(tuple(values.shape), values.numpy().dtype))
        inverse = (0.5 / ctx.scale).astype(values.numpy().dtype)
        _gather(values.numpy(), faces.numpy(), grad_outputs[0].contiguous().numpy(), inverse, gradient.numpy())
        return gradient, None, None


@njit(**COMPILED)
def _means(alpha, scale, periodic, out):
    nz, ny, nx = alpha.shape
    one = alpha.dtype.type(1)
    z, y, x = scale[0] + scale[0], scale[1] + scale[1], scale[2] + scale[2]
    for k in range(nz):
        for j in range(ny):
            if k == 0:
                out[0, k, j] = 0
            else:
                for i in range(nx):
                    out[0, k, j, i] = z / (one / alpha[k, j, i] + one / alpha[k - 1, j, i])
            before = j - 1 if j > 0 else ny - 1
            if ny == 1 or (j == 0 and not periodic):
                out[1, k, j] = 0
            else:
                for i in range(nx):
                    out[1, k, j, i] = y / (one / alpha[k, j, i] + one / alpha[k, before, i])
            for i in range(1, nx):
                out[2, k, j, i] = x / (one / alpha[k, j, i] + one / alpha[k, j, i - 1])
            if nx == 1 or not periodic:
                out[2, k, j, 0] = 0
            else:
                out[2, k, j, 0] = x / (one / alpha[k, j, 0] + one / alpha[k, j, nx - 1])


@njit(**COMPILED)
def _gather(alpha, faces, weights, inverse, out):
    """Sum over the six faces of a cell of weight m^2/(2 s), over alpha^2."""
    nz, ny, nx = alpha.shape
    z, y, x = inverse[0], inverse[1], inverse[2]
    for k in range(nz):
        below = k + 1 if k < nz - 1 else 0  # faces[0, 0] is 0
        for j in range(ny):
            behind = j + 1 if j < ny - 1 else 0
            for i in range(nx):
                out[k, j, i] = (
                    z * (weights[0, k, j, i] * faces[0, k, j, i] ** 2)
                    + z * (weights[0, below, j, i] * faces[0, below, j, i] ** 2)
                    + y * (weights[1, k, j, i] * faces[1, k, j, i] ** 2)
                    + y * (weights[1, k, behind, i] * faces[1, k, behind, i] ** 2)
                    + x * (weights[2, k, j, i] * faces[2, k, j, i] ** 2)
                )
            for i in range(nx - 1):
                out[k, j, i] += x * (weights[2, k, j, i + 1] * faces[2, k, j, i + 1] ** 2)
            out[k, j, nx - 1] += x * (weights[2, k, j, 0] * faces[2, k, j, 0] ** 2)
            for i in range(nx):
                out[k, j, i] /= alpha[k, j, i] ** 2


@njit(cache=True, nogil=True, error_model="numpy")
def _largest_row(faces, sinks):
    """max over cells of 2 sum g + sink; of each column first, which needs no assumption about infinity."""
    _, nz, ny, nx = faces.shape
    row, largest, infinite = np.empty(nx, faces.dtype), np.zeros(nx, faces.dtype), faces.dtype.type(np.inf)
    for k in range(nz):
        below = k + 1 if k < nz - 1 else 0
        for j in range(ny):
            behind = j + 1 if j < ny - 1 else 0
            for i in range(nx):
                row[i] = faces[0, k, j, i] + faces[0, below, j, i] + faces[1, k, j, i] + faces[1, k, behind, i]
                row[i] += faces[2, k, j, i]
            for i in range(nx - 1):
                row[i] += faces[2, k, j, i + 1]
            row[nx - 1] += faces[2, k, j, 0]
            for i in range(nx):
                row[i] += row[i]
            if k == 0:
                for i in range(nx):
                    row[i] += sinks[0, j, i]
            if k == nz - 1:
                for i in range(nx):
                    row[i] += sinks[1, j, i]
            for i in range(nx):
                size = row[i] if row[i] == row[i] else infinite  # an overflow in the long loops may be no number
                largest[i] = size if size > largest[i] else largest[i]
    return largest.max()
