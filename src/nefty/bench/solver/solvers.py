"""Every solver that can be measured, by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nefty.core.errors import MissingExtraError, unknown_name
from nefty.core.machine import is_installed, remedy

if TYPE_CHECKING:
    import torch

    from nefty.bench.solver.case import Case


@dataclass(frozen=True)
class Built:
    """A solver ready to run.

    Args:
        forward: diffusivity (z, y, x) to frames (t, y, x), as torch tensors, differentiable.
        counters: what the last call cost, such as ``{"applications": 300}``.
        dtype: the number format that ``forward`` wants its diffusivity in.
    """

    forward: Callable[[torch.Tensor], torch.Tensor]
    counters: Callable[[], dict[str, Any]] = dict
    dtype: str = "float32"


@dataclass(frozen=True)
class Solver:
    """A row of the efficiency table.

    Args:
        name: what one types.
        title: what the table says.
        where: ``"module:function"`` that takes a ``Case`` and ``settings`` and returns a ``Built``.
        settings: keyword arguments of that function.
        package: library it needs beyond nefty's own, by the name one imports.
        extra: nefty's extra that installs it.
        note: what a reader of the table has to know.
    """

    name: str
    title: str
    where: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    package: str | None = None
    extra: str | None = None
    note: str = ""

    @property
    def installed(self) -> bool:
        """Whether its library is there (it is not imported)."""
        return is_installed(self.package)

    @property
    def remedy(self) -> str:
        """What to do where it is not."""
        return remedy(self.extra)

    def build(self, case: Case, **changes: Any) -> Built:
        """Import the library and prepare ``case``; ``changes`` replace settings."""
        if not self.installed:
            raise MissingExtraError(f"{self.title} is {self.remedy}")
        module, function = self.where.split(":")
        return getattr(importlib.import_module(module), function)(case, **{**self.settings, **changes})


_OURS = "nefty.bench.solver.ours:heat_model"
_PAPER = {"integrator": "implicit-euler", "solver": "jacobi", "kernel": "torch"}

SOLVERS = {
    s.name: s
    for s in (
        Solver(
            "ad",
            "paper's algorithm, autograd (AD)",
            _OURS,
            {**_PAPER, "derivative": "autograd"},
            note="implicit Euler, 50 Jacobi sweeps, torch, derivative by autograd through every sweep",
        ),
        Solver(
            "am",
            "paper's algorithm, adjoint (AM)",
            _OURS,
            {**_PAPER, "derivative": "adjoint"},
            note="implicit Euler, 50 Jacobi sweeps, torch, discrete adjoint; the yardstick of the ratios",
        ),
        Solver(
            "chebyshev",
            "nefty, default (Chebyshev)",
            _OURS,
            {"integrator": "chebyshev"},
            note="all frames from one Chebyshev expansion of exp(tL), Numba",
        ),
        Solver(
            "sdirk2",
            "nefty, SDIRK2 + CG",
            _OURS,
            {"integrator": "sdirk2"},
            note="one step per frame, preconditioned conjugate gradients to 1e-6, Numba",
        ),
        Solver(
            "phiflow-explicit",
            "PhiFlow explicit",
            "nefty.bench.solver.phiflow:explicit",
            {"face_mean": "harmonic"},
            package="phi",
            extra="phiflow",
            note="forward Euler, substeps by the rule of paper E.1 with the limit 1/(2 alpha_max sum 1/dx^2), harmonic "
            "faces, jitted; derivative by torch autograd through every substep",
        ),
        Solver(
            "phiflow-explicit-min",
            "PhiFlow explicit, its own faces",
            "nefty.bench.solver.phiflow:explicit",
            {"face_mean": "min"},
            package="phi",
            extra="phiflow",
            note="diffuse.explicit as it comes: the smaller diffusivity of the two cells on a face, so it solves "
            "another problem and its error holds that bias",
        ),
        Solver(
            "phiflow-implicit",
            "PhiFlow implicit",
            "nefty.bench.solver.phiflow:implicit",
            {"tolerance": 1e-6},
            package="phi",
            extra="phiflow",
            note="implicit Euler, matrix-free CG to 1e-6 with a jitted operator, harmonic faces; its own "
            "diffuse.implicit builds a matrix and overflows above 46,340 cells",
        ),
        Solver(
            "nefi",
            "nefi (paper's authors)",
            "nefty.bench.solver.nefi:heat_operator",
            {"solver": "jacobi"},
            package="nefi",
            extra="peers",
            note="nefi's HeatOperator with its defaults: implicit Euler, 50 Jacobi sweeps, discrete adjoint",
        ),
        Solver(
            "nefi-chebyshev",
            "nefi, its fastest setting",
            "nefty.bench.solver.nefi:heat_operator",
            {"solver": "chebyshev", "sweeps": 20},
            package="nefi",
            extra="peers",
            note='nefi\'s HeatOperator with solver="chebyshev" and the 20 sweeps that its docs name as equal to 50 '
            "of Jacobi",
        ),
    )
}

#: Rows of the paper's efficiency table; the others are there for the asking.
EFFICIENCY_TABLE = ("ad", "am", "chebyshev", "sdirk2", "phiflow-explicit", "phiflow-implicit", "nefi", "nefi-chebyshev")


def solver(name: str) -> Solver:
    """The solver called ``name``, or an error with the nearest name."""
    if name not in SOLVERS:
        raise unknown_name("solver", name, SOLVERS)
    return SOLVERS[name]
