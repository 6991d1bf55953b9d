"""What single cells are besides their diffusivity: a heat capacity of their own, or the air of an open hole.

With the heat capacity C of a cell relative to the background's rho c, and alpha = k/(rho c of the background),

    C dT/dt = div(alpha grad T),   symmetric as dv/dt = C^(-1/2) L C^(-1/2) v with v = C^(1/2) T.

A hole that is open to the back is air that moves: no heat is conducted into it, and every wall of it, its bottom and
its sides, loses n . alpha grad T = -h_back T as the back face does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.conductance import in_all_cells, surface_loss
from nefty.physics.kernels import Kernel
from nefty.physics.kernels.weighted_kernel import WeightedKernel


class CellProperties:
    """Heat capacity and open holes of the cells of a grid.

    Args:
        grid: the cells.
        capacity: heat capacity of each cell over that of the background, (z, y, x), above 0; 1 if None.
        open_cells: cells (z, y, x) that are air of a hole open to the back; none if None.
    """

    def __init__(self, grid: Grid, capacity: Any = None, open_cells: Any = None) -> None:
        self._grid = grid
        self.capacity = None if capacity is None else _capacity(capacity, grid)
        self.open_cells = None if open_cells is None else _open(open_cells, grid)
        self._root = None if self.capacity is None else torch.from_numpy(np.sqrt(self.capacity))
        self._solid = None if self.open_cells is None else torch.from_numpy(~self.open_cells)

    @property
    def plain(self) -> bool:
        """Whether all cells are solid and of the background's capacity."""
        return self._root is None and self._solid is None

    def kernel(self, inner: Kernel, like: Tensor, *, everywhere: bool) -> Kernel:
        """The kernel that knows the cells; ``everywhere``: sinks are in all of them, not at front and back only."""
        if self.plain and not everywhere:
            return inner
        weights = None if self._root is None else inner.array(1 / self._root.to(like))
        return WeightedKernel(inner, weights)

    def faces(self, faces: Tensor, lateral: str) -> Tensor:
        """Conductances (3, z, y, x) without those into air."""
        if self._solid is None:
            return faces
        solid = self._solid.to(faces.device)
        both = torch.stack([solid & solid.roll(1, axis) for axis in range(3)])
        return faces * both

    def sinks(
        self, sinks: Tensor, alpha: Tensor, h_back: Tensor, boundary: Boundary, anisotropy: tuple[float, float]
    ) -> Tensor:
        """Loss rates of all cells (z, y, x), from those of front and back (2, y, x) and of the holes' walls."""
        if self.plain:
            return sinks
        total = in_all_cells(sinks, alpha)
        if self._solid is None:
            return total
        if boundary.back == "robin":
            for axis, ratio in enumerate((1.0, *anisotropy)):
                walls = self._air_beside(axis, boundary.lateral).to(alpha)
                rate = surface_loss(h_back, ratio * alpha, self._grid.spacing[axis], boundary.robin)
                total = total + walls * rate
        return total * self._solid.to(alpha)

    def _air_beside(self, axis: int, lateral: str) -> Tensor:
        """How many of the two neighbours along an axis are air, (z, y, x)."""
        assert self._solid is not None
        air = ~self._solid
        before, after = air.roll(1, axis), air.roll(-1, axis)
        if axis == 0 or lateral == "adiabatic":
            before.select(axis, 0)[:] = False
            after.select(axis, -1)[:] = False
        return before.int() + after.int()

    def start(self, temperature: Tensor) -> Tensor:
        """C^(1/2) T, 0 in air."""
        if self._solid is not None:
            temperature = temperature * self._solid.to(temperature)
        return temperature if self._root is None else temperature * self._root.to(temperature)

    def heating(self, rate: Tensor) -> Tensor:
        """C^(-1/2) times the heat that the front cells get, (y, x)."""
        return rate if self._root is None else rate / self._root[0].to(rate)

    def shown(self, state: Tensor, layers: tuple[int, ...]) -> Tensor:
        """The temperature of layers (t, layer, y, x); the transpose is the same."""
        return state if self._root is None else state / self._root[list(layers)].to(state)


def _capacity(given: Any, grid: Grid) -> np.ndarray:
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"capacity must be an array (z, y, x) of numbers, got {type(given).__name__}.") from None
    _same_shape("capacity", values, grid)
    if not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            "capacity must be finite and above 0 in all cells: rho c of each over that of the background; for air use "
            "a small value such as 1e-3."
        )
    return values


def _open(given: Any, grid: Grid) -> np.ndarray:
    values = np.asarray(given)
    _same_shape("open_cells", values, grid)
    if values.dtype != bool:
        raise InputError(f"open_cells holds {values.dtype}; give true or false for each cell, such as open_cells > 0.")
    if values[0].any():
        raise InputError("open_cells is true in the front layer, which is heated and seen; a hole opens to the back.")
    return values.copy()


def _same_shape(what: str, values: np.ndarray, grid: Grid) -> None:
    if values.shape != grid.shape:
        raise InputError(
            f"{what} has shape {values.shape}, the grid has {grid.shape} (z, y, x); "
            "check the axis order, or resample it."
        )
