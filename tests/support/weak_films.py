"""The contrast of a plate with a thin sheet of resistance in it, by cells that are finer than those of a fit."""

from __future__ import annotations

import numpy as np
import torch

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet

SLAB = WeakSheet(4.5e-7, 3e-3, 2e-6, 3e-6)
TIME = SLAB.thickness**2 / SLAB.alpha
TIMES = TIME * np.geomspace(0.03, 1.2, 24)
PIXEL = (0.8e-3, 0.75e-3)
SPREAD = 4e-3 * (TIMES / TIMES[0]) ** 0.3


def disc(shape: tuple[int, int], centre: tuple[float, float], radius: float) -> np.ndarray:
    """Pixels (y, x) within a circle; lengths in pixels."""
    rows, columns = np.indices(shape)
    return np.hypot(rows - centre[0], columns - centre[1]) <= radius


def shown_by(
    resistance: np.ndarray,
    depth: float,
    *,
    layers: int = 40,
    along: tuple[float, float] = (1.0, 1.0),
    times: np.ndarray = TIMES,
) -> np.ndarray:
    """ln(T/T_sound) of a resistance R/(thickness/alpha) under each pixel, (t, y, x).

    Args:
        resistance: (y, x).
        depth: of the sheet over the thickness; between the faces of cells it is moved to the nearest.
        layers: of cells.
        along: diffusivity along y and x over that through the thickness.
        times: of the frames.
    """
    rows, columns = resistance.shape
    grid = Grid((layers, rows, columns), (SLAB.thickness, rows * PIXEL[0], columns * PIXEL[1]))
    flash = np.zeros(grid.shape)
    flash[0] = layers
    boundary = Boundary("adiabatic", "robin", "robin", h_front=SLAB.h_front, h_back=SLAB.h_back)
    model = HeatModel(grid, times, flash, boundary, anisotropy=along, dtype="float64")
    alpha = torch.full(grid.shape, SLAB.alpha, dtype=torch.float64)
    sheet = torch.zeros((layers - 1, rows, columns), dtype=torch.float64)
    sheet[round(depth * layers) - 1] = torch.from_numpy(resistance * SLAB.thickness / SLAB.alpha)
    return np.log(model(alpha, resistance=sheet).numpy() / model(alpha).numpy())


def contrast_of(
    values: np.ndarray, rng: np.random.Generator | None = None, weight: np.ndarray | None = None
) -> Contrast:
    """A contrast with those values (t, y, x), with noise if a generator is given."""
    if rng is not None:
        values = values + SPREAD[:, None, None] * rng.standard_normal(values.shape)
    weight = np.ones(values.shape[1:]) if weight is None else weight
    return Contrast(TIMES, values * (weight > 0), weight, SPREAD, PIXEL)
