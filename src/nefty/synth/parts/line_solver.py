"""Conjugate gradients for (C + K) u = b on a mesh, preconditioned by tridiagonal solves along z. Compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from nefty.core.errors import ConvergenceError

MOST = 2000  # iterations


@dataclass(frozen=True, eq=False)
class LineSystem:
    """A symmetric positive definite system of cells (z, y, x) that touch by their faces.

    Args:
        diagonal: of the matrix, (z, y, x).
        gz: minus its entries between a cell and the next one along z, (z - 1, y, x).
        gy: along y, (z, y - 1, x).
        gx: along x, (z, y, x - 1).
    """

    diagonal: np.ndarray
    gz: np.ndarray
    gy: np.ndarray
    gx: np.ndarray

    def solve(self, b: np.ndarray, start: np.ndarray, tolerance: float, pivots: np.ndarray) -> tuple[np.ndarray, int]:
        """u and the number of iterations, until r.P r is tolerance^2 b.P b.

        Args:
            b: right-hand side.
            start: first guess.
            tolerance: relative, in the norm of the inverse preconditioner P.
            pivots: as ``pivots`` returns them.
        """
        u = start.copy()
        done = _conjugate_gradients(u, b, self.diagonal, self.gz, self.gy, self.gx, pivots, tolerance, MOST)
        if done < 0:
            raise ConvergenceError(f"conjugate gradients did not reach {tolerance:g} in {MOST} iterations.")
        return u, done

    def pivots(self) -> np.ndarray:
        """Inverse pivots of the tridiagonal blocks along z."""
        return _pivots(self.diagonal, self.gz)


@njit(cache=True, fastmath={"contract"})
def _pivots(diagonal, gz):  # pragma: no cover - compiled
    inverse = np.empty_like(diagonal)
    nz, ny, nx = diagonal.shape
    for z in range(nz):
        for y in range(ny):
            for x in range(nx):
                above = gz[z - 1, y, x] ** 2 * inverse[z - 1, y, x] if z > 0 else 0.0
                inverse[z, y, x] = 1.0 / (diagonal[z, y, x] - above)
    return inverse


@njit(cache=True, fastmath={"contract", "reassoc"})
def _apply(p, out, diagonal, gz, gy, gx):  # pragma: no cover - compiled
    """``out`` = A p; returns p.A p."""
    nz, ny, nx = p.shape
    total = 0.0
    for z in range(nz):
        for y in range(ny):
            row, mid, d = out[z, y], p[z, y], diagonal[z, y]
            for x in range(nx):
                row[x] = d[x] * mid[x]
            g = gx[z, y]
            for x in range(nx - 1):
                row[x] -= g[x] * mid[x + 1]
            for x in range(nx - 1):
                row[x + 1] -= g[x] * mid[x]
            if z > 0:
                g, other = gz[z - 1, y], p[z - 1, y]
                for x in range(nx):
                    row[x] -= g[x] * other[x]
            if z < nz - 1:
                g, other = gz[z, y], p[z + 1, y]
                for x in range(nx):
                    row[x] -= g[x] * other[x]
            if y > 0:
                g, other = gy[z, y - 1], p[z, y - 1]
                for x in range(nx):
                    row[x] -= g[x] * other[x]
            if y < ny - 1:
                g, other = gy[z, y], p[z, y + 1]
                for x in range(nx):
                    row[x] -= g[x] * other[x]
            for x in range(nx):
                total += row[x] * mid[x]
    return total


@njit(cache=True, fastmath={"contract", "reassoc"})
def _precondition(r, out, gz, inverse):  # pragma: no cover - compiled
    """``out`` = P r, line by line along z; returns r.P r."""
    nz, ny, nx = r.shape
    total = 0.0
    for y in range(ny):
        for x in range(nx):
            out[0, y, x] = r[0, y, x] * inverse[0, y, x]
        for z in range(1, nz):
            o, up, g, b, i = out[z, y], out[z - 1, y], gz[z - 1, y], r[z, y], inverse[z, y]
            for x in range(nx):
                o[x] = (b[x] + g[x] * up[x]) * i[x]
        for z in range(nz - 2, -1, -1):
            o, low, g, i = out[z, y], out[z + 1, y], gz[z, y], inverse[z, y]
            for x in range(nx):
                o[x] += g[x] * i[x] * low[x]
        for z in range(nz):
            o, b = out[z, y], r[z, y]
            for x in range(nx):
                total += o[x] * b[x]
    return total


@njit(cache=True, fastmath={"contract", "reassoc"})
def _conjugate_gradients(u, b, diagonal, gz, gy, gx, inverse, tolerance, most):  # pragma: no cover - compiled
    """Improve ``u`` in place; the number of iterations, -1 if they were not enough."""
    s = np.empty_like(u)
    q = np.empty_like(u)
    goal = tolerance * tolerance * _precondition(b, s, gz, inverse)
    _apply(u, q, diagonal, gz, gy, gx)
    r = b - q
    size = _precondition(r, s, gz, inverse)
    p = s.copy()
    flat_u, flat_r, flat_p, flat_s, flat_q = u.ravel(), r.ravel(), p.ravel(), s.ravel(), q.ravel()
    for iteration in range(most):
        if size <= goal:
            return iteration
        step = size / _apply(p, q, diagonal, gz, gy, gx)
        for i in range(flat_u.size):
            flat_u[i] += step * flat_p[i]
            flat_r[i] -= step * flat_q[i]
        before = size
        size = _precondition(r, s, gz, inverse)
        share = size / before
        for i in range(flat_u.size):
            flat_p[i] = flat_s[i] + share * flat_p[i]
    return -1
