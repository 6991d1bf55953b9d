"""Where networks are evaluated: scattered points, or all combinations of points along the axes.

Coordinates are (t, z, y, x), each from -1 to 1: from the flash to the last frame, from the front face to the back, from
side to side.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Scattered:
    """Points one by one.

    Args:
        u: (n, 4).
    """

    u: Tensor

    @property
    def place(self) -> Tensor:
        """(n, 3), z, y, x."""
        return self.u[:, 1:]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a value at each point, (n,)."""
        return (len(self.u),)

    @property
    def place_shape(self) -> tuple[int, ...]:
        """Of a value at each place, which broadcasts to ``shape``."""
        return (len(self.u),)


@dataclass(frozen=True, eq=False)
class Product:
    """All combinations of the points along t, z, y and x.

    Args:
        axes: four lists of coordinates.
    """

    axes: tuple[Tensor, Tensor, Tensor, Tensor]

    @property
    def place(self) -> Tensor:
        """(z y x, 3), z, y, x."""
        return torch.cartesian_prod(*self.axes[1:])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of a value at each point, (t, z, y, x)."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def place_shape(self) -> tuple[int, ...]:
        """Of a value at each place, which broadcasts to ``shape``: (z, y, x)."""
        return self.shape[1:]


Points = Scattered | Product
