"""The engine: heat in a body of many regions, by finite volumes and implicit steps.

Cells have k_z, k_y, k_x and rho c of their own. Between two cells flows (T1 - T2)/(d1/2k1 + d2/2k2) per area:
resistances in series, the harmonic mean on an even mesh. Faces of solid cells that touch nothing lose h T, taken at the
wall. In time the two-stage method of Alexander (1977), singly diagonally implicit, second order, L-stable, with
g = 1 - 1/sqrt 2:

    (C + g dt K) U = C u + g dt q,    (C + g dt K) u' = C u + (1 - g)/g C (U - u) + g dt q

with q the mean of the heating over the step, so that exactly the heat of the history comes in.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nefty.core.checks import frame_times
from nefty.core.errors import InputError
from nefty.synth.parts.history import History
from nefty.synth.parts.line_solver import LineSystem
from nefty.synth.parts.mesh import Mesh

GAMMA = 1 - 1 / math.sqrt(2)
TOLERANCE = 1e-6  # of the linear solver, relative; contrasts are 1e-2 of the rise or more
PER_HEATING = 10  # steps from one switch of the heating to the next
GROWTH = 1.1  # of a step over the one before
PER_TIME = 0.09  # longest step, as a share of the time since the heating began


@dataclass(frozen=True)
class Losses:
    """Heat-transfer coefficients in W/m2K: of the front, the back, the walls of open holes, the sides of the part."""

    front: float = 0.0
    back: float = 0.0
    holes: float = 0.0
    sides: float = 0.0


@dataclass(frozen=True, eq=False)
class Body:
    """What is simulated.

    Args:
        mesh: its cells.
        kz: conductivity along z in W/mK, (z, y, x).
        ky: along y.
        kx: along x.
        heat_capacity: rho c in J/m3K.
        solid: which cells are part of it; the others are open air at ambient.
        losses: of its walls.
        ends: whether the part ends at the first and last face along y, and x; where it does not, no heat crosses.
    """

    mesh: Mesh
    kz: np.ndarray
    ky: np.ndarray
    kx: np.ndarray
    heat_capacity: np.ndarray
    solid: np.ndarray
    losses: Losses = dataclasses.field(default_factory=Losses)
    ends: tuple[tuple[bool, bool], tuple[bool, bool]] = ((False, False), (False, False))

    def __post_init__(self) -> None:
        for name in ("kz", "ky", "kx", "heat_capacity", "solid"):
            if getattr(self, name).shape != self.mesh.shape:
                raise InputError(f"{name} has shape {getattr(self, name).shape}, the mesh {self.mesh.shape} (z, y, x).")
        if not self.solid[:2].all():
            raise InputError("a hole reaches the front face, which the frames show; leave part of the thickness.")


@dataclass(frozen=True, eq=False)
class Run:
    """What a simulation gave.

    Args:
        times: of the steps in s, from 0.
        surface: rise of the front surface then, (t, y, x) on the mesh, in K.
        stored: heat in the body then, in J.
        lost: heat that left it until then, in J.
        given: heat that came until then, in J.
        iterations: of the linear solver, of every step.
    """

    times: np.ndarray
    surface: np.ndarray
    stored: np.ndarray
    lost: np.ndarray
    given: np.ndarray
    iterations: np.ndarray


def run_body(
    body: Body,
    heat: np.ndarray,
    history: History,
    until: float,
    *,
    steps: np.ndarray | None = None,
    tolerance: float = TOLERANCE,
    progress: Callable[[float], object] | None = None,
) -> Run:
    """Heat a body that starts at ambient, and watch its front surface.

    Args:
        body: what is heated.
        heat: in all, through the front of every column, (y, x) in J/m2.
        history: when it comes.
        until: how long, in s from its begin.
        steps: times at which steps end, in s; chosen if not given, see ``step_ends``.
        tolerance: of the linear solver.
        progress: called with the share that is done.
    """
    ends = step_ends(history, until) if steps is None else frame_times(steps)
    capacity, conductances, sinks = _assemble(body)
    area = body.mesh.widths[1][:, None] * body.mesh.widths[2]
    inflow = np.asarray(heat, dtype=np.float64) * area
    u = np.zeros(body.mesh.shape)
    rate, system, pivots, dt_of = u, None, u, -1.0
    begin, lost, came = 0.0, 0.0, 0.0
    surface, stored, losses, given, iterations = [_surface(body, u)], [0.0], [0.0], [0.0], [0]
    for end in ends:
        dt = end - begin
        if system is None or abs(dt - dt_of) > 1e-9 * dt:
            system, dt_of = _system(capacity, conductances, sinks, GAMMA * dt), dt
            pivots = system.pivots()
        share = history.delivered(end) - came
        source = share / dt * inflow
        right = capacity * u
        right[0] += GAMMA * dt * source
        stage, first = system.solve(right, u + GAMMA * dt * rate, tolerance, pivots)
        right = capacity * (u + (1 - GAMMA) / GAMMA * (stage - u))
        right[0] += GAMMA * dt * source
        new, second = system.solve(right, u + (stage - u) / GAMMA, tolerance, pivots)
        lost += dt * float((sinks * ((1 - GAMMA) * stage + GAMMA * new)).sum())
        came += share
        rate, u, begin = (new - u) / dt, new, end
        surface.append(_surface(body, u, share / dt * heat))
        stored.append(float((capacity * u).sum()))
        losses.append(lost)
        given.append(came * float(inflow.sum()))
        iterations.append(first + second)
        if progress is not None:
            progress(end / ends[-1])
    times = np.concatenate([[0.0], ends])
    return Run(times, np.stack(surface), *(np.asarray(v) for v in (stored, losses, given, iterations)))


def step_ends(history: History, until: float, coarser: float = 1.0) -> np.ndarray:
    """Times at which steps end, in s: even while the rate has no jump, then growing with the time.

    Args:
        history: of the heating; a step ends at each of its switches.
        until: where the last one ends.
        coarser: so many times longer steps.
    """
    ends: list[float] = []
    begin, steps = 0.0, max(round(PER_HEATING / coarser), 1)
    for switch in (s for s in history.switches if s < until):
        ends.extend(begin + (switch - begin) * (np.arange(1, steps + 1) / steps) ** 1.5)
        begin = switch
    step = (begin / steps if begin else until * 1e-4) / 2
    while begin < until:
        step = min(step * GROWTH**coarser, PER_TIME * coarser * begin if begin else step)
        begin += step
        ends.append(begin)
    return np.asarray(ends)


def at_times(run: Run, times: np.ndarray) -> np.ndarray:
    """Rise of the surface at other times, (t, y, x), 0 before the heating; cubic in log t between steps."""
    from scipy.interpolate import CubicSpline

    times = np.asarray(times)
    surface = np.zeros((times.size, *run.surface.shape[1:]))
    late = times > run.times[1]
    surface[late] = CubicSpline(np.log(run.times[1:]), run.surface[1:])(np.log(times[late]))
    early = (times > 0) & ~late
    surface[early] = run.surface[1] * np.sqrt(times[early] / run.times[1])[:, None, None]
    return surface


def _assemble(body: Body) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    """Heat capacity of cells in J/K; conductances of faces and of losses in W/K."""
    mesh, volume = body.mesh, body.mesh.volume
    capacity = np.where(body.solid, body.heat_capacity * volume, volume)  # of air: any, it stays at 0
    sinks = np.zeros(mesh.shape)
    conductances = []
    walls = (
        (body.losses.front, body.losses.back),
        *(tuple(body.losses.sides if there else 0.0 for there in pair) for pair in body.ends),
    )
    for axis, k in enumerate((body.kz, body.ky, body.kx)):
        width = np.moveaxis(np.broadcast_to(_along(mesh.widths[axis], axis), mesh.shape), axis, 0)
        solid, sink = np.moveaxis(body.solid, axis, 0), np.moveaxis(sinks, axis, 0)
        area = np.moveaxis(volume, axis, 0) / width
        half = width / (2 * np.moveaxis(k, axis, 0))
        both = solid[:-1] & solid[1:]
        flow = np.where(both, area[:-1] / (half[:-1] + half[1:]), 0.0)
        conductances.append(np.ascontiguousarray(np.moveaxis(flow, 0, axis)))
        sink[:-1] += (solid[:-1] & ~solid[1:]) * _robin(body.losses.holes, area[:-1], half[:-1])
        sink[1:] += (solid[1:] & ~solid[:-1]) * _robin(body.losses.holes, area[1:], half[1:])
        for at, h in zip((0, -1), walls[axis], strict=True):
            sink[at] += solid[at] * _robin(h, area[at], half[at])
    return capacity, (conductances[0], conductances[1], conductances[2]), sinks


def _along(values: np.ndarray, axis: int) -> np.ndarray:
    return values.reshape([-1 if a == axis else 1 for a in range(3)])


def _robin(h: float, area: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Conductance from a cell's middle to ambient: half of the cell and 1/h in series."""
    return area * h / (1 + h * half)


def _system(
    capacity: np.ndarray, conductances: tuple[np.ndarray, np.ndarray, np.ndarray], sinks: np.ndarray, dt: float
) -> LineSystem:
    """C + dt K."""
    gz, gy, gx = (dt * g for g in conductances)
    diagonal = capacity + dt * sinks
    for axis, g in enumerate((gz, gy, gx)):
        low, high = (np.moveaxis(diagonal, axis, 0)[part] for part in (slice(None, -1), slice(1, None)))
        low += np.moveaxis(g, axis, 0)
        high += np.moveaxis(g, axis, 0)
    return LineSystem(diagonal, gz, gy, gx)


def _surface(body: Body, u: np.ndarray, inflow: np.ndarray | float = 0.0) -> np.ndarray:
    """Temperature at z = 0: a of the parabola a + s z + b z^2 with the means of the two cells at the front.

    s = (h a - q)/k, by the flux through the face; q is the ``inflow`` in W/m2, (y, x).
    """
    one, two = float(body.mesh.z[1]), float(body.mesh.z[2])
    bend = (one * one / 3, (two**3 - one**3) / (3 * (two - one)))  # means of z^2
    tilt = (one / 2, (one + two) / 2)  # of z
    share = bend[0] / bend[1]
    slope = tilt[0] - share * tilt[1]
    k = body.kz[0]
    return (u[0] - share * u[1] + slope * inflow / k) / (1 - share + slope * body.losses.front / k)
