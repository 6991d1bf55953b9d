"""The weighted sum of squares of the frames and its derivative in one compiled pass.

torch makes ten passes in float64 over all frames of it, which take as long as a quarter of a gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable


def weighted_squares(predicted: Tensor, measured: Tensor, weights: Tensor) -> Tensor:
    """sum w (p - m)^2, a float64 scalar, differentiable once in ``predicted``; on the CPU.

    Args:
        predicted: p, (..., y, x), in the precision of the model.
        measured: m, of the same shape and precision.
        weights: w, of the same shape, float64.
    """
    return _WeightedSquares.apply(predicted, measured, weights)  # pyright: ignore[reportReturnType]


class _WeightedSquares(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, predicted: Tensor, measured: Tensor, weights: Tensor) -> Tensor:
        values, gradient = predicted.detach().contiguous(), torch.empty(predicted.shape, dtype=predicted.dtype)
        width = predicted.shape[-1]
        parts = (values, measured.contiguous(), weights.contiguous(), gradient)
        total = _squares(*(part.view(-1, width).numpy() for part in parts))
        ctx.save_for_backward(gradient)
        return torch.tensor(total, dtype=torch.float64)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grad_outputs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        (gradient,) = ctx.saved_tensors
        factor = float(grad_outputs[0])
        return gradient if factor == 1 else gradient * factor, None, None


@njit(cache=True, nogil=True, error_model="numpy")
def _squares(predicted, measured, weights, gradient):
    """The sum, column by column in float64 (which vectorises without another order of it); and 2 w (p - m)."""
    rows, width = predicted.shape
    columns = np.zeros(width)
    for j in range(rows):
        for i in range(width):
            residual = predicted[j, i] - measured[j, i]
            weighted = weights[j, i] * np.float64(residual)
            columns[i] += weighted * np.float64(residual)
            gradient[j, i] = weighted + weighted
    return columns.sum()
