"""Implicit time steps: the paper's implicit Euler, and the second-order L-stable SDIRK2.

Both are members of one family. With the matrix M = I - gamma dt L, a step with heating rate s is

    rhs = u + dt s + dt L (a u - b dt s),    M^p u_next = rhs

(implicit Euler: gamma = 1, a = b = 0, p = 1; SDIRK2: gamma = 1 - 1/sqrt(2), a = 1 - 2 gamma, b = gamma^2, p = 2).
The adjoint solves with the same symmetric M, in reverse order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from nefty.core.errors import InputError
from nefty.physics.kernels import Array, Kernel
from nefty.physics.linear_solver import ConjugateGradients, Jacobi, Solver
from nefty.physics.problem import Inputs, Job, Problem, inject
from nefty.physics.status import Status
from nefty.physics.time_plan import ForError, Geometric, PerFrame, Steps, TimePlan, plan_steps
from nefty.physics.trajectory import Checkpointed, Trajectory


class Scheme(NamedTuple):
    """The coefficients of a step; see the module's text."""

    gamma: float
    a: float
    b: float
    solves: int

    def amplification(self, z: np.ndarray) -> np.ndarray:
        """R(z): by how much a step multiplies an eigenvector of L with eigenvalue z/dt."""
        return (1 + self.a * z) / (1 - self.gamma * z) ** self.solves

    def source(self, z: np.ndarray) -> np.ndarray:
        """(R(z) - 1)/z: by how much a unit of dt s enters."""
        return (1 - self.b * z) / (1 - self.gamma * z) ** self.solves


EULER = Scheme(1.0, 0.0, 0.0, 1)
_GAMMA = 1 - 1 / sqrt(2)
SDIRK = Scheme(_GAMMA, 1 - 2 * _GAMMA, _GAMMA**2, 2)


@dataclass(frozen=True)
class _ImplicitSteps:
    """What the implicit integrators share; they differ in their scheme."""

    steps: Steps = field(default_factory=PerFrame)
    solver: Jacobi | ConjugateGradients = field(default_factory=ConjugateGradients)
    scheme: ClassVar[Scheme]

    def __post_init__(self) -> None:
        if not isinstance(self.steps, (PerFrame, Geometric, ForError)):
            raise InputError(f"steps={self.steps!r} must be PerFrame(...), Geometric(...) or ForError(...).")
        if not isinstance(self.solver, (Jacobi, ConjugateGradients)):
            raise InputError(f"solver={self.solver!r} must be Jacobi(...) or ConjugateGradients(...).")

    def run(self, job: Job) -> SteppingRun:
        """Solve; see ``Integrator``."""
        return SteppingRun(job, self.scheme, self.steps, self.solver)


class ImplicitEuler(_ImplicitSteps):
    """First order; with ``PerFrame(1)`` and ``Jacobi(50)`` it is the paper's solver (appendix D.2).

    Args:
        steps: where the steps lie.
        solver: how the linear systems are solved.
    """

    scheme = EULER


class SDIRK2(_ImplicitSteps):
    """Second order and L-stable, two solves with one matrix per step.

    Args:
        steps: where the steps lie.
        solver: how the linear systems are solved.
    """

    scheme = SDIRK


class SteppingRun:
    """One solve by implicit steps, and its derivatives.

    Args:
        job: what to solve.
        scheme: the coefficients of a step.
        steps: where the steps lie.
        solver: how the linear systems are solved.
    """

    def __init__(self, job: Job, scheme: Scheme, steps: Steps, solver: Jacobi | ConjugateGradients) -> None:
        problem, kernel, inputs = job.problem, job.kernel, job.inputs
        self._problem, self._kernel, self._scheme = problem, kernel, scheme
        self.status = Status()
        self._op, self._sinks = kernel.operator(inputs.faces, inputs.sinks), tuple(inputs.sinks.shape)
        self._solve = Solver(solver, kernel, self._op, job.bound, job.precision, self.status)
        self._plan = _resolve(problem, kernel, inputs, scheme, steps)
        zero = kernel.zeros(problem.grid.shape, inputs.faces)
        first = inputs.start if inputs.start is not None else zero
        self._heating = None
        if inputs.heating is not None:
            self._heating = kernel.stack([inputs.heating, *zero[1:]])
        length = len(self._plan.dt)
        keep = job.memory if job.memory is not None else Checkpointed(length + 1)
        self._trajectory = Trajectory(self._advance, first, length, keep)
        shown = set(self._plan.frame_at.tolist())
        frames = [kernel.layers(u, problem.layers) for n, u in self._trajectory.forward() if n in shown]
        self.frames = kernel.stack(frames)

    def _apply(self, u: Array, a: float, v: Array, b: float, c: float, op: Array = None) -> Array:
        self.status.applications += 1
        return self._kernel.combine(self._op if op is None else op, u, a, v, b, c)

    def _source(self, n: int) -> Array | None:
        rate = float(self._plan.rate[n])
        return self._heating * rate if self._heating is not None and rate else None

    def _explicit(self, n: int, u: Array) -> Array | None:
        """y = a u - b dt s, what L is applied to on the right-hand side; None where that is nothing."""
        scheme, dt, s = self._scheme, float(self._plan.dt[n]), self._source(n)
        if scheme.a == 0:
            return None
        return scheme.a * u if s is None else scheme.a * u - scheme.b * dt * s

    def _advance(self, n: int, u: Array) -> Array:
        dt, s = float(self._plan.dt[n]), self._source(n)
        rhs = u if s is None else u + dt * s
        y = self._explicit(n, u)
        if y is not None:
            rhs = self._apply(y, 0.0, rhs, 1.0, dt)
        guess = u
        for _ in range(self._scheme.solves):
            rhs = guess = self._solve(self._scheme.gamma * dt, rhs, guess)
        return rhs

    def _stages(self, n: int, after: Array) -> list[Array]:
        """Solutions of the solves of step n, last first; the earlier ones from M x_p = x_{p-1}."""
        stages = [after]
        for _ in range(self._scheme.solves - 1):
            stages.append(self._apply(stages[-1], 1.0, stages[-1], 0.0, -self._scheme.gamma * float(self._plan.dt[n])))
        return stages

    def pullback(self, cotangent: Array) -> Inputs:
        """J^T ``cotangent`` (t, layer, y, x), stepping backwards (paper, appendix D.3)."""
        kernel, scheme, problem = self._kernel, self._scheme, self._problem
        shape = problem.grid.shape
        faces, sinks = kernel.zeros((3, *shape), cotangent), kernel.zeros(self._sinks, cotangent)
        gradient = kernel.operator(faces, sinks)
        heating = None if self._heating is None else kernel.zeros(shape[1:], cotangent)
        frame_of = {int(n): t for t, n in enumerate(self._plan.frame_at)}
        lam, after = kernel.zeros(shape, cotangent), None
        guess = lam
        for n, u in self._trajectory.backward():
            if after is not None:
                dt = float(self._plan.dt[n])
                s = scheme.gamma * dt
                for stage in self._stages(n, after):
                    lam = guess = self._solve(s, lam, guess)
                    kernel.accumulate(gradient, lam, stage, s)
                y = self._explicit(n, u)
                if y is not None:
                    kernel.accumulate(gradient, lam, y, dt)
                if self._source(n) is not None:
                    on = dt * float(self._plan.rate[n])
                    heating += on * self._apply(lam, 1.0, lam, 0.0, -scheme.b * dt)[0]
                # A copy in either case: what is injected below must not reach the next solve's guess.
                lam = self._apply(lam, 1.0, lam, 0.0, scheme.a * dt) if scheme.a else lam + 0
            if n in frame_of:
                inject(lam, problem.layers, cotangent[frame_of[n]])
            after = u
        self.status.states_held = self._trajectory.most_held
        return Inputs(faces, sinks, lam if heating is None else None, heating)

    def pullbacks(self, cotangents: Sequence[Array]) -> list[Inputs]:
        """J^T of each."""
        return [self.pullback(cotangent) for cotangent in cotangents]

    def pushforwards(self, tangents: Sequence[Inputs]) -> list[Array]:
        """J of each."""
        return [self.pushforward(tangent) for tangent in tangents]

    def pushforward(self, tangent: Inputs) -> Array:
        """J ``tangent``: the derivative of each step, carried beside the states."""
        kernel = self._kernel
        moved = kernel.operator(tangent.faces, tangent.sinks)
        zero = kernel.zeros(self._problem.grid.shape, tangent.faces)
        now = zero if tangent.start is None else tangent.start
        heating = None if tangent.heating is None else kernel.stack([tangent.heating, *zero[1:]])
        shown = set(self._plan.frame_at.tolist())
        frames, before = [], None
        for n, u in self._trajectory.forward():
            if before is not None:
                dt = float(self._plan.dt[n - 1])
                now = self._step_tangent(n - 1, dt, before, u, now, heating, moved)
            if n in shown:
                frames.append(kernel.layers(now, self._problem.layers))
            before = u
        return kernel.stack(frames)

    def _step_tangent(
        self, n: int, dt: float, u: Array, after: Array, now: Array, heating: Array, moved: Array
    ) -> Array:
        scheme = self._scheme
        rate = float(self._plan.rate[n])
        s = heating * rate if rate else None
        rhs = now if s is None else now + dt * s
        y = self._explicit(n, u)
        if y is not None:
            dy = scheme.a * now if s is None else scheme.a * now - scheme.b * dt * s
            rhs = self._apply(dy, 0.0, rhs, 1.0, dt)
            rhs = self._apply(y, 0.0, rhs, 1.0, dt, moved)
        guess = now
        for stage in reversed(self._stages(n, after)):
            rhs = self._apply(stage, 0.0, rhs, 1.0, scheme.gamma * dt, moved)
            rhs = guess = self._solve(scheme.gamma * dt, rhs, guess)
        return rhs


def _resolve(problem: Problem, kernel: Kernel, inputs: Inputs, scheme: Scheme, steps: Steps) -> TimePlan:
    """The plan; for ``ForError`` by the exact error of ``scheme`` on the laterally uniform slab."""
    times, pulse = problem.times, problem.pulse
    if not isinstance(steps, ForError):
        return plan_steps(times, pulse, steps)
    nz, dz = problem.grid.shape[0], problem.grid.spacing[0]
    line = np.diag(np.full(nz - 1, 1.0), 1) + np.diag(np.full(nz - 1, 1.0), -1)
    line -= np.diag(line.sum(axis=0))
    rates, modes = np.linalg.eigh(line * steps.alpha / dz**2)
    start, rate = np.zeros(nz), np.zeros(nz)
    if inputs.start is not None:
        volume = kernel.tensor(inputs.start).detach()
        start = modes.T @ volume.abs().amax(dim=(1, 2)).double().cpu().numpy()
    if inputs.heating is not None:
        rate = modes.T[:, 0] * float(abs(kernel.tensor(inputs.heating).detach()).max())

    def march(plan: TimePlan, exact: bool) -> np.ndarray:
        u, seen = start.copy(), [start.copy()]
        for dt, on in zip(plan.dt, plan.rate, strict=True):
            z = rates * dt
            growth = np.exp(z) if exact else scheme.amplification(z)
            entry = np.where(z == 0, 1.0, np.expm1(z) / np.where(z == 0, 1.0, z)) if exact else scheme.source(z)
            u = growth * u + dt * entry * rate * on
            seen.append(u)
        return np.array(seen)[plan.frame_at] @ modes[list(problem.layers)].T

    def predicted_error(steps: Geometric) -> float:
        plan = plan_steps(times, pulse, steps)
        return float(np.sqrt(np.mean((march(plan, exact=True) - march(plan, exact=False)) ** 2)))

    shortest = float(times[0] if times[0] > 0 else times[1] - times[0] if times.size > 1 else 1.0)
    return plan_steps(times, pulse, steps.resolve(predicted_error, shortest))
