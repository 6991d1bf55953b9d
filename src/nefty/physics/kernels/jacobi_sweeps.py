"""A fixed number of Jacobi sweeps for (I - s L) x = b in one compiled call (paper, eq. jacobi_iter).

With g the conductances times s and D = 1 + sum of the six g + s sink the diagonal, a sweep is

    x <- (b + sum over the six faces of g x_neighbour)/D.

Layout and threads are those of ``chebyshev_sweep``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from nefty.physics.kernels.row_layout import COMPILED, flat, margin_of, packed, packed_faces, unpacked
from nefty.physics.kernels.thread_team import finish, next_chunk, run_together, team_size, wait_for


class JacobiSweeps:
    """The sweeps for one operator and one s.

    Args:
        faces: conductances (3, z, y, x).
        sinks: (2, y, x).
        s: of I - s L.
    """

    def __init__(self, faces: np.ndarray, sinks: np.ndarray, s: float) -> None:
        nz, ny, nx = self._shape = (faces.shape[1], faces.shape[2], faces.shape[3])
        self._size = team_size(nz * ny * nx, ny)
        self._faces = packed_faces(faces, sinks, s)
        diagonal = np.zeros(self._shape, faces.dtype)
        for axis in range(3):
            along = faces[axis].copy()
            if axis == 0:
                along[0] = 0  # no faces there
            if self._shape[axis] > 1:
                diagonal += along
                diagonal += np.roll(along, -1, axis)
        diagonal[0] += sinks[0]
        diagonal[-1] += sinks[1]
        self._inverse = packed(1 / (1 + faces.dtype.type(s) * diagonal))

    def __call__(self, rhs: np.ndarray, guess: np.ndarray, sweeps: int) -> np.ndarray:
        """x after ``sweeps`` sweeps from ``guess``; all (z, y, x)."""
        states = flat(self._shape, rhs, 2)
        states[sweeps % 2] = packed(guess)  # so that the last comes to lie in states[0]
        ny, nx = self._shape[1:]
        arguments = (*self._faces[:4], self._inverse, packed(rhs), states, sweeps, nx, margin_of(nx))
        run_together(_sweeps, self._size, ny, *arguments)
        return unpacked(states[0], self._shape)


@njit(**COMPILED)
def _sweep(fz, fy, fx, around, inverse, rhs, u, v, nz, nx, margin, first, last):
    """v <- (rhs + sum g u_neighbour)/D in some rows."""
    ny = around.shape[0]
    length, up, one = np.uint64(nz * nx), np.uint64(nx), np.uint64(1)
    for j in range(first, last):
        row = np.uint64(margin + j * nz * nx)
        before = np.uint64(margin + (j - 1 if j > 0 else ny - 1) * nz * nx)
        behind = np.uint64(margin + (j + 1 if j < ny - 1 else 0) * nz * nx)
        for i in range(length):
            v[row + i] = inverse[row + i] * (
                rhs[row + i]
                + fz[row + i] * u[row + i - up]
                + fz[row + i + up] * u[row + i + up]
                + fy[row + i] * u[before + i]
                + fy[behind + i] * u[behind + i]
                + fx[row + i] * u[row + i - one]
                + fx[row + i + one] * u[row + i + one]
            )
        for k in range(nz):
            start = row + np.uint64(k * nx)
            end = start + np.uint64(nx - 1)
            v[start] += inverse[start] * around[j, k] * u[end]
            v[end] += inverse[end] * around[j, k] * u[start]


@njit(**COMPILED)
def _sweeps(rank, size, chunks, turns, fz, fy, fx, around, inverse, rhs, states, sweeps, nx, margin):
    """All sweeps; the guess is in states[sweeps % 2], the result comes to lie in states[0]."""
    ny, nz = around.shape
    for k in range(sweeps):
        u, v = states[(sweeps - k) % 2], states[(sweeps - k + 1) % 2]
        for n in range(chunks):
            chunk = next_chunk(turns, rank, size, chunks, n, k)
            if chunk >= 0:
                first, last = chunk * ny // chunks, (chunk + 1) * ny // chunks
                _sweep(fz, fy, fx, around, inverse, rhs, u, v, nz, nx, margin, first, last)
                finish(turns)
        wait_for(turns, (k + 1) * chunks)
