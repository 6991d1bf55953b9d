"""All frames from one expansion: Chebyshev polynomials of the operator, exact in time to a chosen error.

du/dt = L u has the solution exp(t L) u0. With rho an upper bound of the spectrum of -L and X = I + (2/rho) L, whose
spectrum lies in [-1, 1],

    exp(t L) = sum_k c_k(t) T_k(X),   c_k(t) = (2 - [k = 0]) exp(-rho t/2) I_k(rho t/2)

with modified Bessel functions I_k, that fall off like exp(-k^2/(rho t)). Only the numbers c_k know the time. So the
vectors w_k = T_k(X) u0, from the recurrence w_{k+1} = 2 X w_k - w_{k-1}, serve *all* frames at once: a sweep of about
sqrt(rho t_end ln(1/error)) applications of L, no linear solve, no time step, and a bound of the error that is
known beforehand: the sum of the |c_k| left out.

The recurrence is a leapfrog scheme for the wave equation, and the small matrix c_k(t) turns waves into
heat: it is a discrete form of the virtual-wave concept of thermography (Burgholzer et al. 2017).

A pulse of heating s(x) g(t) has the response q(-L, t) s with q(lam, t) = int g(t') exp(-lam (t - t')) dt', which is
expanded in the same way. See docs/decisions/001-chebyshev.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log, log2, sqrt
from typing import Any

import numpy as np
from scipy.fft import dct

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.kernels import Array
from nefty.physics.problem import Inputs, Job, Pulse, inject
from nefty.physics.status import Status
from nefty.physics.trajectory import Memory, Reversed, Trajectory

MOST_TERMS = 2**17
SMALLEST_ERROR = 1e-14
NOISE = 3e-16  # of a coefficient, by rounding in the cosine transform
_KEEP_NOTHING = Reversed()  # keeps the first and the last states only


@dataclass(frozen=True)
class Chebyshev:
    """The default integrator: exact in time up to ``time_error``, see the module's text.

    Args:
        time_error: bound of what is left out, in the 2-norm of every frame's state, relative to the initial temperature
            or to the heat that a pulse brings; at least 1e-14, by default 1e-6 in float32 and 1e-12 in float64.
    """

    time_error: float | None = None

    def __post_init__(self) -> None:
        if self.time_error is not None:
            number("time_error", self.time_error, at_least=SMALLEST_ERROR)

    def run(self, job: Job) -> ChebyshevRun:
        """Solve; see ``Integrator``."""
        error = self.time_error or (1e-6 if job.precision == "float32" else 1e-12)
        rho = round_up(job.bound)
        times, pulse = tuple(job.problem.times.tolist()), job.problem.pulse
        return ChebyshevRun(job, rho, response_coefficients(times, pulse, rho, error), error)


class ChebyshevRun:
    """One solve, and its derivatives. The loop of each is a page long; ``q`` = 4/rho, so that 2X = 2 + q L.

    Args:
        job: what to solve; its source is ``start``, or ``heating`` if there is a pulse.
        rho: bound of the spectrum.
        values: the coefficients c_k(t), (t, k).
        error: the bound of the error in time, for the status.
    """

    def __init__(self, job: Job, rho: float, values: np.ndarray, error: float) -> None:
        problem, kernel, inputs = job.problem, job.kernel, job.inputs
        self._problem, self._kernel, self._q = problem, kernel, 4 / rho
        self._op, self._sinks = kernel.operator(inputs.faces, inputs.sinks), tuple(inputs.sinks.shape)
        self.status = Status(time_error_bound=error)
        self._coefficients = kernel.constant(values, inputs.faces)
        self._degree, source = values.shape[1] - 1, self._source(inputs)
        self._trajectory = self._recurrence(source, self._degree, job.memory)
        self._sweep = None
        if job.memory is None or isinstance(job.memory, Reversed):
            self._sweep = kernel.sweep(self._op, self._q, source, self._degree, problem.layers)
        if self._sweep is not None:
            self.status.applications += self._degree
            planes = self._sweep.planes
        else:
            planes = kernel.stack([kernel.layers(w, problem.layers) for _, (w, _) in self._trajectory.forward()])
        self.frames = kernel.contract(self._coefficients, planes)

    def _apply(self, u: Array, a: float, v: Array, b: float, c: float, out: Array = None, op: Any = None) -> Array:
        """a u + b v + c L u, counted."""
        self.status.applications += 1
        return self._kernel.combine(self._op if op is None else op, u, a, v, b, c, out)

    def _source(self, inputs: Inputs) -> Array:
        """The vector that the expansion is applied to."""
        if inputs.heating is None:
            return inputs.start
        below = self._kernel.zeros(self._problem.grid.shape, inputs.heating)[1:]
        return self._kernel.stack([inputs.heating, *below])

    def _recurrence(self, first: Array, degree: int, memory: Memory | None) -> Trajectory:
        """States are pairs (w_k, w_{k-1}), with w_{-1} = X w_0 = w_1 because T_{-1} = T_1."""
        q = self._q
        keep = memory if memory is not None else _KEEP_NOTHING
        recycle = isinstance(keep, Reversed)
        spare: list[Array] = []

        def advance(k: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
            w, previous = state
            out = spare.pop() if spare else None
            if k == 0:
                result = self._apply(w, 1.0, w, 0.0, q / 2, out)
            else:
                result = self._apply(w, 2.0, previous, -1.0, q, out)
                if recycle and k > 1:
                    spare.append(previous)
            return result, w

        def retreat(k: int, state: tuple[Array, Array]) -> tuple[Array, Array]:
            after, w = state
            if k == 0:
                return w, w
            before = self._apply(w, 2.0, after, -1.0, q, spare.pop() if spare else None)
            if k < degree - 2:  # the last two states stay, for the next backward sweep
                spare.append(after)
            return w, before

        return Trajectory(advance, (first, first), degree, keep, arrays_per_state=2, retreat=retreat)

    def pullback(self, cotangent: Array) -> Inputs:
        """J^T ``cotangent`` (t, layer, y, x), by the transposed recurrence

        lam_k = 2 X lam_{k+1} - lam_{k+2} + (what the frames say about w_k),   dJ/dL = q sum_k lam_{k+1} w_k^T.
        """
        return self.pullbacks([cotangent])[0]

    def pullbacks(self, cotangents: Sequence[Array]) -> list[Inputs]:
        """J^T for several cotangents; compiled, they share the states w_k."""
        if self._sweep is None:
            return [self._pull_back_by_terms(cotangent) for cotangent in cotangents]
        kernel = self._kernel
        said = [kernel.contract(self._coefficients.T, cotangent) for cotangent in cotangents]
        self.status.applications += self._degree - 1 + len(said) * self._degree
        self.status.states_held = 3
        return [self._inputs(faces, sinks, lam) for faces, sinks, lam in self._sweep.backward(said)]

    def _inputs(self, faces: Array, sinks: Array, lam: Array) -> Inputs:
        """Derivatives, lam that by the source."""
        start, heating = (lam, None) if self._problem.pulse is None else (None, lam[0])
        return Inputs(faces, sinks, start, heating)

    def _pull_back_by_terms(self, cotangent: Array) -> Inputs:
        kernel, q, layers = self._kernel, self._q, self._problem.layers
        shape = self._problem.grid.shape
        faces, sinks = kernel.zeros((3, *shape), cotangent), kernel.zeros(self._sinks, cotangent)
        gradient = kernel.operator(faces, sinks)
        said = kernel.contract(self._coefficients.T, cotangent)  # (k, layer, y, x)
        lam, after = kernel.zeros(shape, cotangent), kernel.zeros(shape, cotangent)
        spare = None
        for k, (w, _) in self._trajectory.backward():
            if k < self._trajectory.length:
                a, c = (2.0, q) if k > 0 else (1.0, q / 2)
                kernel.accumulate(gradient, lam, w, c)
                new = self._apply(lam, a, after, -1.0, c, spare)
                lam, after, spare = new, lam, after
            inject(lam, layers, said[k])
        self.status.states_held = self._trajectory.most_held
        return self._inputs(faces, sinks, lam)

    def pushforward(self, tangent: Inputs) -> Array:
        """J ``tangent``: w'_{k+1} = 2 X w'_k - w'_{k-1} + q L' w_k, carried beside the w_k."""
        return self.pushforwards([tangent])[0]

    def pushforwards(self, tangents: Sequence[Inputs]) -> list[Array]:
        """J for several tangents; compiled, they share the states w_k."""
        if self._sweep is None:
            return [self._push_forward_by_terms(tangent) for tangent in tangents]
        self.status.applications += (1 + 2 * len(tangents)) * self._degree
        moved = self._sweep.tangents([(t.faces, t.sinks, self._source(t)) for t in tangents])
        return [self._kernel.contract(self._coefficients, planes) for planes in moved]

    def _push_forward_by_terms(self, tangent: Inputs) -> Array:
        kernel, q = self._kernel, self._q
        moved = kernel.operator(tangent.faces, tangent.sinks)
        now = before = self._source(tangent)
        planes = []
        for k, (w, _) in self._trajectory.forward():
            planes.append(kernel.layers(now, self._problem.layers))
            if k < self._trajectory.length:
                a, b, c = (2.0, -1.0, q) if k > 0 else (1.0, 0.0, q / 2)
                new = self._apply(now, a, before, b, c)
                now, before = self._apply(w, 0.0, new, 1.0, c, op=moved), now
        return kernel.contract(self._coefficients, kernel.stack(planes))


def round_up(bound: float) -> float:
    """The next power of 2^(1/8): nearby fields share their coefficients, at the cost of at most 5 % more terms."""
    return 2.0 ** (ceil(8 * log2(bound)) / 8) if bound > 0 else 1.0


def response_of(lam: np.ndarray, times: np.ndarray, pulse: Pulse) -> tuple[np.ndarray, np.ndarray]:
    """The response of a mode that decays at the rate lam >= 0 to a flash, exp(-lam t), or to heating at rate 1 from
    ``pulse[0]`` to ``pulse[1]``, or to a history g(t); and its derivative by lam.

    That of a pulse is q = exp(-lam (t - e)) (1 - exp(-lam (e - start)))/lam with e = min(t, end), and 0 before it.
    """
    if isinstance(pulse, HeatingHistory):
        return pulse.response_and_slope(lam, times)
    if pulse is None:
        value = np.exp(-lam * times)
        return value, -times * value
    start, end = pulse
    until = np.clip(times, start, end)
    since, length = np.maximum(times - until, 0), until - start
    x = lam * length
    small = x < 1e-4
    safe = np.where(small, 1.0, x)
    share = np.where(small, 1 - x / 2 + x**2 / 6 - x**3 / 24, -np.expm1(-safe) / safe)
    bend = np.where(small, -0.5 + x / 3 - x**2 / 8, (np.exp(-safe) - share) / safe)
    fade = np.exp(-lam * since)
    return fade * length * share, fade * length * (length * bend - since * share)


@lru_cache(maxsize=8)
def response_coefficients(times: tuple[float, ...], pulse: Pulse, rho: float, error: float) -> np.ndarray:
    """Chebyshev coefficients (t, k) of ``response_of`` on 0 <= lam <= rho."""
    t = np.asarray(times)[:, None]
    if isinstance(pulse, HeatingHistory):
        return _expand(lambda lam: pulse.response(lam, t), 1.0, rho, times[-1], error)
    scale = 1.0 if pulse is None else pulse[1] - pulse[0]
    return _expand(lambda lam: response_of(lam, t, pulse)[0], scale, rho, times[-1], error)


def _expand(
    response: Callable[[np.ndarray], np.ndarray], scale: float, rho: float, end: float, error: float
) -> np.ndarray:
    """Coefficients by a discrete cosine transform, as many as leave a tail below ``error * scale`` for every time.

    The coefficients fall off like exp(-k^2/(rho end)); the transform starts with twice the points that this asks
    for, so that the narrow peak of the response at lam = 0 cannot slip between them.
    """
    expected = sqrt(rho * end * max(log(1 / error), 1.0))
    points = 2 ** ceil(log2(2 * expected + 64))
    while points <= 2 * MOST_TERMS:
        lam = (
            rho * np.sin(np.pi * (np.arange(points) + 0.5) / (2 * points)) ** 2
        )  # rho/2 (1 - cos), without cancellation
        c = np.asarray(dct(response(lam), type=2, axis=1)) / points
        c[:, 0] /= 2
        size = np.where(np.abs(c) > NOISE * scale, np.abs(c), 0.0)
        tail = np.cumsum(size[:, ::-1], axis=1)[:, ::-1].max(axis=0)  # tail[k]: what dropping k, k+1, ... costs
        enough = np.flatnonzero(tail <= error * scale)
        if enough.size and enough[0] <= points // 2:
            c = np.ascontiguousarray(c[:, : max(enough[0], 2)])
            c.setflags(write=False)
            return c
        points *= 2
    raise InputError(
        f"about {expected:.0f} Chebyshev terms are needed, {MOST_TERMS} are allowed: the last frame at {end:g} comes "
        f"very many cell diffusion times (spectral bound {rho:.3g}) after the flash. Use a coarser grid, fewer late "
        'frames, a larger time_error, or integrator="sdirk2".'
    )
