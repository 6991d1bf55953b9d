"""What a reconstruction cost."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """What a reconstruction cost; 0 for what does not apply.

    Args:
        preparation: seconds before the first iteration.
        optimisation: seconds of the iterations.
        evaluations: of the objective, or of the method's own model.
        unknowns: numbers that were sought.
        collocation: points at which a PINN compares its equation, in each iteration.
    """

    preparation: float = 0.0
    optimisation: float = 0.0
    evaluations: int = 0
    unknowns: int = 0
    collocation: int = 0
