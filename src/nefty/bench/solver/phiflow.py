"""PhiFlow on our cases: explicit as the paper makes its data, implicit by matrix-free conjugate gradients.

PhiFlow names its axes, and its vectors follow the order x, y, z; volumes are handed over as (x, y, z). Its gradients
come from torch's autograd, which it runs on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from phi import field, math  # pyright: ignore[reportMissingImports]
from phi.torch.flow import (  # pyright: ignore[reportMissingImports]
    CenteredGrid,
    Field,
    Solve,
    spatial,
)
from phiml.math.extrapolation import NONE  # pyright: ignore[reportMissingImports]

from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import Built
from nefty.core.checks import one_of
from nefty.synth.phiflow_engine import FACE_MEANS, box_of, diffusion, sides, substeps_for

SIDES = sides("periodic")


def explicit(case: Case, *, face_mean: str = "harmonic") -> Built:
    """Forward Euler with a jitted function per frame.

    Args:
        case: the specimen.
        face_mean: ``"harmonic"``, or ``"min"``, which is what ``diffuse.explicit`` takes.
    """
    mean = FACE_MEANS[one_of("face_mean", face_mean, FACE_MEANS)]
    substeps = stable_substeps(case)
    box = box_of(case.size)

    @math.jit_compile
    def frame(temperature, alpha):
        u = CenteredGrid(temperature, SIDES, bounds=box)
        faces = field.stagger(CenteredGrid(alpha, SIDES, bounds=box), mean, NONE)
        for _ in range(substeps):
            u = u.with_values(u.values + case.dt / substeps * diffusion(u, faces))
        return u.values

    return Built(_rollout(case, frame), counters=lambda: {"substeps": substeps})


def implicit(case: Case, *, tolerance: float = 1e-6) -> Built:
    """Implicit Euler, one step per frame, by PhiFlow's conjugate gradients without a matrix.

    PhiFlow differentiates such a solve for its right-hand side b only; the derivative for the operator A needs an
    assembled matrix there (``grad_for_f``), which overflows above 46,340 cells. So it is chained by the implicit
    function theorem from what PhiFlow offers: x + A^-1 (b - A(alpha) x), where x and A are held constant in the solve.
    The second term is zero, costs no iteration going forward, and has the derivative of the solution.

    Args:
        case: the specimen.
        tolerance: relative residual at which conjugate gradients stop, forward and backward.
    """
    box = box_of(case.size)
    harmonic = FACE_MEANS["harmonic"]
    iterations = []

    def faces_of(alpha):
        return field.stagger(CenteredGrid(alpha, SIDES, bounds=box), harmonic, NONE).values

    def euler(temperature, faces):
        u = CenteredGrid(temperature, SIDES, bounds=box)
        return u.values - case.dt * diffusion(u, Field(u.geometry, faces, NONE))

    jitted = math.jit_compile(euler)

    def frame(temperature, alpha):
        with torch.no_grad():
            held = faces_of(math.stop_gradient(alpha))
            start = math.stop_gradient(temperature)
            with math.SolveTape() as tape:
                solve = Solve("CG", tolerance, 0, x0=start)
                x = math.stop_gradient(math.solve_linear(lambda u: jitted(u, held), start, solve))
            iterations.append(int(tape[0].iterations))
        if not torch.is_grad_enabled():
            return x
        gap = temperature - euler(x, faces_of(alpha))
        nothing_to_do = Solve("CG", tolerance, 1e30, x0=x * 0, gradient_solve=Solve("CG", tolerance, 0))
        return x + math.solve_linear(lambda u: jitted(u, held), gap, nothing_to_do)

    def counters() -> dict[str, Any]:
        return {"iterations": sum(iterations[-case.frames :])}

    return Built(_rollout(case, frame), counters=counters)


def stable_substeps(case: Case) -> int:
    """Substeps per frame by the paper's rule; see ``substeps_for``."""
    return substeps_for(case.dt, case.bulk, case.grid.spacing)


def _rollout(case: Case, frame) -> Callable[[torch.Tensor], torch.Tensor]:
    """All frames of the front face by one call of ``frame`` each."""
    start = torch.from_numpy(np.ascontiguousarray(case.initial().T)).float()
    axes = spatial("x,y,z")

    def forward(alpha: torch.Tensor) -> torch.Tensor:
        diffusivity = math.tensor(alpha.permute(2, 1, 0).contiguous(), axes)
        temperature, front = math.tensor(start, axes), []
        for _ in range(case.frames):
            temperature = frame(temperature, diffusivity)
            front.append(temperature.native("z,y,x")[0])
        return torch.stack(front)

    return forward
