"""PhiFlow's explicit diffusion, the engine of the paper's data (appendix E.1).

PhiFlow names its axes, and its vectors follow the order x, y, z; volumes are handed over as (x, y, z). This module
imports PhiFlow; ``nefty.synth.engines`` imports it only when it is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
import torch
from phi import field, math  # pyright: ignore[reportMissingImports]
from phi.torch.flow import (  # pyright: ignore[reportMissingImports]
    PERIODIC,
    ZERO_GRADIENT,
    Box,
    CenteredGrid,
    Field,
    spatial,
)
from phiml.math.extrapolation import NONE  # pyright: ignore[reportMissingImports]

from nefty.core.grid import Grid

LATERAL = {"periodic": PERIODIC, "adiabatic": ZERO_GRADIENT}
FACE_MEANS: dict[str, Callable[[Any, Any], Any]] = {
    "harmonic": lambda p, q: 2 * p * q / (p + q),
    "min": math.minimum,
}
LEAST_SUBSTEPS = 10  # paper, appendix E.1


def simulate_phiflow(
    grid: Grid,
    alpha: np.ndarray,
    times: np.ndarray,
    initial: np.ndarray,
    *,
    lateral: str = "periodic",
    face_mean: str = "min",
    observe: str = "front",
    safety: float = 2.0,
    progress: Callable[[int, int], object] | None = None,
) -> np.ndarray:
    """Simulate a recording by PhiFlow: forward Euler, float64, one jitted call per frame.

    Args:
        grid: the cells, adiabatic in z.
        alpha: diffusivity, (z, y, x).
        times: of the frames.
        initial: temperature at t = 0, (z, y, x).
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
        face_mean: ``"min"``, which is what ``diffuse.explicit`` takes, or ``"harmonic"``.
        observe: ``"front"``, ``"back"`` or ``"both"``.
        safety: of the rule for substeps; see ``substeps_for``.
        progress: called with (frames done, frames in all) after each frame.

    Returns:
        Frames in float64, (t, y, x), or (2, t, y, x) for ``observe="both"``, the front first.
    """
    layers = [{"front": 0, "back": -1}[side] for side in ("front", "back") if observe in (side, "both")]
    frames = np.empty((len(layers), len(times), *grid.shape[1:]))
    axes = spatial("x,y,z")
    with math.precision(64), torch.no_grad():
        temperature = math.tensor(_transposed(initial), axes)
        diffusivity = CenteredGrid(math.tensor(_transposed(alpha), axes), sides(lateral), bounds=box_of(grid.size))
        faces = field.stagger(diffusivity, FACE_MEANS[face_mean], NONE).values
        now = 0.0
        for index, time in enumerate(times):
            if time > now:
                substeps = substeps_for(time - now, float(alpha.max()), grid.spacing, safety)
                step = math.tensor(torch.tensor((time - now) / substeps, dtype=torch.float64))
                temperature = _jitted(lateral, grid.size, substeps)(temperature, faces, step)
            now = time
            volume = temperature.native("z,y,x").numpy()
            frames[:, index] = volume[layers]
            if progress is not None:
                progress(index + 1, len(times))
    return frames if observe == "both" else frames[0]


def substeps_for(dt: float, largest: float, spacing: tuple[float, float, float], safety: float = 2.0) -> int:
    """Substeps of a frame: the paper's rule (appendix E.1) N = max(10, ceil(safety dt/dt_stable)), safety = 2.

    dt_stable = 1/(2 alpha_max sum_d 1/dx_d^2), the limit for unequal spacings.
    """
    stable = 1 / (2 * largest * sum(1 / h**2 for h in spacing))
    return max(LEAST_SUBSTEPS, ceil(safety * dt / stable * (1 - 1e-9)))  # equal frames, but for rounding, get equal N


def diffusion(u: Field, faces: Field) -> Any:
    """div(alpha grad u) from face diffusivities, as ``diffuse.differential`` does it; values only."""
    return (faces * u.gradient(boundary=NONE, at="face")).divergence(order=2).values


def sides(lateral: str) -> dict[str, Any]:
    """Boundary conditions by axis; adiabatic along z."""
    return {"x": LATERAL[lateral], "y": LATERAL[lateral], "z": ZERO_GRADIENT}


def box_of(size: tuple[float, float, float]) -> Box:
    """The slab of edge lengths (z, y, x)."""
    depth, height, width = size
    return Box(x=width, y=height, z=depth)


@functools.lru_cache(maxsize=16)
def _jitted(lateral: str, size: tuple[float, float, float], substeps: int) -> Any:
    """A function that takes the temperature over ``substeps`` steps; tracing one takes seconds, so they are kept."""
    box = box_of(size)

    @math.jit_compile
    def frame(temperature, faces, step):
        u = CenteredGrid(temperature, sides(lateral), bounds=box)
        alpha = Field(u.geometry, faces, NONE)
        for _ in range(substeps):
            u = u.with_values(u.values + step * diffusion(u, alpha))
        return u.values

    return frame


def _transposed(volume: np.ndarray) -> torch.Tensor:
    """A volume (z, y, x) as float64 (x, y, z)."""
    return torch.from_numpy(np.ascontiguousarray(volume.T, dtype=np.float64))
