"""Can a variant learn at all? A forward problem with known diffusivity, whose solution is a sum of decaying modes.

Where the diffusivity is known there is nothing to invert: initial temperature and heat equation decide all. A variant
that fails here is wrong or badly set; one that passes here and fails to find defects shows what inversion adds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from nefty.core.grid import Grid
from nefty.pinn.loop import train
from nefty.pinn.points import Product, Scattered
from nefty.pinn.problem import Problem, residual_scale
from nefty.pinn.separable import SeparableNetwork
from nefty.pinn.settings import resolve
from nefty.pinn.variants import build_temperature

SLAB = Grid((16, 64, 64), (1.0, 10.0, 10.0))
ALPHA, SPAN = 0.15, 5.0
JUDGED = 16  # points per axis at which the answer is compared

#: Small enough for a processor without a graphics card.
SMALL: dict[str, Any] = {
    "temperature.depth": 4,
    "temperature.width": 64,
    "points.collocation": 1024,
    "points.initial": 512,
    "points.axes": (24, 16, 16, 16),
    "rates.temperature": 5e-3,
    "rates.final": 0.01,
}


@dataclass(frozen=True)
class Mode:
    """amplitude * cos(m_z pi z/H) cos(2 pi m_y y/L_y) cos(2 pi m_x x/L_x)."""

    amplitude: float
    numbers: tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class CosineModes:
    """T(t, z, y, x) of a slab of one material with periodic sides and adiabatic faces, at coordinates from -1 to 1.

    Args:
        modes: of the initial temperature.
        size: edge lengths (z, y, x).
        alpha: diffusivity.
        span: time of the coordinate 1.
    """

    modes: Sequence[Mode]
    size: tuple[float, float, float] = SLAB.size
    alpha: float = ALPHA
    span: float = SPAN

    def __call__(self, u: Tensor) -> Tensor:
        """T (n,) at u (n, 4)."""
        turns = [math.pi / 2, math.pi, math.pi]  # per unit of the coordinate and per mode number
        total = torch.zeros(len(u), dtype=u.dtype)
        for mode in self.modes:
            k = [2 * c * m / s for c, m, s in zip(turns, mode.numbers, self.size, strict=True)]
            rate = self.alpha * sum(one**2 for one in k) * self.span / 2
            part = mode.amplitude * torch.exp(-rate * (u[:, 0] + 1))
            for axis, (c, m) in enumerate(zip(turns, mode.numbers, strict=True), start=1):
                part = part * torch.cos(c * m * (u[:, axis] + 1))
            total = total + part
        return total

    def initial(self, place: Tensor) -> Tensor:
        """T (n,) at the flash, at places (n, 3)."""
        return self(torch.cat([-torch.ones_like(place[:, :1]), place], dim=1))


def flash_modes(depth: float = 0.2, highest: int = 8) -> list[Mode]:
    """A flash exp(-z^2/(2 d^2)) in a slab of thickness 1, times (1 - cos/2)/1.5 along y and x: brightest in the middle.

    Args:
        depth: d, so small that nothing reaches the back face.
        highest: mode number along z.
    """
    found = []
    for n in range(highest + 1):
        along = depth * math.sqrt(math.pi / 2) * math.exp(-((n * math.pi * depth) ** 2) / 2) * (1 if n == 0 else 2)
        for y in (0, 1):
            for x in (0, 1):
                found.append(Mode(along * (-0.5) ** (y + x) / 2.25, (n, y, x)))
    return found


class KnownDiffusivity:
    """One number everywhere.

    Args:
        alpha: the diffusivity.
    """

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha

    def at(self, points: Tensor, size: Any = None) -> Tensor:
        """Diffusivity (n,); formally differentiable in the points."""
        return self.alpha + 0 * points[:, 0]


@dataclass(frozen=True)
class ForwardError:
    """How well a variant solved it.

    Args:
        error: root mean square error over that of the solution, over time and space.
        iterations: done.
        seconds: of the processor spent on them.
    """

    error: float
    iterations: int
    seconds: float


def forward_error(
    variant: str,
    rule: str = "center",
    *,
    solution: CosineModes | None = None,
    seconds: float | None = None,
    iterations: int = 6000,
    changes: Mapping[str, Any] | None = None,
) -> ForwardError:
    """Train a variant on a forward problem and compare it with the solution.

    Args:
        variant: ``"gradnorm"``, ``"spinn"``, ``"causal"`` or ``"dcgd"``.
        rule: of DCGD.
        solution: to be found; after a flash with an absorption depth, in the paper's slab, if not given.
        seconds: of wall clock, at most.
        iterations: at most.
        changes: settings that differ from ``SMALL``.
    """
    given = {**SMALL, "variant": variant, "rule": rule, "iterations": iterations, "seconds": seconds, **(changes or {})}
    settings = resolve(given)
    solution = solution or CosineModes(flash_modes())
    problem = _problem(solution)
    generator = torch.Generator().manual_seed(settings.seed)
    temperature = build_temperature(settings, problem, generator)
    began = time.process_time()
    training = train(problem, temperature, KnownDiffusivity(solution.alpha), settings, generator=generator)
    spent = time.process_time() - began

    axis = torch.linspace(-1, 1, JUDGED)
    u = torch.cartesian_prod(axis, axis, axis, axis)
    with torch.no_grad():
        points = Product((axis, axis, axis, axis)) if isinstance(temperature, SeparableNetwork) else Scattered(u)
        wrong = temperature(points).flatten() - solution(u)
    return ForwardError(float(wrong.norm() / solution(u).norm()), training.iterations, spent)


def _problem(solution: CosineModes) -> Problem:
    """The forward problem of a solution: no frames."""
    weights = torch.tensor([(2 / size) ** 2 * solution.span for size in solution.size])
    return Problem(
        grid=Grid(SLAB.shape, solution.size),
        lateral="periodic",
        amplitude=1.0,
        initial=solution.initial,
        times=torch.zeros(0),
        frames=torch.zeros((0, 1, 1)),
        counted=torch.zeros((0, 1, 1), dtype=torch.bool),
        weights=weights,
        scale=residual_scale(solution.initial, weights, solution.alpha),
    )
