"""The recurrence w_{k+1} = 2 X w_k - w_{k-1}, 2 X = 2 + q L, for all terms in one compiled call.

See ``physics.chebyshev``. The threads share the rows (``row_layout``) of each term and wait for each other between two
(``thread_team``). Two arrays carry a recurrence: the next term is written over the one before the last. Conductances
are multiplied by q once, so that a term is

    v <- 2 u - v + sum over the six faces of g (u_neighbour - u).

The first term w_1 = X w_0 is half of what that gives for v = 0. All numbers of a row come from the same loop whoever
computes it, so that results don't depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from nefty.core.buffers import borrow
from nefty.physics.kernels.row_layout import (
    COMPILED,
    Faces,
    flat,
    margin_of,
    no_faces,
    packed,
    packed_faces,
    unpacked,
    unpacked_faces,
)
from nefty.physics.kernels.thread_team import finish, next_chunk, run_together, team_size, wait_for


class ChebyshevSweep:
    """The recurrence from one start: forwards, then backwards and along tangents as often as one likes.

    Args:
        faces: conductances (3, z, y, x).
        sinks: of front and back (2, y, x), or of all cells (z, y, x).
        q: 4/rho.
        start: w_0, (z, y, x).
        degree: n of the last term w_n, at least 1.
        layers: along z, that are observed.

    Attributes:
        planes: the observed layers of all terms, (k, layer, y, x).
    """

    def __init__(
        self, faces: np.ndarray, sinks: np.ndarray, q: float, start: np.ndarray, degree: int, layers: tuple[int, ...]
    ) -> None:
        _, ny, nx = self._shape = (start.shape[0], start.shape[1], start.shape[2])
        self._q, self._degree, self._layers = q, degree, np.array(layers, dtype=np.int64)
        self._size = team_size(start.size, ny)
        self._faces, self._lossy = packed_faces(faces, sinks, q), bool(sinks.any())
        self._start, states = packed(start), flat(self._shape, start, 2)
        states[degree % 2] = self._start  # so that the last state comes to lie in states[0]
        self.planes = borrow((degree + 1, len(layers), ny, nx), start.dtype)
        run_together(
            _forwards, self._size, ny, *self._faces, self._lossy, states, self.planes, self._layers, margin_of(nx)
        )
        self._last = states

    def backward(self, said: Sequence[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Derivatives by faces, sinks and start of sum_k <said_k, planes_k>, for each ``said`` (k, layer, y, x).

        lam_k = 2 X lam_{k+1} - lam_{k+2} + said_k beside the w_k, which come back by the recurrence itself and serve
        all.
        """
        count, states = len(said), flat(self._shape, self._last, 2)
        states[...] = self._last
        adjoint = flat(self._shape, states, 2 * count).reshape(2, count, -1)
        gradient = no_faces(self._shape, states, count, len(self._faces.sinks))
        run_together(
            _backwards,
            self._size,
            self._shape[1],
            *self._faces,
            self._lossy,
            states,
            adjoint,
            *gradient,
            said[0][None] if count == 1 else np.stack(said),
            self._layers,
            margin_of(self._shape[2]),
        )
        lam = adjoint[self._degree % 2]
        found = []
        for i in range(count):
            one = Faces(*(part[i] for part in gradient))
            found.append((*unpacked_faces(one, self._shape, -self._q), unpacked(lam[i], self._shape)))
        return found

    def tangents(self, moves: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray | None]]) -> np.ndarray:
        """How the planes move, (move, k, layer, y, x), when faces, sinks and start do (None: the start stays).

        w'_{k+1} = 2 X w'_k - w'_{k-1} + q L' w_k, beside the w_k. All moves share those.
        """
        (nz, ny, nx), count, degree = self._shape, len(moves), self._degree
        states, along = flat(self._shape, self._start, 2), flat(self._shape, self._start, 2 * count)
        along = along.reshape(2, count, -1)
        states[degree % 2] = self._start
        moved = no_faces(self._shape, states, count, len(self._faces.sinks))
        reach = np.zeros((count, 2), np.int64)  # layers that L' acts on, from and to
        for i, (faces, sinks, start) in enumerate(moves):
            for target, part in zip(moved, packed_faces(faces, sinks, self._q), strict=True):
                target[i] = part
            touched = np.flatnonzero(faces.any(axis=(0, 2, 3)))
            if sinks.any():
                touched = np.array([0, nz - 1])
            if touched.size:
                reach[i] = max(touched[0] - 1, 0), touched[-1] + 1
            if start is not None:
                along[degree % 2, i] = packed(start)
        planes = borrow((count, degree + 1, len(self._layers), ny, nx), states.dtype)
        run_together(
            _along,
            self._size,
            ny,
            *self._faces,
            self._lossy,
            states,
            along,
            *moved,
            reach,
            planes,
            self._layers,
            margin_of(nx),
        )
        return planes


@njit(**COMPILED)
def _advance(fz, fy, fx, around, sinks, lossy, u, v, nz, nx, margin, first, last):
    """v <- 2 u - v + q L u in some rows. Unsigned numbers index without a look for negative ones."""
    ny = around.shape[0]
    length, up, one = np.uint64(nz * nx), np.uint64(nx), np.uint64(1)
    for j in range(first, last):
        row = np.uint64(margin + j * nz * nx)
        before = np.uint64(margin + (j - 1 if j > 0 else ny - 1) * nz * nx)
        behind = np.uint64(margin + (j + 1 if j < ny - 1 else 0) * nz * nx)
        for i in range(length):
            w = u[row + i]
            v[row + i] = (w + w - v[row + i]) + (
                fz[row + i] * (u[row + i - up] - w)
                + fz[row + i + up] * (u[row + i + up] - w)
                + fy[row + i] * (u[before + i] - w)
                + fy[behind + i] * (u[behind + i] - w)
                + fx[row + i] * (u[row + i - one] - w)
                + fx[row + i + one] * (u[row + i + one] - w)
            )
        _corners_and_losses(around, sinks, lossy, u, v, j, nz, nx, row)


@njit(**COMPILED)
def _layer(n, count, nz):
    """The layer that has the sinks number ``n`` of ``count``: all have some, or the first and the last."""
    return n if count == nz else n * (nz - 1)


@njit(**COMPILED)
def _corners_and_losses(around, sinks, lossy, u, v, j, nz, nx, row):
    """What the long loop over row ``j`` leaves out: faces around the corner along x, and sinks."""
    for k in range(nz):
        start = row + np.uint64(k * nx)
        end = start + np.uint64(nx - 1)
        flux = around[j, k] * (u[end] - u[start])
        v[start] += flux
        v[end] -= flux
    if lossy:
        for n in range(sinks.shape[0]):
            start = row + np.uint64(_layer(n, sinks.shape[0], nz) * nx)
            for i in range(np.uint64(nx)):
                v[start + i] -= sinks[n, j, i] * u[start + i]


@njit(**COMPILED)
def _gather_corners(u, lam, by_around, by_sinks, j, nz, nx, row):
    """The derivative by what ``_corners_and_losses`` adds."""
    for k in range(nz):
        start = row + np.uint64(k * nx)
        end = start + np.uint64(nx - 1)
        by_around[j, k] += (lam[end] - lam[start]) * (u[end] - u[start])
    for n in range(by_sinks.shape[0]):
        start = row + np.uint64(_layer(n, by_sinks.shape[0], nz) * nx)
        for i in range(np.uint64(nx)):
            by_sinks[n, j, i] += lam[start + i] * u[start + i]


@njit(**COMPILED)
def _retreat_with(
    fz, fy, fx, around, sinks, lossy, u, v, lam, mu, gz, gy, gx, by_around, by_sinks, nz, nx, margin, first, last
):
    """v <- 2 u - v + q L u, mu <- 2 lam - mu + q L lam, and the derivative of lam^T L u by conductances, at once."""
    ny = around.shape[0]
    length, up, one = np.uint64(nz * nx), np.uint64(nx), np.uint64(1)
    for j in range(first, last):
        row = np.uint64(margin + j * nz * nx)
        before = np.uint64(margin + (j - 1 if j > 0 else ny - 1) * nz * nx)
        behind = np.uint64(margin + (j + 1 if j < ny - 1 else 0) * nz * nx)
        for i in range(length):
            w, m = u[row + i], lam[row + i]
            wz, wy, wx = u[row + i - up] - w, u[before + i] - w, u[row + i - one] - w
            mz, my, mx = lam[row + i - up] - m, lam[before + i] - m, lam[row + i - one] - m
            v[row + i] = (w + w - v[row + i]) + (
                fz[row + i] * wz
                + fz[row + i + up] * (u[row + i + up] - w)
                + fy[row + i] * wy
                + fy[behind + i] * (u[behind + i] - w)
                + fx[row + i] * wx
                + fx[row + i + one] * (u[row + i + one] - w)
            )
            mu[row + i] = (m + m - mu[row + i]) + (
                fz[row + i] * mz
                + fz[row + i + up] * (lam[row + i + up] - m)
                + fy[row + i] * my
                + fy[behind + i] * (lam[behind + i] - m)
                + fx[row + i] * mx
                + fx[row + i + one] * (lam[row + i + one] - m)
            )
            gz[row + i] += wz * mz
            gy[row + i] += wy * my
            gx[row + i] += wx * mx
        _corners_and_losses(around, sinks, lossy, u, v, j, nz, nx, row)
        _corners_and_losses(around, sinks, lossy, lam, mu, j, nz, nx, row)
        _gather_corners(u, lam, by_around, by_sinks, j, nz, nx, row)


@njit(**COMPILED)
def _carry_back(
    fz, fy, fx, around, sinks, lossy, u, lam, mu, gz, gy, gx, by_around, by_sinks, nz, nx, margin, first, last
):
    """``_retreat_with`` without the retreat."""
    ny = around.shape[0]
    length, up, one = np.uint64(nz * nx), np.uint64(nx), np.uint64(1)
    for j in range(first, last):
        row = np.uint64(margin + j * nz * nx)
        before = np.uint64(margin + (j - 1 if j > 0 else ny - 1) * nz * nx)
        behind = np.uint64(margin + (j + 1 if j < ny - 1 else 0) * nz * nx)
        for i in range(length):
            w, m = u[row + i], lam[row + i]
            mz, my, mx = lam[row + i - up] - m, lam[before + i] - m, lam[row + i - one] - m
            mu[row + i] = (m + m - mu[row + i]) + (
                fz[row + i] * mz
                + fz[row + i + up] * (lam[row + i + up] - m)
                + fy[row + i] * my
                + fy[behind + i] * (lam[behind + i] - m)
                + fx[row + i] * mx
                + fx[row + i + one] * (lam[row + i + one] - m)
            )
            gz[row + i] += (u[row + i - up] - w) * mz
            gy[row + i] += (u[before + i] - w) * my
            gx[row + i] += (u[row + i - one] - w) * mx
        _corners_and_losses(around, sinks, lossy, lam, mu, j, nz, nx, row)
        _gather_corners(u, lam, by_around, by_sinks, j, nz, nx, row)


@njit(**COMPILED)
def _add_moved(fz, fy, fx, around, sinks, u, v, start, stop, nz, nx, margin, first, last):
    """v <- v + q L' u in some rows, where L' acts on the layers from ``start`` to ``stop`` only."""
    ny = around.shape[0]
    low, high, up, one = np.uint64(start * nx), np.uint64(stop * nx), np.uint64(nx), np.uint64(1)
    for j in range(first, last):
        row = np.uint64(margin + j * nz * nx)
        before = np.uint64(margin + (j - 1 if j > 0 else ny - 1) * nz * nx)
        behind = np.uint64(margin + (j + 1 if j < ny - 1 else 0) * nz * nx)
        for i in range(low, high):
            w = u[row + i]
            v[row + i] += (
                fz[row + i] * (u[row + i - up] - w)
                + fz[row + i + up] * (u[row + i + up] - w)
                + fy[row + i] * (u[before + i] - w)
                + fy[behind + i] * (u[behind + i] - w)
                + fx[row + i] * (u[row + i - one] - w)
                + fx[row + i + one] * (u[row + i + one] - w)
            )
        _corners_and_losses(around, sinks, True, u, v, j, nz, nx, row)


@njit(**COMPILED)
def _show(u, plane, layers, nz, nx, margin, first, last):
    """The observed layers (layer, y, x) of some rows."""
    for n in range(layers.shape[0]):
        for j in range(first, last):
            start = np.uint64(margin + (j * nz + layers[n]) * nx)
            for i in range(np.uint64(nx)):
                plane[n, j, i] = u[start + i]


@njit(**COMPILED)
def _inject(u, plane, layers, nz, nx, margin, first, last):
    """The transpose of ``_show``."""
    for n in range(layers.shape[0]):
        for j in range(first, last):
            start = np.uint64(margin + (j * nz + layers[n]) * nx)
            for i in range(np.uint64(nx)):
                u[start + i] += plane[n, j, i]


@njit(**COMPILED)
def _halve(u, row_length, margin, first, last):
    half = u.dtype.type(0.5)
    for i in range(np.uint64(margin + first * row_length), np.uint64(margin + last * row_length)):
        u[i] *= half


@njit(**COMPILED)
def _forwards(rank, size, chunks, turns, fz, fy, fx, around, sinks, lossy, states, planes, layers, margin):
    """All terms; w_0 is in states[n % 2], the other is 0; w_n comes to lie in states[0], w_{n - 1} in states[1]."""
    (ny, nz), nx, degree = around.shape, planes.shape[3], planes.shape[0] - 1
    for k in range(degree):
        u, v = states[(degree - k) % 2], states[(degree - k + 1) % 2]
        for n in range(chunks):
            chunk = next_chunk(turns, rank, size, chunks, n, k)
            if chunk < 0:
                continue
            first, last = chunk * ny // chunks, (chunk + 1) * ny // chunks
            _advance(fz, fy, fx, around, sinks, lossy, u, v, nz, nx, margin, first, last)
            if k == 0:
                _halve(v, nz * nx, margin, first, last)
                _show(u, planes[0], layers, nz, nx, margin, first, last)
            _show(v, planes[k + 1], layers, nz, nx, margin, first, last)
            finish(turns)
        wait_for(turns, (k + 1) * chunks)


@njit(**COMPILED)
def _backwards(
    rank, size, chunks, turns, fz, fy, fx, around, sinks, lossy, states, adjoint,
    gz, gy, gx, by_around, by_sinks, said, layers, margin,
):  # fmt: skip
    """All terms from the last; ``adjoint`` (2, several, ...) is 0, and lam_0 comes to lie in adjoint[n % 2].

    Step 0 injects into lam_n, step s > 0 is the term k = n - s, but for the last, k = 0, before which lam_1 is halved
    in a step of its own: X instead of 2 X, for lam and for the derivative.
    """
    (ny, nz), nx, count, degree = around.shape, said.shape[4], said.shape[0], said.shape[1] - 1
    for step in range(degree + 2):
        k = degree - step if step < degree else degree - step + 1
        at = (degree - k) % 2
        u, v = states[at], states[1 - at]
        for n in range(chunks):
            chunk = next_chunk(turns, rank, size, chunks, n, step)
            if chunk < 0:
                continue
            first, last = chunk * ny // chunks, (chunk + 1) * ny // chunks
            if step == 0:
                for i in range(count):
                    _inject(adjoint[0, i], said[i, degree], layers, nz, nx, margin, first, last)
            elif step == degree:
                for i in range(count):
                    _halve(adjoint[at, i], nz * nx, margin, first, last)
            elif count == 1:
                lam, mu = adjoint[1 - at, 0], adjoint[at, 0]
                _retreat_with(
                    fz, fy, fx, around, sinks, lossy, u, v, lam, mu,
                    gz[0], gy[0], gx[0], by_around[0], by_sinks[0], nz, nx, margin, first, last,
                )  # fmt: skip
                _inject(mu, said[0, k], layers, nz, nx, margin, first, last)
            else:
                _advance(fz, fy, fx, around, sinks, lossy, u, v, nz, nx, margin, first, last)
                for i in range(count):
                    lam, mu = adjoint[1 - at, i], adjoint[at, i]
                    _carry_back(
                        fz, fy, fx, around, sinks, lossy, u, lam, mu,
                        gz[i], gy[i], gx[i], by_around[i], by_sinks[i], nz, nx, margin, first, last,
                    )  # fmt: skip
                    _inject(mu, said[i, k], layers, nz, nx, margin, first, last)
            finish(turns)
        wait_for(turns, (step + 1) * chunks)


@njit(**COMPILED)
def _along(
    rank, size, chunks, turns, fz, fy, fx, around, sinks, lossy, states, along,
    dz, dy, dx, d_around, d_sinks, reach, planes, layers, margin,
):  # fmt: skip
    """All terms and how they move; states as in ``_forwards``, the w'_0 are in along[n % 2], the others 0."""
    (ny, nz), nx, count, degree = around.shape, planes.shape[4], planes.shape[0], planes.shape[1] - 1
    for k in range(degree):
        at = (degree - k) % 2
        u, v = states[at], states[1 - at]
        for n in range(chunks):
            chunk = next_chunk(turns, rank, size, chunks, n, k)
            if chunk < 0:
                continue
            first, last = chunk * ny // chunks, (chunk + 1) * ny // chunks
            _advance(fz, fy, fx, around, sinks, lossy, u, v, nz, nx, margin, first, last)
            if k == 0:
                _halve(v, nz * nx, margin, first, last)
            for i in range(count):
                now, new = along[at, i], along[1 - at, i]
                _advance(fz, fy, fx, around, sinks, lossy, now, new, nz, nx, margin, first, last)
                _add_moved(
                    dz[i], dy[i], dx[i], d_around[i], d_sinks[i], u, new, reach[i, 0], reach[i, 1],
                    nz, nx, margin, first, last,
                )  # fmt: skip
                if k == 0:
                    _halve(new, nz * nx, margin, first, last)
                    _show(now, planes[i, 0], layers, nz, nx, margin, first, last)
                _show(new, planes[i, k + 1], layers, nz, nx, margin, first, last)
            finish(turns)
        wait_for(turns, (k + 1) * chunks)
