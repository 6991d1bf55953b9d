"""Any kernel for the operator S (L - diag(sinks)) S, with sinks in any cell and weights S = C^(-1/2) of the cells.

C du/dt = L u becomes dv/dt = S L S v by v = C^(1/2) u: symmetric again, so that expansion, adjoint and bound hold. L
itself stays with the kernel inside; what is added here costs a few more passes over the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nefty.physics.kernels import Array, Kernel, Sweep


class Operator(NamedTuple):
    """L of the inner kernel, without sinks; ``sinks`` (z, y, x) in 1/time."""

    inner: Array
    faces: Array
    sinks: Array


class WeightedKernel:
    """The operations of ``inner`` on S (L - diag(sinks)) S.

    Args:
        inner: where the work is done.
        weights: S, (z, y, x), as its array; None for 1.
    """

    def __init__(self, inner: Kernel, weights: Array | None) -> None:
        self._inner, self._weights, self.name = inner, weights, inner.name

    def array(self, tensor: Tensor) -> Array:
        """As the inner kernel."""
        return self._inner.array(tensor)

    def tensor(self, array: Array) -> Tensor:
        """As the inner kernel."""
        return self._inner.tensor(array)

    def constant(self, values: np.ndarray, like: Array) -> Array:
        """As the inner kernel."""
        return self._inner.constant(values, like)

    def zeros(self, shape: tuple[int, ...], like: Array) -> Array:
        """As the inner kernel."""
        return self._inner.zeros(shape, like)

    def stack(self, arrays: list[Array]) -> Array:
        """As the inner kernel."""
        return self._inner.stack(arrays)

    def layers(self, u: Array, layers: tuple[int, ...]) -> Array:
        """As the inner kernel."""
        return self._inner.layers(u, layers)

    def contract(self, coefficients: Array, planes: Array) -> Array:
        """As the inner kernel."""
        return self._inner.contract(coefficients, planes)

    def operator(self, faces: Array, sinks: Array) -> Operator:
        """L from conductances (3, z, y, x) and sinks of all cells (z, y, x)."""
        none = self._inner.zeros((2, *faces.shape[2:]), faces)
        return Operator(self._inner.operator(faces, none), faces, sinks)

    def combine(
        self, op: Operator, u: Array, a: float, v: Array, b: float, c: float, out: Array | None = None
    ) -> Array:
        """Return a u + b v + c S (L - sinks) S u."""
        if self._weights is None:
            return self._inner.combine(op.inner, u, a, v, b, c, out) - c * op.sinks * u
        w = self._weights * u
        flux = self._inner.combine(op.inner, w, 0.0, w, 0.0, c, out) - c * op.sinks * w
        return a * u + b * v + self._weights * flux

    def sweep(self, op: Operator, q: float, start: Array, degree: int, layers: tuple[int, ...]) -> Sweep | None:
        """That of the inner kernel, whose sinks may be in any cell; with weights the integrator goes term by term."""
        if self._weights is not None:
            return None
        return self._inner.sweep(self._inner.operator(op.faces, op.sinks), q, start, degree, layers)

    def accumulate(self, gradient: Operator, lam: Array, u: Array, weight: float) -> None:
        """Add ``weight`` d(lam^T S (L - sinks) S u)/d(conductances, sinks) to ``gradient``."""
        if self._weights is not None:
            lam, u = self._weights * lam, self._weights * u
        self._inner.accumulate(gradient.inner, lam, u, weight)
        sinks = gradient.sinks
        sinks -= weight * lam * u

    def line_factors(self, op: Operator, s: float) -> Array:
        """The inverse diagonal of I - s S (L - sinks) S, the preconditioner here."""
        with torch.no_grad():
            faces = self.tensor(op.faces)
            total = self.tensor(op.sinks) + sum(faces[a] + faces[a].roll(-1, a) for a in range(3))
            if self._weights is not None:
                total = self.tensor(self._weights) ** 2 * total
            return self.array(1 / (1 + s * total))

    def conjugate_gradients(
        self, op: Operator, s: float, factors: Array, rhs: Array, guess: Array, tolerance: float, most: int
    ) -> tuple[Array, int, float]:
        """Solve (I - s S (L - sinks) S) x = rhs; return x, the iterations and the relative residual."""
        limit = tolerance * self._norm(rhs)
        if limit == 0:
            return 0 * rhs, 0, 0.0
        x, iterations, before = guess, 0, float("inf")
        # As in the inner kernels: rounds that begin with the true residual, until it is small or a round gains nothing.
        while True:
            r = self.combine(op, x, -1.0, rhs, 1.0, s)
            residual = self._norm(r)
            if not residual > limit or iterations >= most or residual > 0.5 * before:
                return x, iterations, tolerance * residual / limit
            before = residual
            p = z = factors * r
            rz = self._dot(r, z)
            while residual > limit and iterations < most:
                q = self.combine(op, p, 1.0, p, 0.0, -s)
                step = rz / self._dot(p, q)
                x, r = x + step * p, r - step * q
                z = factors * r
                rz, previous = self._dot(r, z), rz
                p = z + rz / previous * p
                residual, iterations = self._norm(r), iterations + 1

    def jacobi_factors(self, op: Operator, s: float) -> Array:
        """The inverse diagonal of I - s S (L - sinks) S."""
        return self.line_factors(op, s)

    def jacobi(
        self, op: Operator, s: float, rhs: Array, guess: Array, sweeps: int, factors: Array | None = None
    ) -> Array:
        """A fixed number of Jacobi sweeps, x + D^-1 (rhs - (I - s S (L - sinks) S) x)."""
        inverse, x = self.line_factors(op, s) if factors is None else factors, guess
        for _ in range(sweeps):
            x = x + inverse * self.combine(op, x, -1.0, rhs, 1.0, s)
        return x

    def relative_residual(self, op: Operator, s: float, rhs: Array, x: Array) -> float:
        """|rhs - (I - s S (L - sinks) S) x|/|rhs|."""
        return self._norm(self.combine(op, x, -1.0, rhs, 1.0, s)) / max(self._norm(rhs), 1e-300)

    def _dot(self, a: Array, b: Array) -> float:
        one, other = (self.tensor(x).detach() for x in (a, b))
        precision = torch.float32 if one.device.type == "mps" else torch.float64
        return float((one.to(precision) * other.to(precision)).sum())

    def _norm(self, a: Array) -> float:
        return self._dot(a, a) ** 0.5
