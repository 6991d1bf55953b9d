"""The operator as a dense matrix, entry by entry from the equation: slow, obvious, and sharing no code."""

from __future__ import annotations

import numpy as np

from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary

MEANS = {"harmonic": lambda p, q: 2 / (1 / p + 1 / q), "arithmetic": lambda p, q: (p + q) / 2, "min": min}


def dense_operator(
    alpha: np.ndarray, grid: Grid, boundary: Boundary, face_mean: str, anisotropy: tuple[float, float]
) -> np.ndarray:
    """L of du/dt = L u, shape (cells, cells), cells numbered as in the flattened (z, y, x) array."""
    mean = MEANS[face_mean]
    number = np.arange(grid.cells).reshape(grid.shape)
    matrix = np.zeros((grid.cells, grid.cells))
    for axis in range(3):
        ratio = (1.0, *anisotropy)[axis] / grid.spacing[axis] ** 2
        for cell in np.ndindex(*grid.shape):
            other = list(cell)
            other[axis] += 1
            if other[axis] == grid.shape[axis]:
                if axis == 0 or boundary.lateral == "adiabatic":
                    continue
                other[axis] = 0
            p, q = number[cell], number[tuple(other)]
            g = mean(alpha[cell], alpha[tuple(other)]) * ratio
            matrix[p, q] += g
            matrix[q, p] += g
            matrix[p, p] -= g
            matrix[q, q] -= g
    dz = grid.spacing[0]
    for kind, h, layer in ((boundary.front, boundary.h_front, 0), (boundary.back, boundary.h_back, -1)):
        if kind == "robin":
            for p, a in zip(number[layer].ravel(), alpha[layer].ravel(), strict=True):
                surface = h / (1 + h * dz / (2 * a)) if boundary.robin == "surface" else h
                matrix[p, p] -= surface / dz
    return matrix
