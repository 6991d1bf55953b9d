"""All frames from one expansion: Chebyshev polynomials of the operator, exact in time to a chosen error.

du/dt = L u has the solution exp(t L) u0. With rho an upper bound of the spectrum of -L and X = I + (2/rho) L, whose
spectrum lies in [-1, 1],

    exp(t L) = sum_k c_k(t) T_k(X),   c_k(t) = (2 - [k = 0]) exp(-rho t/2) I_k(rho t/2)

with modified Bessel functions I_k, that fall off like exp(-k^2/(rho t)). Only the numbers c_k know the time. So the
vectors w_k = T_k(X) u0, from the recurrence w_{k+1} = 2 X w_k - w_{k-1}, serve *all* frames at once: a sweep of about
sqrt(2 rho t_end ln(1/error)/2) applications of L, no linear solve, no time step, and a bound of the error that is
known beforehand: the sum of the |c_k| left out.

The recurrence is a leapfrog scheme for the wave equation, and the small matrix c_k(t) turns waves into
heat: it is a discrete form of the virtual-wave concept of thermography (Burgholzer et al. 2017).

A pulse of heating s(x) g(t) has the response q(-L, t) s with q(lam, t) = int g(t') exp(-lam (t - t')) dt', which is
expanded in the same way. See docs/decisions/001-chebyshev.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log2

import numpy as np
from scipy.fft import dct

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.physics.kernels import Array, Kernel
from nefty.physics.linear_solver import Status
from nefty.physics.problem import Inputs, Problem, inject, show
from nefty.physics.trajectory import Memory, Reversed, Trajectory

MOST_TERMS = 2**17


@dataclass(frozen=True)
class Chebyshev:
    """The default integrator: exact in time up to ``time_error``, see the module's text.

    Args:
        time_error: bound of the 2-norm of the error of every frame's state, relative to the 2-norm of the initial
            temperature; by default 1e-6 in float32 and 1e-12 in float64.
    """

    time_error: float | None = None

    def __post_init__(self) -> None:
        if self.time_error is not None:
            number("time_error", self.time_error, above=0)

    def run(
        self, problem: Problem, kernel: Kernel, inputs: Inputs, bound: float, dtype_name: str, memory: Memory | None
    ) -> ChebyshevRun:
        """Solve; see ``Integrator``."""
        error = self.time_error or (1e-6 if dtype_name == "float32" else 1e-12)
        rho = round_up(bound)
        times = tuple(problem.times.tolist())
        sources: list[tuple[str, Array, np.ndarray]] = []
        if inputs.start is not None:
            sources.append(("start", inputs.start, flash_response(times, rho, error)))
        if inputs.heating is not None:
            assert problem.pulse is not None
            volume = kernel.zeros(problem.grid.shape, inputs.faces)
            volume = _at_front(kernel, inputs.heating, volume)
            sources.append(("heating", volume, pulse_response(times, problem.pulse, rho, error)))
        return ChebyshevRun(problem, kernel, inputs, rho, sources, memory, error)


class ChebyshevRun:
    """One solve, and its derivatives. The loop of each is a page long; ``q`` = 4/rho, so that 2X = 2 + q L.

    Args:
        problem: what is fixed.
        kernel: where the work is done.
        inputs: what the result depends on.
        rho: bound of the spectrum.
        sources: (name, vector, coefficients (t, k)) for each source of heat.
        memory: how the w_k come back; None if no derivative is wanted.
        error: the bound of the error in time, for the status.
    """

    def __init__(
        self,
        problem: Problem,
        kernel: Kernel,
        inputs: Inputs,
        rho: float,
        sources: list[tuple[str, Array, np.ndarray]],
        memory: Memory | None,
        error: float,
    ) -> None:
        self._problem, self._kernel, self._q = problem, kernel, 4 / rho
        self._op = kernel.operator(inputs.faces, inputs.sinks)
        self._sources = []
        self.status = Status(time_error_bound=error)
        frames = None
        for name, vector, values in sources:
            coefficients = kernel.constant(values, vector)
            trajectory = self._trajectory(vector, values.shape[1] - 1, memory)
            planes = [show(kernel, state[0], problem.layers) for _, state in trajectory.forward()]
            part = _contract(coefficients, kernel.stack(planes))
            frames = part if frames is None else frames + part
            self.status.applications += trajectory.length
            if memory is not None:
                self._sources.append((name, coefficients, trajectory))
        self.frames = frames

    def _trajectory(self, first: Array, degree: int, memory: Memory | None) -> Trajectory:
        """States are pairs (w_k, w_{k-1}), with w_{-1} = X w_0 = w_1 because T_{-1} = T_1."""
        kernel, op, q = self._kernel, self._op, self._q
        keep = memory if memory is not None else _KEEP_NOTHING
        recycle = isinstance(keep, Reversed)
        spare: list[Array] = []

        def advance(k: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
            w, previous = state
            out = spare.pop() if spare else None
            if k == 0:
                result = kernel.combine(op, w, 1.0, w, 0.0, q / 2, out)
            else:
                result = kernel.combine(op, w, 2.0, previous, -1.0, q, out)
                if recycle and k > 1:
                    spare.append(previous)
            return result, w

        def retreat(k: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
            after, w = state
            return w, (kernel.combine(op, w, 2.0, after, -1.0, q) if k > 0 else w)

        return Trajectory(advance, (first, first), degree, keep, arrays_per_state=2, retreat=retreat)

    def pullback(self, cotangent: Array) -> Inputs:
        """J^T ``cotangent`` (t, layer, y, x), by the transposed recurrence

        lam_k = 2 X lam_{k+1} - lam_{k+2} + (what the frames say about w_k),   dJ/dL = q sum_k lam_{k+1} w_k^T.
        """
        kernel, op, q, layers = self._kernel, self._op, self._q, self._problem.layers
        shape = self._problem.grid.shape
        gradient = kernel.operator(
            kernel.zeros((3, *shape), cotangent), kernel.zeros((2, *shape[1:]), cotangent)
        )
        found: dict[str, Array] = {"start": None, "heating": None}
        for name, coefficients, trajectory in self._sources:
            said = _contract(coefficients.T, cotangent)  # (k, layer, y, x)
            lam, after = kernel.zeros(shape, cotangent), kernel.zeros(shape, cotangent)
            spare = None
            for k, (w, _) in trajectory.backward():
                if k == trajectory.length:
                    inject(lam, layers, said[k])
                    continue
                kernel.accumulate(gradient, lam, w, q if k > 0 else q / 2)
                scale = 2.0 if k > 0 else 1.0
                new = kernel.combine(op, lam, scale, after, -1.0, q if k > 0 else q / 2, spare)
                lam, after, spare = new, lam, after
                inject(lam, layers, said[k])
            found[name] = lam if name == "start" else lam[0]
        return Inputs(gradient.faces, gradient.sinks, found["start"], found["heating"])

    def pushforward(self, tangent: Inputs) -> Array:
        """J ``tangent``: w'_{k+1} = 2 X w'_k - w'_{k-1} + q L' w_k, carried beside the w_k."""
        kernel, op, q = self._kernel, self._op, self._q
        moved = kernel.operator(tangent.faces, tangent.sinks)
        shape, total = self._problem.grid.shape, None
        for name, coefficients, trajectory in self._sources:
            now = kernel.zeros(shape, tangent.faces)
            if name == "start" and tangent.start is not None:
                now = now + tangent.start
            if name == "heating" and tangent.heating is not None:
                now = _at_front(kernel, tangent.heating, now)
            before, planes = now, []
            for k, (w, _) in trajectory.forward():
                planes.append(show(kernel, now, self._problem.layers))
                if k < trajectory.length:
                    a, b, c = (1.0, 0.0, q / 2) if k == 0 else (2.0, -1.0, q)
                    new = kernel.combine(op, now, a, before, b, c)
                    now, before = kernel.combine(moved, w, 0.0, new, 1.0, c), now
            part = _contract(coefficients, kernel.stack(planes))
            total = part if total is None else total + part
        return total


_KEEP_NOTHING = Reversed()


def _contract(coefficients: Array, planes: Array) -> Array:
    """sum_k C[t, k] planes[k]: the small matrix that turns waves into frames."""
    flat = coefficients @ planes.reshape(planes.shape[0], -1)
    return flat.reshape(coefficients.shape[0], *planes.shape[1:])


def _at_front(kernel: Kernel, heating: Array, volume: Array) -> Array:
    """``volume`` with ``heating`` added to its front layer."""
    return kernel.stack([volume[0] + heating, *volume[1:]])


def round_up(bound: float) -> float:
    """The next power of 2^(1/8): nearby fields share their coefficients, at the cost of at most 5 % more terms."""
    if not 0 < bound < np.inf:
        return 1.0 if bound == 0 else _refuse(bound)
    return 2.0 ** (ceil(8 * log2(bound)) / 8)


def _refuse(bound: float) -> float:
    raise InputError(f"the operator's spectral bound is {bound}; check alpha, h and the grid's spacing.")


@lru_cache(maxsize=64)
def flash_response(times: tuple[float, ...], rho: float, error: float) -> np.ndarray:
    """Chebyshev coefficients (t, k) of exp(-lam t) on 0 <= lam <= rho."""
    t = np.asarray(times)[:, None]
    return _expand(lambda lam: np.exp(-lam * t), rho, error)


@lru_cache(maxsize=64)
def pulse_response(
    times: tuple[float, ...], pulse: tuple[float, float], rho: float, error: float
) -> np.ndarray:
    """Chebyshev coefficients (t, k) of q(lam, t) for heating at rate 1 from ``pulse[0]`` to ``pulse[1]``.

    q = exp(-lam (t - e)) (1 - exp(-lam (e - start)))/lam with e = min(t, end), and 0 before the start.
    """
    start, end = pulse
    t = np.asarray(times)[:, None]
    until = np.clip(t, start, end)
    length = until - start

    def response(lam: np.ndarray) -> np.ndarray:
        return np.exp(-lam * np.maximum(t - until, 0)) * -np.expm1(-lam * length) / lam

    return _expand(response, rho, error * (end - start))


def _expand(response, rho: float, error: float) -> np.ndarray:
    """Coefficients by a discrete cosine transform, as many as leave a tail below ``error`` for every time."""
    points = 64
    while points <= 2 * MOST_TERMS:
        nodes = np.cos(np.pi * (np.arange(points) + 0.5) / points)
        c = dct(response(rho / 2 * (1 - nodes)), type=2, axis=1) / points
        c[:, 0] /= 2
        tail = np.cumsum(np.abs(c[:, ::-1]), axis=1)[:, ::-1].max(axis=0)  # tail[k]: what dropping k, k+1, ... costs
        enough = np.flatnonzero(tail <= error)
        if enough.size and enough[0] <= points // 2:
            return np.ascontiguousarray(c[:, : max(enough[0], 2)])
        points *= 2
    raise InputError(
        f"more than {MOST_TERMS} Chebyshev terms are needed: the last frame lies very many cell diffusion times after "
        f"the first (spectral bound {rho:.3g}). Use a coarser grid, fewer late frames, a larger time_error, or "
        'integrator="sdirk2".'
    )
