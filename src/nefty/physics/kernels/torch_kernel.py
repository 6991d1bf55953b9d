"""The same operations in torch, for any device, and differentiable by plain autograd.

Nothing here works in place on an argument, so that autograd can go through every method but ``accumulate``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor


class Operator(NamedTuple):
    """L as tensors; ``loss`` (z, y, x) is the sinks as a volume, None where no face loses heat."""

    faces: Tensor
    sinks: Tensor
    loss: Tensor | None


class TorchKernel:
    """The operations on torch tensors."""

    name = "torch"

    def array(self, tensor: Tensor) -> Tensor:
        """The tensor itself, cut from the graph."""
        return tensor.detach()

    def constant(self, values: np.ndarray, like: Tensor) -> Tensor:
        """``values`` in the precision and on the device of ``like``."""
        return torch.tensor(values, dtype=like.dtype, device=like.device)

    def tensor(self, array: Tensor) -> Tensor:
        """The tensor itself."""
        return array

    def zeros(self, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """Zeros in the precision and on the device of ``like``."""
        return torch.zeros(shape, dtype=like.dtype, device=like.device)

    def stack(self, arrays: list[Tensor]) -> Tensor:
        """Stack along a new first axis."""
        return torch.stack(arrays)

    def layers(self, u: Tensor, layers: tuple[int, ...]) -> Tensor:
        """A copy of some layers of ``u``, (layer, y, x)."""
        return u[list(layers)]

    def contract(self, coefficients: Tensor, planes: Tensor) -> Tensor:
        """sum_k C[t, k] planes[k]."""
        return (coefficients @ planes.flatten(1)).reshape(-1, *planes.shape[1:])

    def operator(self, faces: Tensor, sinks: Tensor) -> Operator:
        """Prepare L."""
        if not sinks.requires_grad and not sinks.any():
            return Operator(faces, sinks, None)
        nz = faces.shape[1]
        inner = torch.zeros((max(nz - 2, 0), *sinks.shape[1:]), dtype=sinks.dtype, device=sinks.device)
        loss = torch.cat([sinks[:1], inner, sinks[1:]]) if nz > 1 else sinks.sum(0, keepdim=True)
        return Operator(faces, sinks, loss)

    def combine(
        self, op: Operator, u: Tensor, a: float, v: Tensor, b: float, c: float, out: Tensor | None = None
    ) -> Tensor:
        """Return a u + b v + c L u; ``out`` is only there to match the Numba kernel."""
        total = a * u + b * v
        for axis in range(3):
            flux = op.faces[axis] * (u - u.roll(1, axis))
            total = total + c * (flux.roll(-1, axis) - flux)
        return total if op.loss is None else total - c * op.loss * u

    def sweep(self, op: Operator, q: float, start: Tensor, degree: int, layers: tuple[int, ...]) -> None:
        """There is none: the integrator goes from term to term."""

    def accumulate(self, gradient: Operator, lam: Tensor, u: Tensor, weight: float) -> None:
        """Add ``weight`` d(lam^T L u)/d(conductances) to ``gradient``."""
        for axis in range(3):
            gradient.faces[axis].addcmul_(lam - lam.roll(1, axis), u - u.roll(1, axis), value=-weight)
        gradient.sinks[0].addcmul_(lam[0], u[0], value=-weight)
        gradient.sinks[1].addcmul_(lam[-1], u[-1], value=-weight)

    def diagonal(self, op: Operator, s: float) -> Tensor:
        """The diagonal of I - s L."""
        total = 1 + s * sum(op.faces[a] + op.faces[a].roll(-1, a) for a in range(3))
        assert isinstance(total, Tensor)
        return total if op.loss is None else total + s * op.loss

    def line_factors(self, op: Operator, s: float) -> tuple[Tensor, Tensor]:
        """Factor the z-lines of I - s L: inverse pivots and multipliers."""
        diagonal, off = self.diagonal(op, s), -s * op.faces[0]
        inverse, multiplier = [1 / diagonal[0]], [torch.zeros_like(off[0])]
        for k in range(1, diagonal.shape[0]):
            multiplier.append(off[k] * inverse[-1])
            inverse.append(1 / (diagonal[k] - multiplier[k] * off[k]))
        return torch.stack(inverse), torch.stack(multiplier)

    def _precondition(self, factors: tuple[Tensor, Tensor], r: Tensor) -> Tensor:
        inverse, multiplier = factors
        lines = [r[0]]
        for k in range(1, r.shape[0]):
            lines.append(r[k] - multiplier[k] * lines[-1])
        lines[-1] = lines[-1] * inverse[-1]
        for k in range(r.shape[0] - 2, -1, -1):
            lines[k] = lines[k] * inverse[k] - multiplier[k + 1] * lines[k + 1]
        return torch.stack(lines)

    def conjugate_gradients(
        self,
        op: Operator,
        s: float,
        factors: tuple[Tensor, Tensor],
        rhs: Tensor,
        guess: Tensor,
        tolerance: float,
        most: int,
    ) -> tuple[Tensor, int, float]:
        """Solve (I - s L) x = rhs; return x, the iterations and the relative residual."""
        limit = tolerance * _norm(rhs)
        if limit == 0:
            return torch.zeros_like(rhs), 0, 0.0
        x, iterations, before = guess, 0, float("inf")
        # As in the Numba kernel: rounds that begin with the true residual, until it is small or a round gains nothing.
        while True:
            r = self.combine(op, x, -1.0, rhs, 1.0, s)
            residual = _norm(r)
            if not residual > limit or iterations >= most or residual > 0.5 * before:
                return x, iterations, tolerance * residual / limit
            before = residual
            z = self._precondition(factors, r)
            p, rz = z, _dot(r, z)
            while residual > limit and iterations < most:
                q = self.combine(op, p, 1.0, p, 0.0, -s)
                step = (rz / _dot(p, q)).to(p.dtype)
                x, r = x + step * p, r - step * q
                z = self._precondition(factors, r)
                rz, previous = _dot(r, z), rz
                p = z + (rz / previous).to(p.dtype) * p
                residual, iterations = _norm(r), iterations + 1

    def jacobi_factors(self, op: Operator, s: float) -> Tensor:
        """The inverse diagonal of I - s L."""
        return 1 / self.diagonal(op, s)

    def jacobi(
        self, op: Operator, s: float, rhs: Tensor, guess: Tensor, sweeps: int, factors: Tensor | None = None
    ) -> Tensor:
        """The paper's eq. (jacobi_iter): a fixed number of Jacobi sweeps for (I - s L) x = rhs."""
        inverse = self.jacobi_factors(op, s) if factors is None else factors
        towards = [s * inverse * op.faces[axis] for axis in range(3)]
        away = [s * inverse * op.faces[axis].roll(-1, axis) for axis in range(3)]
        start = inverse * rhs
        x = guess
        for _ in range(sweeps):
            total = start
            for axis in range(3):
                total = torch.addcmul(total, towards[axis], x.roll(1, axis))
                total = torch.addcmul(total, away[axis], x.roll(-1, axis))
            x = total
        return x

    def relative_residual(self, op: Operator, s: float, rhs: Tensor, x: Tensor) -> float:
        """|rhs - (I - s L) x| / |rhs|."""
        with torch.no_grad():
            residual = self.combine(op, x, -1.0, rhs, 1.0, s)
        return _norm(residual) / max(_norm(rhs), 1e-300)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """The inner product in float64, where the device has it."""
    precision = torch.float32 if a.device.type == "mps" else torch.float64
    return (a.to(precision) * b.to(precision)).sum()


def _norm(a: Tensor) -> float:
    """The 2-norm in float64, as a number."""
    return float(_dot(a.detach(), a.detach()).sqrt())
