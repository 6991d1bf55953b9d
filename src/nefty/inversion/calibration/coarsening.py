"""The same problem with cells twice as wide: a quarter of the work."""

from __future__ import annotations

import dataclasses

import numpy as np

from nefty.core.grid import Grid
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import LASTING, GaussianFlash, UniformFlash

FEWEST = 16  # pixels along a side that are still halved


def wider_pixels(seen: Observation) -> Observation | None:
    """The recording with means over 2 x 2 pixels; ``None`` where their number is odd or small.

    A pixel of the new recording counts if at least one of the four does, and is the mean of those.
    """
    nz, ny, nx = seen.grid.shape
    if ny % 2 or nx % 2 or min(ny, nx) < FEWEST:
        return None
    frames, counted = mean_of_counted(seen.frames, seen.counted)
    grid = Grid((nz, ny // 2, nx // 2), seen.grid.size)
    noise = seen.noise
    if np.shape(noise)[-2:] == (ny, nx):
        noise = np.sqrt(blocks(np.square(noise)))
    return dataclasses.replace(seen, grid=grid, frames=frames, counted=counted, noise=noise / 2)


def mean_of_counted(values: np.ndarray, counted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means over the values of 2 x 2 pixels that count, and where there are any; 0 elsewhere."""
    share = blocks(counted.astype(np.float64))
    total = blocks(np.where(counted, values, 0.0))
    return np.divide(total, share, out=np.zeros(share.shape), where=share > 0), share > 0


def wider_cells(model: HeatModel) -> HeatModel:
    """The model with cells twice as wide, heated by the means over 2 x 2 cells."""
    nz, ny, nx = model.grid.shape
    initial = model.initial
    if isinstance(initial, LASTING):
        if initial.profile is not None:
            initial = dataclasses.replace(initial, profile=blocks(np.asarray(initial.profile)))
    elif isinstance(initial, (GaussianFlash, UniformFlash)):
        initial = blocks(initial.amplitude * initial.shape(model.grid))
    else:
        initial = blocks(np.asarray(initial, dtype=np.float64))
    return model.replaced(grid=Grid((nz, ny // 2, nx // 2), model.grid.size), initial=initial)


def blocks(values: np.ndarray) -> np.ndarray:
    """Means over 2 x 2 pixels."""
    *rest, ny, nx = values.shape
    return values.reshape(*rest, ny // 2, 2, nx // 2, 2).mean(axis=(-3, -1))
