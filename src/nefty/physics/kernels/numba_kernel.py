"""Numba kernels for the CPU: float32 or float64, all cores.

Each loop nest stays in one function body, with x innermost and the wrap-around cells outside of the inner loop:
that is what LLVM vectorises. ``out`` never aliases an input, or the run-time alias check would fall back to the
scalar loop. Sums run in float64, row by row and then over the rows, so that a result does not depend on the
number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import torch
from numba import njit, prange
from torch import Tensor, from_numpy

from nefty.core.buffers import borrow
from nefty.physics.kernels.chebyshev_sweep import ChebyshevSweep
from nefty.physics.kernels.jacobi_sweeps import JacobiSweeps

_PARALLEL = {"parallel": True, "fastmath": True, "error_model": "numpy", "cache": True, "nogil": True}


class Operator(NamedTuple):
    """L as arrays: ``faces`` (3, z, y, x) and ``sinks`` (2, y, x), see ``physics.conductance``.

    ``blocks`` is the number of blocks that the rows of a layer are cut into, so that all threads have work.
    """

    faces: np.ndarray
    sinks: np.ndarray
    blocks: int


class LineFactors(NamedTuple):
    """Factors of the z-lines of I - s L: inverse pivots and multipliers, each (z, y, x)."""

    inverse_pivot: np.ndarray
    multiplier: np.ndarray


class NumbaKernel:
    """The operations on NumPy arrays."""

    name = "numba"

    def array(self, tensor: Tensor) -> np.ndarray:
        """The tensor's memory as an array."""
        return tensor.detach().contiguous().numpy()

    def constant(self, values: np.ndarray, like: np.ndarray) -> np.ndarray:
        """``values`` in the precision of ``like``."""
        return np.array(values, dtype=like.dtype, order="C")

    def tensor(self, array: np.ndarray) -> Tensor:
        """The array's memory as a tensor."""
        return from_numpy(array)

    def zeros(self, shape: tuple[int, ...], like: np.ndarray) -> np.ndarray:
        """Zeros in the precision of ``like``."""
        return np.zeros(shape, like.dtype)

    def stack(self, arrays: list[np.ndarray]) -> np.ndarray:
        """Stack along a new first axis."""
        return np.stack(arrays)

    def layers(self, u: np.ndarray, layers: tuple[int, ...]) -> np.ndarray:
        """A copy of some layers of ``u``, (layer, y, x)."""
        return u[list(layers)]

    def contract(self, coefficients: np.ndarray, planes: np.ndarray) -> np.ndarray:
        """sum_k C[t, k] planes[k], by torch: its threads are there already, NumPy's would be a third pool."""
        out = borrow((len(coefficients), *planes.shape[1:]), planes.dtype)
        torch.mm(from_numpy(coefficients), from_numpy(planes).flatten(1), out=from_numpy(out).flatten(1))
        return out

    def operator(self, faces: np.ndarray, sinks: np.ndarray) -> Operator:
        """Prepare L."""
        _, nz, ny, _ = faces.shape
        return Operator(faces, sinks, min(ny, max(1, -(-2 * numba.get_num_threads() // nz))))

    def combine(
        self,
        op: Operator,
        u: np.ndarray,
        a: float,
        v: np.ndarray,
        b: float,
        c: float,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return a u + b v + c L u, in ``out`` if given, which must be neither u nor v."""
        if out is None:
            out = np.empty_like(u)
        kind = u.dtype.type
        _combine(op.faces, op.sinks, u, kind(a), v, kind(b), kind(c), out, op.blocks)
        return out

    def sweep(self, op: Operator, q: float, start: np.ndarray, degree: int, layers: tuple[int, ...]) -> ChebyshevSweep:
        """All terms of the Chebyshev recurrence in one compiled call."""
        return ChebyshevSweep(op.faces, op.sinks, q, start, degree, layers)

    def accumulate(self, gradient: Operator, lam: np.ndarray, u: np.ndarray, weight: float) -> None:
        """Add ``weight`` d(lam^T L u)/d(conductances) to ``gradient``."""
        _accumulate(*gradient[:2], lam, u, u.dtype.type(weight), gradient.blocks)

    def line_factors(self, op: Operator, s: float) -> LineFactors:
        """Factor the z-lines of I - s L."""
        factors = LineFactors(np.empty_like(op.faces[0]), np.empty_like(op.faces[0]))
        _line_factors(op.faces, op.sinks, op.faces.dtype.type(s), *factors)
        return factors

    def conjugate_gradients(
        self,
        op: Operator,
        s: float,
        factors: LineFactors,
        rhs: np.ndarray,
        guess: np.ndarray,
        tolerance: float,
        most: int,
    ) -> tuple[np.ndarray, int, float]:
        """Solve (I - s L) x = rhs; return x, the iterations and the relative residual."""
        x = guess.copy()
        iterations, residual = _conjugate_gradients(
            op.faces, op.sinks, rhs.dtype.type(s), *factors, rhs, x, tolerance, most, op.blocks
        )
        return x, iterations, residual

    def jacobi_factors(self, op: Operator, s: float) -> JacobiSweeps:
        """The compiled sweeps for I - s L."""
        return JacobiSweeps(op.faces, op.sinks, s)

    def jacobi(
        self,
        op: Operator,
        s: float,
        rhs: np.ndarray,
        guess: np.ndarray,
        sweeps: int,
        factors: JacobiSweeps | None = None,
    ) -> np.ndarray:
        """The paper's eq. (jacobi_iter): a fixed number of Jacobi sweeps for (I - s L) x = rhs."""
        return (factors or self.jacobi_factors(op, s))(rhs, guess, sweeps)

    def relative_residual(self, op: Operator, s: float, rhs: np.ndarray, x: np.ndarray) -> float:
        """|rhs - (I - s L) x| / |rhs|."""
        residual = self.combine(op, x, -1.0, rhs, 1.0, s)
        return float(np.linalg.norm(residual.ravel()) / max(float(np.linalg.norm(rhs.ravel())), 1e-300))


@njit(**_PARALLEL)
def _combine(faces, sinks, u, a, v, b, c, out, blocks):
    nz, ny, nx = u.shape
    for task in prange(nz * blocks):
        k = np.int64(task) // blocks
        block = np.int64(task) % blocks
        km, kp = max(k - 1, 0), min(k + 1, nz - 1)
        for j in range(block * ny // blocks, (block + 1) * ny // blocks):
            jm = j - 1 if j > 0 else ny - 1
            jp = j + 1 if j < ny - 1 else 0
            for i in range(nx):
                w = u[k, j, i]
                flux = (
                    faces[0, k, j, i] * (u[km, j, i] - w)
                    + faces[0, kp, j, i] * (u[kp, j, i] - w)
                    + faces[1, k, j, i] * (u[k, jm, i] - w)
                    + faces[1, k, jp, i] * (u[k, jp, i] - w)
                )
                out[k, j, i] = a * w + b * v[k, j, i] + c * flux
            for i in range(1, nx - 1):
                w = u[k, j, i]
                out[k, j, i] += c * (
                    faces[2, k, j, i] * (u[k, j, i - 1] - w) + faces[2, k, j, i + 1] * (u[k, j, i + 1] - w)
                )
            if nx > 1:
                first, last = u[k, j, 0], u[k, j, nx - 1]
                wrap = faces[2, k, j, 0] * (last - first)
                out[k, j, 0] += c * (wrap + faces[2, k, j, 1] * (u[k, j, 1] - first))
                out[k, j, nx - 1] += c * (faces[2, k, j, nx - 1] * (u[k, j, nx - 2] - last) - wrap)
            if k == 0:
                for i in range(nx):
                    out[k, j, i] -= c * sinks[0, j, i] * u[k, j, i]
            if k == nz - 1:
                for i in range(nx):
                    out[k, j, i] -= c * sinks[1, j, i] * u[k, j, i]


@njit(**_PARALLEL)
def _accumulate(faces, sinks, lam, u, weight, blocks):
    nz, ny, nx = u.shape
    for task in prange(nz * blocks):
        k = np.int64(task) // blocks
        block = np.int64(task) % blocks
        km = max(k - 1, 0)
        for j in range(block * ny // blocks, (block + 1) * ny // blocks):
            jm = j - 1 if j > 0 else ny - 1
            for i in range(nx):
                faces[0, k, j, i] -= weight * (lam[k, j, i] - lam[km, j, i]) * (u[k, j, i] - u[km, j, i])
                faces[1, k, j, i] -= weight * (lam[k, j, i] - lam[k, jm, i]) * (u[k, j, i] - u[k, jm, i])
            for i in range(1, nx):
                faces[2, k, j, i] -= weight * (lam[k, j, i] - lam[k, j, i - 1]) * (u[k, j, i] - u[k, j, i - 1])
            faces[2, k, j, 0] -= weight * (lam[k, j, 0] - lam[k, j, nx - 1]) * (u[k, j, 0] - u[k, j, nx - 1])
            if k == 0:
                for i in range(nx):
                    sinks[0, j, i] -= weight * lam[k, j, i] * u[k, j, i]
            if k == nz - 1:
                for i in range(nx):
                    sinks[1, j, i] -= weight * lam[k, j, i] * u[k, j, i]


@njit(**_PARALLEL)
def _line_factors(faces, sinks, s, inverse_pivot, multiplier):
    nz, ny, nx = inverse_pivot.shape
    for j in prange(ny):
        jp = j + 1 if j < ny - 1 else 0
        for k in range(nz):
            kp = min(k + 1, nz - 1)
            for i in range(nx):
                ip = i + 1 if i < nx - 1 else 0
                lateral = faces[1, k, j, i] + faces[1, k, jp, i] + faces[2, k, j, i] + faces[2, k, j, ip]
                below = faces[0, kp, j, i] if kp > k else faces[0, 0, j, i]  # faces[0, 0] is 0
                diagonal = 1 + s * (lateral + faces[0, k, j, i] + below)
                if k == 0:
                    diagonal += s * sinks[0, j, i]
                if k == nz - 1:
                    diagonal += s * sinks[1, j, i]
                if k == 0:
                    multiplier[k, j, i] = 0
                    inverse_pivot[k, j, i] = 1 / diagonal
                else:
                    off = -s * faces[0, k, j, i]
                    m = off * inverse_pivot[k - 1, j, i]
                    multiplier[k, j, i] = m
                    inverse_pivot[k, j, i] = 1 / (diagonal - m * off)


@njit(**_PARALLEL)
def _precondition(inverse_pivot, multiplier, x, p, r, q, z, step, row_rz, row_rr):
    """x += step p, r -= step q, z = (z-lines)^-1 r; and the sums r.z and r.r of every row of columns."""
    nz, ny, nx = r.shape
    for j in prange(ny):
        for i in range(nx):
            r[0, j, i] -= step * q[0, j, i]
            x[0, j, i] += step * p[0, j, i]
            z[0, j, i] = r[0, j, i]
        for k in range(1, nz):
            for i in range(nx):
                r[k, j, i] -= step * q[k, j, i]
                x[k, j, i] += step * p[k, j, i]
                z[k, j, i] = r[k, j, i] - multiplier[k, j, i] * z[k - 1, j, i]
        for i in range(nx):
            z[nz - 1, j, i] *= inverse_pivot[nz - 1, j, i]
        for k in range(nz - 2, -1, -1):
            for i in range(nx):
                z[k, j, i] = z[k, j, i] * inverse_pivot[k, j, i] - multiplier[k + 1, j, i] * z[k + 1, j, i]
        rz, rr = 0.0, 0.0
        for k in range(nz):
            for i in range(nx):
                rz += np.float64(r[k, j, i]) * np.float64(z[k, j, i])
                rr += np.float64(r[k, j, i]) * np.float64(r[k, j, i])
        row_rz[j] = rz
        row_rr[j] = rr


@njit(**_PARALLEL)
def _row_dots(p, q, row_pq):
    nz, ny, nx = p.shape
    for j in prange(ny):
        total = 0.0
        for k in range(nz):
            for i in range(nx):
                total += np.float64(p[k, j, i]) * np.float64(q[k, j, i])
        row_pq[j] = total


@njit(**_PARALLEL)
def _direction(p, z, beta):
    """p = z + beta p."""
    nz, ny, nx = p.shape
    for k in prange(nz):
        for j in range(ny):
            for i in range(nx):
                p[k, j, i] = z[k, j, i] + beta * p[k, j, i]


@njit(cache=True, nogil=True, error_model="numpy")
def _conjugate_gradients(faces, sinks, s, inverse_pivot, multiplier, rhs, x, tolerance, most, blocks):
    kind = rhs.dtype.type
    one, nought = kind(1), kind(0)
    rows = np.empty((3, rhs.shape[1]))
    r, q, z, p = np.empty_like(rhs), np.empty_like(rhs), np.empty_like(rhs), np.zeros_like(rhs)
    _row_dots(rhs, rhs, rows[2])
    limit = tolerance * np.sqrt(rows[2].sum())
    if limit == 0:
        x[:] = nought
        return 0, 0.0
    iterations, before = 0, np.inf
    # Each round begins with the true residual, so that rounding in the recurrence cannot flatter it; a round that
    # gains nothing, or a residual that is not a number, ends the iteration unconverged.
    while True:
        _combine(faces, sinks, x, -one, rhs, one, s, r, blocks)
        _row_dots(r, r, rows[1])
        residual = np.sqrt(rows[1].sum())
        if not residual > limit or iterations >= most or residual > 0.5 * before:
            return iterations, tolerance * residual / limit
        before = residual
        _precondition(inverse_pivot, multiplier, x, p, r, p, z, nought, rows[0], rows[1])
        _direction(p, z, nought)
        rz = rows[0].sum()
        while residual > limit and iterations < most:
            _combine(faces, sinks, p, one, p, nought, -s, q, blocks)
            _row_dots(p, q, rows[2])
            _precondition(inverse_pivot, multiplier, x, p, r, q, z, kind(rz / rows[2].sum()), rows[0], rows[1])
            rz_next = rows[0].sum()
            _direction(p, z, kind(rz_next / rz))
            rz, residual = rz_next, np.sqrt(rows[1].sum())
            iterations += 1
