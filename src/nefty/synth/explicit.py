"""The independent simulator: explicit, substepped, float64.

It makes the data that the solver is tried on. So it shares no code with the solver's operator or stepping,
and is written again from the equation: finite volumes for dT/dt = div(alpha grad T), forward Euler in time,
with the substepping rule of the paper (appendix E.1).
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numba import get_num_threads, njit, prange, set_num_threads

from nefty.core.checks import anisotropy_ratios, count, frame_times, number, one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

FACE_MEANS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "harmonic": lambda a, b: 2 * a * b / (a + b),
    "arithmetic": lambda a, b: (a + b) / 2,
    "min": np.minimum,
}
LEAST_SUBSTEPS = 10  # paper, appendix E.1
CELLS_FOR_THREADS = 2**18  # below, threads that wait for each other at every substep cost more than they bring
PAPER_SIDES = Boundary()


def simulate_explicit(
    grid: Grid,
    alpha: np.ndarray,
    times: Sequence[float] | np.ndarray,
    initial: np.ndarray | GaussianFlash | UniformFlash | TopHatPulse,
    boundary: Boundary = PAPER_SIDES,
    *,
    face_mean: str = "harmonic",
    anisotropy: tuple[float, float] = (1.0, 1.0),
    observe: str = "front",
    refine: int = 1,
    safety: float = 2.0,
    air: np.ndarray | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Simulate a recording by forward Euler in float64.

    From each frame to the next, and to the edges of a pulse, it takes N = max(10, ceil(safety dt/dt_stable))
    equal substeps. 1/dt_stable is the largest sum of conductances of any cell, 2 alpha sum_d r_d/dx_d^2 where
    alpha is constant. The error in time is first order in 1/N.

    Args:
        grid: the cells whose means the frames show.
        alpha: diffusivity along z, positive, (z, y, x); on ``grid`` or already on ``grid.refined(refine)``.
        times: times of the frames after the flash, increasing; 0 gives the initial state.
        initial: temperature at t = 0 as an array (on either grid, like ``alpha``) or a flash; or a pulse
            that heats a slab which starts at 0.
        boundary: the sides; periodic in x and y and adiabatic in z if not given.
        face_mean: diffusivity between two cells, ``"harmonic"``, ``"arithmetic"`` or ``"min"`` (PhiFlow's).
        anisotropy: (alpha_y/alpha_z, alpha_x/alpha_z).
        observe: ``"front"``, ``"back"`` or ``"both"``: means over the outermost cells; or ``"surface"``: the front
            surface itself, from the parabola through the means of the two outermost cells that loses h_front T.
        refine: simulate on cells so many times smaller along each axis and average the frames down; a pixel
            is the mean over the outermost cell of ``grid`` whatever the refinement.
        safety: the factor of the rule above; at least 1, beyond which forward Euler is unstable.
        air: cells (z, y, x) that are no part but air at ambient, such as a hole drilled from the back; on the refined
            grid. Walls towards them lose heat like the back face.
        progress: called with (frames done, frames in all) after each frame.

    Returns:
        Frames in float64, (t, y, x), or (2, t, y, x) for ``observe="both"``, the front first.
    """
    if not isinstance(grid, Grid):
        raise InputError(f"grid={grid!r} must be a nefty.Grid(shape=(z, y, x), size=(z, y, x)).")
    if not isinstance(boundary, Boundary):
        raise InputError(f"boundary={boundary!r} must be a nefty.Boundary(...).")
    times = frame_times(times)
    one_of("face_mean", face_mean, FACE_MEANS)
    one_of("observe", observe, ("front", "back", "both", "surface"))
    safety = number("safety", safety, at_least=1)
    factor = count("refine", refine)
    fine = grid.refined(factor)

    alpha = _diffusivity(alpha, grid, factor)
    faces = face_conductances(fine, alpha, boundary, face_mean, anisotropy)
    part = _part(air, fine, factor, observe)
    if part.size:
        _insulate(faces, part, fine, alpha, boundary, anisotropy)
    temperature, source, switches = _start(initial, grid, factor)
    if part.size:
        temperature *= part
    if boundary.front == "robin" and boundary.robin == "surface":  # some of the flux is lost before it enters a cell
        source = source / (1 + boundary.h_front * fine.spacing[0] / (2 * alpha[0]))

    views = ["surface"] if observe == "surface" else [s for s in ("front", "back") if observe in (s, "both")]
    frames = np.empty((len(views), times.size, *grid.shape[1:]))
    marched = _marched(temperature, times, faces, part, source, switches, safety)
    for index, temperature in enumerate(marched):
        for view, side in enumerate(views):
            if side == "surface":
                layer = _surface(temperature, alpha[0], boundary.h_front, fine.spacing[0])[None].repeat(factor, axis=0)
            else:
                layer = temperature[:factor] if side == "front" else temperature[-factor:]
            frames[view, index] = _averaged_down(layer, factor)
        if progress is not None:
            progress(index + 1, times.size)
    return frames if observe == "both" else frames[0]


def _marched(
    temperature: np.ndarray,
    times: np.ndarray,
    faces: tuple[np.ndarray, np.ndarray, np.ndarray],
    part: np.ndarray,
    source: np.ndarray,
    switches: tuple[float, ...],
    safety: float,
) -> Iterator[np.ndarray]:
    """The temperature (z, y, x) at each of the times; an array that the next step overwrites."""
    fastest = _largest_row_sum(*faces)
    buffer, ambient = np.empty_like(temperature), np.zeros(temperature.shape[2])
    now = 0.0
    for time in times:
        for begin, end in _pieces(now, time, switches):
            heating = source if switches and switches[0] <= begin < switches[1] else np.zeros_like(source)
            substeps = max(LEAST_SUBSTEPS, math.ceil(safety * (end - begin) * fastest * (1 - 1e-9)))
            dt = (end - begin) / substeps
            with _threads_for(temperature.size):
                temperature, buffer = _forward_euler(temperature, buffer, *faces, part, ambient, heating, dt, substeps)
        now = time
        yield temperature


def face_conductances(
    grid: Grid,
    alpha: np.ndarray,
    boundary: Boundary,
    face_mean: str,
    anisotropy: tuple[float, float],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Conductances (mean of alpha)/spacing^2 of the faces across z, y, x, in 1/time.

    An axis of n cells has n + 1 faces. The two outer ones lead to ambient (z) or are one and the same (y and
    x, if the sides are periodic); where they are 0 no heat crosses.
    """
    ratios = (1.0, *anisotropy_ratios(anisotropy))
    mean = FACE_MEANS[face_mean]
    faces = []
    for axis, (cells, spacing) in enumerate(zip(grid.shape, grid.spacing, strict=True)):
        across = np.moveaxis(alpha, axis, 0)
        g = np.zeros((cells + 1, *across.shape[1:]))
        g[1:-1] = mean(across[:-1], across[1:])
        if axis > 0 and boundary.lateral == "periodic" and cells > 1:
            g[0] = g[-1] = mean(across[-1], across[0])
        faces.append(np.ascontiguousarray(np.moveaxis(g, 0, axis)) * (ratios[axis] / spacing**2))
    faces[0][0] = _sink(alpha[0], boundary.h_front, grid.spacing[0], boundary.robin)
    faces[0][-1] = _sink(alpha[-1], boundary.h_back, grid.spacing[0], boundary.robin)
    return faces[0], faces[1], faces[2]


def _sink(alpha: np.ndarray, h: float, dz: float, robin: str) -> np.ndarray:
    """Rate of loss of an outer cell: 1/(1/h + dz/(2 alpha))/dz, or h/dz if taken at the cell's mean."""
    half_cell = dz / (2 * alpha) if robin == "surface" else np.zeros_like(alpha)
    return h / (1 + h * half_cell) / dz


def _part(air: np.ndarray | None, fine: Grid, factor: int, observe: str) -> np.ndarray:
    """1 in the part and 0 in air, on the refined grid; empty if there is no air."""
    least = 2 if observe == "surface" else 1
    if fine.shape[0] < least:
        raise InputError(f'observe="surface" needs at least two layers of cells, the grid has {fine.shape[0]}.')
    if air is None:
        return np.empty((0, 0, 0))
    air = np.asarray(air)
    if air.dtype != bool or air.shape != fine.shape:
        raise InputError(f"air of {air.dtype} {air.shape} must be true or false for each cell {fine.shape} (z, y, x).")
    if air[: max(factor, least)].any():
        raise InputError("air reaches the front face, which the frames show; leave part of the thickness above it.")
    return (~air).astype(np.float64)


def _insulate(
    faces: tuple[np.ndarray, ...],
    part: np.ndarray,
    grid: Grid,
    alpha: np.ndarray,
    boundary: Boundary,
    anisotropy: tuple[float, float],
) -> None:
    """Faces between part and air lose heat with h_back, in place; between air and air nothing flows."""
    for axis, (spacing, ratio) in enumerate(zip(grid.spacing, (1.0, *anisotropy), strict=True)):
        inner = np.moveaxis(faces[axis], axis, 0)[1:-1]
        inside, material = np.moveaxis(part, axis, 0), np.moveaxis(alpha, axis, 0)
        both = inside[:-1] * inside[1:] > 0
        wall = inside[:-1] != inside[1:]
        own = np.where(inside[:-1] > 0, material[:-1], material[1:]) * ratio
        inner[...] = np.where(both, inner, np.where(wall, _sink(own, boundary.h_back, spacing, boundary.robin), 0.0))
        if axis > 0 and boundary.lateral == "periodic" and (inside[0] != inside[-1]).any():
            raise InputError("air across a periodic side is not supported; keep holes away from the sides.")
    faces[0][-1] *= part[-1]


def _surface(temperature: np.ndarray, alpha: np.ndarray, h: float, dz: float) -> np.ndarray:
    """Temperature of the front surface, (y, x): a of a + s z + b z^2 with s = h a/alpha and the means of two cells."""
    return (7 * temperature[0] - temperature[1]) / (6 + 2 * h * dz / alpha)


def _largest_row_sum(gz: np.ndarray, gy: np.ndarray, gx: np.ndarray) -> float:
    """1/dt_stable: eigenvalues of the operator lie within twice the largest sum (Gershgorin)."""
    total = gz[:-1] + gz[1:] + gy[:, :-1] + gy[:, 1:] + gx[..., :-1] + gx[..., 1:]
    return float(total.max())


@njit(parallel=True, cache=True, fastmath={"contract"})
def _forward_euler(now, then, gz, gy, gx, part, ambient, source, dt, substeps):  # pragma: no cover - compiled
    """Take ``substeps`` steps of length dt; return (temperature, scratch), which are ``now`` and ``then``.

    ``part`` is 0 in air, which stays at ambient, and 1 elsewhere; empty if there is no air. ``ambient`` is a
    row of zeros beyond the front and back; ``source`` warms the front cells, per time.
    """
    nz, ny, nx = now.shape
    for _ in range(substeps):
        for row in prange(nz * ny):
            z = row // ny
            y = row - z * ny
            t, new = now[z, y], then[z, y]
            front = now[z - 1, y] if z > 0 else ambient
            back = now[z + 1, y] if z < nz - 1 else ambient
            north = now[z, y - 1] if y > 0 else now[z, ny - 1]
            south = now[z, y + 1] if y < ny - 1 else now[z, 0]
            g_front, g_back, g_north, g_south, g = gz[z, y], gz[z + 1, y], gy[z, y], gy[z, y + 1], gx[z, y]
            for x in range(1, nx - 1):
                new[x] = t[x] + dt * (
                    g_front[x] * (front[x] - t[x])
                    + g_back[x] * (back[x] - t[x])
                    + g_north[x] * (north[x] - t[x])
                    + g_south[x] * (south[x] - t[x])
                    + g[x] * (t[x - 1] - t[x])
                    + g[x + 1] * (t[x + 1] - t[x])
                )
            for x in (0, nx - 1):
                west = t[x - 1] if x > 0 else t[nx - 1]
                east = t[x + 1] if x < nx - 1 else t[0]
                new[x] = t[x] + dt * (
                    g_front[x] * (front[x] - t[x])
                    + g_back[x] * (back[x] - t[x])
                    + g_north[x] * (north[x] - t[x])
                    + g_south[x] * (south[x] - t[x])
                    + g[x] * (west - t[x])
                    + g[x + 1] * (east - t[x])
                )
            if part.size:
                for x in range(nx):
                    new[x] *= part[z, y, x]
            if z == 0:
                for x in range(nx):
                    new[x] += dt * source[y, x]
        now, then = then, now
    return now, then


def _start(
    initial: np.ndarray | GaussianFlash | UniformFlash | TopHatPulse, grid: Grid, factor: int
) -> tuple[np.ndarray, np.ndarray, tuple[float, ...]]:
    """Temperature at t = 0, heating rate of the front cells, and the times it is switched on and off."""
    fine = grid.refined(factor)
    if isinstance(initial, (GaussianFlash, UniformFlash)):
        return initial.amplitude * initial.shape(fine), np.zeros(fine.shape[1:]), ()
    if isinstance(initial, TopHatPulse):
        profile = initial.profile
        if profile is not None and np.shape(profile) == grid.shape[1:]:
            initial = dataclasses.replace(initial, profile=_repeated(np.asarray(profile), factor))
        switches = (float(initial.start), float(initial.start + initial.duration))
        return np.zeros(fine.shape), initial.amplitude * initial.shape(fine), switches
    return _on_grid("initial", initial, grid, factor).copy(), np.zeros(fine.shape[1:]), ()


def _diffusivity(given: np.ndarray, grid: Grid, factor: int) -> np.ndarray:
    """The diffusivity on the refined grid, positive."""
    alpha = _on_grid("alpha", given, grid, factor)
    if (alpha <= 0).any():
        where = _first(alpha <= 0)
        raise InputError(f"alpha{list(where)}={alpha[where]:g} must be above 0; an insulator is a small value.")
    return alpha


def _on_grid(what: str, given: np.ndarray, grid: Grid, factor: int) -> np.ndarray:
    """Return a finite float64 array on the refined grid."""
    try:
        values = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InputError(f"{what} must be numbers, in a NumPy array (z, y, x), not {type(given).__name__}.") from None
    fine = grid.refined(factor).shape
    if values.shape == grid.shape != fine:
        values = _repeated(values, factor)
    if values.shape != fine:
        finer = f" and the refined one {fine}" if fine != grid.shape else ""
        raise InputError(
            f"{what} has shape {values.shape}, the grid {grid.shape}{finer}, in the order (z, y, x); "
            "resample it, or build the grid with its shape."
        )
    if not np.isfinite(values).all():
        where = _first(~np.isfinite(values))
        raise InputError(f"{what}{list(where)}={values[where]} is not finite; repair that cell first.")
    return values


def _repeated(values: np.ndarray, factor: int) -> np.ndarray:
    """Every cell ``factor`` times along each axis."""
    return np.kron(values, np.ones((factor,) * values.ndim))


def _averaged_down(layer: np.ndarray, factor: int) -> np.ndarray:
    """Means over blocks of factor^3 cells of a layer ``factor`` cells thick, (y, x)."""
    _, ny, nx = layer.shape
    return layer.reshape(factor, ny // factor, factor, nx // factor, factor).mean(axis=(0, 2, 4))


def _pieces(begin: float, end: float, switches: tuple[float, ...]) -> list[tuple[float, float]]:
    """The time from ``begin`` to ``end``, cut where the source is switched; nothing if it has no length."""
    cuts = [begin, *(s for s in switches if begin < s < end), end]
    return [(a, b) for a, b in itertools.pairwise(cuts) if b > a]


@contextlib.contextmanager
def _threads_for(cells: int) -> Iterator[None]:
    """One thread for a small grid, all that numba may use for a large one."""
    allowed = get_num_threads()
    set_num_threads(allowed if cells >= CELLS_FOR_THREADS else 1)
    try:
        yield
    finally:
        set_num_threads(allowed)


def _first(bad: np.ndarray) -> tuple[int, ...]:
    """Index of the first true entry."""
    return tuple(int(i) for i in np.argwhere(bad)[0])
