"""How the systems (I - s L) x = b of an implicit step are solved, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from nefty.core.checks import count, number
from nefty.core.errors import ConvergenceError
from nefty.physics.kernels import Array, Kernel
from nefty.physics.status import Status

JACOBI_TOLERANCE = 1e-4  # residual above which Jacobi's status says "not converged": a camera's noise floor


@dataclass(frozen=True)
class Jacobi:
    """The paper's fixed number of Jacobi sweeps, started from the previous state (appendix D.2).

    The residual that is left is recorded in the status; it is not an error, since the paper has none either. The
    adjoint takes the solves for exact (as the paper does), so a gradient is only as good as the sweeps.

    Args:
        sweeps: K, 50 in the paper.
    """

    sweeps: int = 50

    def __post_init__(self) -> None:
        count("sweeps", self.sweeps)


@dataclass(frozen=True)
class ConjugateGradients:
    """Conjugate gradients, preconditioned by exact solves along z, the stiff direction of a slab.

    Args:
        tolerance: |b - A x| <= tolerance |b|; by default 1e-6 in float32 and 1e-12 in float64, or what rounding allows
            where a step is so long that it is more.
        most: iterations after which a ``ConvergenceError`` is raised.
    """

    tolerance: float | None = None
    most: int = 500

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            number("tolerance", self.tolerance, above=0)
        count("most", self.most)

    def tolerance_for(self, precision: str, stiffness: float) -> float:
        """The tolerance in force; the residual of rounded numbers cannot fall much below eps times ``stiffness``."""
        if self.tolerance is not None:
            return self.tolerance
        usual, eps = (1e-6, 1.2e-7) if precision == "float32" else (1e-12, 2.2e-16)
        return max(usual, eps * stiffness / 4)


class Solver:
    """Solves (I - s L) x = b for one operator and a few values of s.

    Args:
        method: ``Jacobi`` or ``ConjugateGradients``.
        kernel: where the work is done.
        op: L, prepared by the kernel.
        bound: of the largest eigenvalue of -L.
        precision: ``"float32"`` or ``"float64"``.
        status: where the work is counted.
    """

    def __init__(
        self,
        method: Jacobi | ConjugateGradients,
        kernel: Kernel,
        op: Array,
        bound: float,
        precision: str,
        status: Status,
    ) -> None:
        self._method, self._kernel, self._op, self._status = method, kernel, op, status
        self._bound, self._precision = bound, precision
        self._factors: dict[float, Array] = {}

    def __call__(self, s: float, rhs: Array, guess: Array) -> Array:
        """Return x with (I - s L) x = rhs."""
        kernel, status, method = self._kernel, self._status, self._method
        if isinstance(method, Jacobi):
            if s not in self._factors:
                self._factors[s] = kernel.jacobi_factors(self._op, s)
            x = kernel.jacobi(self._op, s, rhs, guess, method.sweeps, self._factors[s])
            iterations, residual = method.sweeps, kernel.relative_residual(self._op, s, rhs, x)
            status.converged &= residual <= JACOBI_TOLERANCE
        else:
            if s not in self._factors:
                self._factors[s] = kernel.line_factors(self._op, s)
            tolerance = method.tolerance_for(self._precision, 1 + s * self._bound)
            x, iterations, residual = kernel.conjugate_gradients(
                self._op, s, self._factors[s], rhs, guess, tolerance, method.most
            )
            if not residual <= tolerance:
                raise ConvergenceError(
                    f"conjugate gradients stopped at a relative residual of {residual:.1e} after {iterations} "
                    f"iterations; the tolerance is {tolerance:.1e}. Raise `most` (now {method.most}), loosen the "
                    'tolerance, use dtype="float64", or shorten the time steps.'
                )
        status.solves += 1
        status.iterations += iterations
        status.applications += iterations
        status.worst_residual = max(status.worst_residual, residual)
        return x
