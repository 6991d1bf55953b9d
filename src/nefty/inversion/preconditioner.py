"""What is known of the curvature of the objective without solving the heat equation, and its inverse."""

from __future__ import annotations

import numpy as np
import torch
from numba import njit
from torch import Tensor

from nefty.inversion.recipe_sections import PreconditionerSettings


class PenaltyPreconditioner:
    """M^-1 v, with M = C + c + the springs of the penalties, for free unknowns only.

    C is the diagonal of the Gauss-Newton matrix of the misfit, c the curvature that is assumed anyway. The springs are
    the quadratic forms that touch the convex penalties at the present volume from above (half-quadratic majorisers;
    "lagged diffusivity" for total variation: Vogel & Oman 1996). The part of the Hessian that couples cells most and
    costs nothing is thus known, and the quasi-Newton pairs have to learn the misfit alone.

    The unknowns are x = a/scale, a the logarithms that M is of: M_x^-1 = scale^-1 M^-1 scale^-1. Solved by conjugate
    gradients with the diagonal of M; few steps are enough, it shapes the direction only.

    Args:
        diagonal: C + c and the anchors, (z, y, x).
        faces: of the springs, (3, z, y, x).
        scale: of the unknowns, broadcasting to (z, y, x).
        settings: of the conjugate gradients.
        layers: curvature by the background's layers, (z, z), whose unknowns follow those of the cells, where they are
            free; solved for directly.
    """

    def __init__(
        self,
        diagonal: Tensor,
        faces: Tensor,
        scale: Tensor,
        settings: PreconditionerSettings,
        layers: np.ndarray | None = None,
    ) -> None:
        shape = diagonal.shape
        self._diagonal = np.ascontiguousarray(diagonal.numpy(), dtype=np.float32)
        self._faces = np.ascontiguousarray(faces.numpy(), dtype=np.float32)
        self._scale = scale.expand(shape)
        self._steps, self._tolerance = settings.steps, settings.tolerance
        self._layers = None if layers is None else torch.from_numpy(np.linalg.inv(layers))

    def __call__(self, vector: Tensor, free: Tensor) -> Tensor:
        """M_x^-1 ``vector`` in the space of the ``free`` unknowns (0 or 1), both (n,)."""
        shape, cells = self._diagonal.shape, self._diagonal.size
        right = (vector[:cells].reshape(shape) / self._scale * free[:cells].reshape(shape)).float().contiguous().numpy()
        mask = free[:cells].reshape(shape).float().contiguous().numpy()
        found = _solve(self._diagonal, self._faces, mask, right, self._steps, self._tolerance)
        moves = (torch.from_numpy(found) / self._scale).reshape(-1).to(vector.dtype)
        if self._layers is None:
            return moves
        own = free[cells:].double()
        return torch.cat([moves, (own * (self._layers @ (own * vector[cells:].double()))).to(vector.dtype)])


def with_springs(curvature: np.ndarray, springs: np.ndarray) -> np.ndarray:
    """A curvature by layers, (z, z), and springs between one layer and the next, (z - 1,); a little more, so that what
    neither knows can be solved for.
    """
    steps = np.diff(np.eye(len(curvature)), axis=0)
    whole = curvature + steps.T @ (springs[:, None] * steps)
    return whole + 1e-6 * np.trace(whole) / len(whole) * np.eye(len(whole))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _solve(
    diagonal: np.ndarray, faces: np.ndarray, free: np.ndarray, right: np.ndarray, steps: int, tolerance: float
) -> np.ndarray:
    """Conjugate gradients for the springs between free cells, with the matrix's own diagonal as preconditioner."""
    whole = diagonal.copy()
    _add_to_diagonal(whole, faces)
    x, r = np.zeros_like(right), right * free
    z = r / whole
    p, q = z.copy(), np.zeros_like(r)
    rz, rr = _dot(r, z), _dot(r, r)
    enough = tolerance * tolerance * rr
    for _ in range(steps):
        if rr <= enough:
            break
        _apply(whole, faces, p, q)
        length = rz / _dot_masked(p, q, free)
        rr, new = 0.0, 0.0
        for k in range(x.shape[0]):
            for j in range(x.shape[1]):
                for i in range(x.shape[2]):
                    x[k, j, i] += np.float32(length) * p[k, j, i]
                    left = (r[k, j, i] - np.float32(length) * q[k, j, i]) * free[k, j, i]
                    r[k, j, i] = left
                    rr += left * left
                    new += left * left / whole[k, j, i]
        ratio = np.float32(new / rz)
        rz = new
        for k in range(x.shape[0]):
            for j in range(x.shape[1]):
                for i in range(x.shape[2]):
                    p[k, j, i] = r[k, j, i] / whole[k, j, i] + ratio * p[k, j, i]
    return x


@njit(cache=True, nogil=True, error_model="numpy")
def _add_to_diagonal(whole: np.ndarray, faces: np.ndarray) -> None:
    """Add the springs at each cell to it."""
    layers, rows, columns = whole.shape
    for k in range(layers):
        for j in range(rows):
            for i in range(columns):
                whole[k, j, i] += faces[0, k, j, i] + faces[1, k, j, i] + faces[2, k, j, i]
                whole[k, j, i] += faces[1, k, j - 1, i] + faces[2, k, j, i - 1]  # -1 is the last
                if k:
                    whole[k, j, i] += faces[0, k - 1, j, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _apply(whole: np.ndarray, faces: np.ndarray, p: np.ndarray, out: np.ndarray) -> None:
    """The matrix times p; ``whole`` is its diagonal."""
    layers, rows, columns = p.shape
    for k in range(layers):
        for j in range(rows):
            above, below = (j - 1) % rows, (j + 1) % rows
            for i in range(columns):
                value = whole[k, j, i] * p[k, j, i]
                value -= faces[1, k, j, i] * p[k, below, i] + faces[1, k, above, i] * p[k, above, i]
                out[k, j, i] = value
            for i in range(columns - 1):
                out[k, j, i] -= faces[2, k, j, i] * p[k, j, i + 1]
            for i in range(1, columns):
                out[k, j, i] -= faces[2, k, j, i - 1] * p[k, j, i - 1]
            out[k, j, columns - 1] -= faces[2, k, j, columns - 1] * p[k, j, 0]
            out[k, j, 0] -= faces[2, k, j, columns - 1] * p[k, j, columns - 1]
            if k:
                for i in range(columns):
                    out[k, j, i] -= faces[0, k - 1, j, i] * p[k - 1, j, i]
            if k + 1 < layers:
                for i in range(columns):
                    out[k, j, i] -= faces[0, k, j, i] * p[k + 1, j, i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            for i in range(a.shape[2]):
                total += a[k, j, i] * b[k, j, i]
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def _dot_masked(a: np.ndarray, b: np.ndarray, free: np.ndarray) -> float:
    total = 0.0
    for k in range(a.shape[0]):
        for j in range(a.shape[1]):
            for i in range(a.shape[2]):
                total += a[k, j, i] * b[k, j, i] * free[k, j, i]
    return total
