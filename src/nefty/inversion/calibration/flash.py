"""The flash with another amplitude and depth."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nefty.core.grid import Grid
from nefty.inversion.calibration.coarsening import wider_cells
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import LASTING, GaussianFlash, UniformFlash


def with_flash(model: HeatModel, log_flash: np.ndarray, grid: Grid) -> HeatModel:
    """The model with amplitude and depth of the flash times exp(log_flash), on its own cells or twice as wide ones."""
    changed = model.replaced(initial=scaled(model.initial, log_flash))
    return changed if grid == model.grid else wider_cells(changed)


def scaled(initial: Any, log_flash: np.ndarray) -> Any:
    """The excitation with amplitude and depth times exp(log_flash)."""
    factor = [float(f) for f in np.exp(log_flash)]
    if has_depth(initial):
        return dataclasses.replace(initial, amplitude=initial.amplitude * factor[0], depth=initial.depth * factor[1])
    if isinstance(initial, LASTING):
        return dataclasses.replace(initial, amplitude=initial.amplitude * factor[0])
    return np.asarray(initial, dtype=np.float64) * factor[0]


def has_depth(initial: Any) -> bool:
    """Whether the heat of an excitation reaches into the part by a depth of its own."""
    return isinstance(initial, (GaussianFlash, UniformFlash))
