"""How the systems (I - s L) x = b of an implicit step are solved, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from nefty.core.checks import count, number
from nefty.core.errors import ConvergenceError
from nefty.physics.kernels import Array, Kernel


@dataclass(frozen=True)
class Jacobi:
    """The paper's fixed number of Jacobi sweeps, started from the previous state (appendix D.2).

    The residual that is left is recorded in the status; it is not an error, since the paper has none either.

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
        tolerance: |b - A x| <= tolerance |b|; by default 1e-6 in float32 and 1e-12 in float64.
        most: iterations after which a ``ConvergenceError`` is raised.
    """

    tolerance: float | None = None
    most: int = 500

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            number("tolerance", self.tolerance, above=0)
        count("most", self.most)

    def tolerance_for(self, dtype_name: str) -> float:
        """The tolerance in force for a precision."""
        if self.tolerance is not None:
            return self.tolerance
        return 1e-6 if dtype_name == "float32" else 1e-12


@dataclass
class Status:
    """What a run of the model did.

    Attributes:
        applications: how often the operator L was applied, the unit of cost; linear solves and derivatives included.
        solves: linear systems solved.
        iterations: iterations or sweeps over all of them.
        worst_residual: the largest relative residual that a solve left.
        converged: False where a solve with a fixed number of sweeps left more than ``tolerance``.
        time_error_bound: for ``Chebyshev``, the guaranteed bound of the error in time of every state, relative to the
            2-norm of the initial temperature, or of the heat that the pulse brings.
        states_held: volumes of the trajectory that were held at once, at the most.
    """

    applications: int = 0
    solves: int = 0
    iterations: int = 0
    worst_residual: float = 0.0
    converged: bool = True
    time_error_bound: float | None = None
    states_held: int = 0

    def message(self) -> str:
        """One sentence for people."""
        if not self.converged:
            return (
                f"not converged: a linear solve left a relative residual of {self.worst_residual:.1e}; raise the "
                "number of sweeps, shorten the steps, or use ConjugateGradients."
            )
        if self.solves:
            return (
                f"{self.solves} linear solves, {self.iterations} iterations, worst residual {self.worst_residual:.1e}."
            )
        return f"{self.applications} applications of the operator, error in time below {self.time_error_bound:.1e}."


JACOBI_TOLERANCE = 1e-4  # residual above which Jacobi's status says "not converged": a camera's noise floor


class Solver:
    """Solves (I - s L) x = b for one operator and a few values of s.

    Args:
        method: ``Jacobi`` or ``ConjugateGradients``.
        kernel: where the work is done.
        op: L, prepared by the kernel.
        dtype_name: ``"float32"`` or ``"float64"``.
        status: where the work is counted.
    """

    def __init__(
        self, method: Jacobi | ConjugateGradients, kernel: Kernel, op: Array, dtype_name: str, status: Status
    ) -> None:
        self._method, self._kernel, self._op, self._status = method, kernel, op, status
        self._dtype_name = dtype_name
        self._factors: dict[float, Array] = {}

    def __call__(self, s: float, rhs: Array, guess: Array) -> Array:
        """Return x with (I - s L) x = rhs."""
        kernel, status, method = self._kernel, self._status, self._method
        if isinstance(method, Jacobi):
            x = kernel.jacobi(self._op, s, rhs, guess, method.sweeps)
            iterations, residual = method.sweeps, kernel.relative_residual(self._op, s, rhs, x)
            status.converged &= residual <= JACOBI_TOLERANCE
        else:
            if s not in self._factors:
                self._factors[s] = kernel.line_factors(self._op, s)
            tolerance = method.tolerance_for(self._dtype_name)
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
