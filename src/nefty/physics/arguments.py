"""What a model is called with, checked: arrays, numbers and tensors become tensors of its precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary


@dataclass(frozen=True)
class Arguments:
    """The arguments of a model's call; what does not fit is an error that says what to change.

    Args:
        grid: the cells.
        boundary: which faces lose heat.
        dtype: of the results.
    """

    grid: Grid
    boundary: Boundary
    dtype: torch.dtype

    def volume(self, what: str, given: Any) -> Tensor:
        """``given`` as a tensor (z, y, x) whose values are finite in the model's precision."""
        try:
            value = given if isinstance(given, Tensor) else torch.from_numpy(np.array(given, dtype=np.float64))
        except (TypeError, ValueError):
            raise InputError(f"{what} must be an array (z, y, x) or a flash, got {type(given).__name__}.") from None
        if tuple(value.shape) != self.grid.shape:
            raise InputError(
                f"{what} has shape {tuple(value.shape)}, the grid has {self.grid.shape} (z, y, x); "
                "check the axis order, or resample it."
            )
        bad = ~torch.isfinite(value.detach().to(self.dtype))
        if bool(bad.any()):
            where = tuple(bad.nonzero()[0].tolist())
            raise InputError(f"{what} holds NaN or infinity, first at cell {where} (z, y, x); repair or bound it.")
        return value

    def diffusivity(self, given: Any) -> Tensor:
        """Alpha as a tensor (z, y, x) above 0."""
        alpha = self.volume("alpha", given).to(self.dtype)
        low = float(alpha.detach().min())
        if low <= 0:
            where = tuple(int(i) for i in np.unravel_index(int(alpha.detach().argmin()), self.grid.shape))
            raise InputError(
                f"alpha={low:g} at cell {where} (z, y, x) must be above 0; bound the field, for air use a small "
                "value such as 1e-4 of the bulk."
            )
        return alpha

    def resistances(self, given: Any, like: Tensor) -> Tensor:
        """R of the faces between layers as a tensor (z - 1, y, x)."""
        nz, ny, nx = self.grid.shape
        value = self.number("resistance", given, like.device)
        if tuple(value.shape) != (nz - 1, ny, nx):
            raise InputError(
                f"resistance has shape {tuple(value.shape)}; give one value for each face between two layers, "
                f"{(nz - 1, ny, nx)} (z - 1, y, x)."
            )
        if bool((value.detach() < 0).any()):
            raise InputError("resistance is below 0 somewhere; it must be at least 0, in s/m where alpha is in m2/s.")
        return value

    def losses(self, given: Any, like: Tensor) -> Tensor:
        """Rates at which cells lose heat as a tensor (z, y, x)."""
        value = self.volume("losses", given).to(like.device, self.dtype)
        if bool((value.detach() < 0).any()):
            raise InputError(
                "losses is below 0 somewhere; a cell loses heat, it does not gain it. Give 1/s, at least 0."
            )
        return value

    def number(self, what: str, given: Any, device: torch.device) -> Tensor:
        """``given`` as a finite tensor of the model's precision, on the graph if it was."""
        try:
            value = torch.as_tensor(given, dtype=self.dtype, device=device)
        except (TypeError, ValueError, RuntimeError):
            raise InputError(f"{what} must be a number, got {given!r}.") from None
        if not bool(torch.isfinite(value.detach()).all()):
            raise InputError(f"{what}={given!r} is not finite in {self.dtype}; give a real number.")
        return value

    def loss(self, face: str, given: Any, like: Tensor) -> Tensor:
        """h of a face as a tensor, scalar or (y, x)."""
        kind = getattr(self.boundary, face)
        if given is None:
            given = getattr(self.boundary, f"h_{face}")
        elif kind == "adiabatic":
            raise InputError(f'h_{face} was given but the {face} is adiabatic; use Boundary({face}="robin").')
        h = self.number(f"h_{face}", given, like.device)
        if h.ndim and tuple(h.shape) != self.grid.shape[1:]:
            raise InputError(
                f"h_{face} has shape {tuple(h.shape)}; give a number or a map of {self.grid.shape[1:]} (y, x)."
            )
        low = float(h.detach().min())
        if low < 0:
            raise InputError(f"h_{face}={low:g} must be at least 0: a face loses heat, it does not gain it.")
        return h
