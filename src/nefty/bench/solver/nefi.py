"""nefi, the general library of the paper's authors, on our cases.

``nefi.operators.pde.HeatOperator`` is the paper's forward model: implicit Euler with one step per frame, Jacobi sweeps
and the discrete adjoint. It puts the depth last, so volumes are handed over as (y, x, z).
"""

from __future__ import annotations

import torch
from nefi.domain import Domain  # pyright: ignore[reportMissingImports]
from nefi.operators.pde import HeatOperator  # pyright: ignore[reportMissingImports]

from nefty.bench.solver.case import Case
from nefty.bench.solver.solvers import Built


def heat_operator(case: Case, *, solver: str = "jacobi", sweeps: int = 50) -> Built:
    """nefi's heat operator with the initial temperature of ``case``, float32.

    Args:
        case: the specimen.
        solver: nefi's name of the linear solver: ``"jacobi"``, ``"chebyshev"`` or ``"cg"``.
        sweeps: sweeps per step of the first two.
    """
    nz, ny, nx = case.shape
    depth, height, width = case.size
    domain = Domain((ny, nx, nz), ((0.0, height), (0.0, width), (0.0, depth)), ("x", "y", "z"))
    start = torch.from_numpy(case.initial()).permute(1, 2, 0).contiguous()
    operator = HeatOperator(domain, dt=case.dt, n_steps=case.frames, initial=start, solver=solver, inner_iters=sweeps)

    def forward(alpha: torch.Tensor) -> torch.Tensor:
        return operator({"alpha": alpha.permute(1, 2, 0).contiguous()})

    return Built(forward)
