"""What a run of the model did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Status:
    """What a run of the model did.

    Attributes:
        applications: how often the operator L was applied, the unit of cost; linear solves and derivatives included.
        solves: linear systems solved.
        iterations: iterations or sweeps over all of them.
        worst_residual: the largest relative residual that a solve left.
        converged: False where a solve with a fixed number of sweeps left more than ``JACOBI_TOLERANCE``.
        time_error_bound: for ``Chebyshev``, the bound of what the expansion leaves out, in the 2-norm of every state,
            relative to the initial temperature or to the heat that the pulse brings; rounding comes on top.
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
        bound = "" if self.time_error_bound is None else f", error in time below {self.time_error_bound:.1e}"
        return f"{self.applications} applications of the operator{bound}."
