"""What is asked of a volume beyond fitting the frames."""

from __future__ import annotations

import torch
from torch import Tensor

from nefty.core.checks import number, one_of
from nefty.core.grid import Grid

SOUND = 0.02  # of log(alpha/background), below which a cell is as good as sound
BACK = ("free", "sound")


def total_variation(
    field: Tensor,
    grid: Grid,
    *,
    smoothing: float = 1e-6,
    lateral: str = "periodic",
    back: str = "free",
    depth_gain: float = 0.0,
    unit: float = 1.0,
) -> Tensor:
    """The paper's isotropic total variation (eq. tv_discrete), a scalar:

        R = dx dy dz sum sqrt((d_x a/dx)^2 + (d_y a/dy)^2 + (d_z a/dz)^2 + eps^2)

    with forward differences that wrap around laterally if the sides are periodic and are 0 across adiabatic sides and
    at the last layer.

    Args:
        field: a, (z, y, x).
        grid: the cells.
        smoothing: eps, in the unit of the field over length.
        lateral: ``"periodic"`` or ``"adiabatic"``.
        back: ``"free"``, the paper's; or ``"sound"``: beyond the back face lies a layer of a = 0, so that what sticks
            to the back face costs as much as what does not (against the failure mode of appendix G.7).
        depth_gain: g of a weight 1 + g (z/H)^2: the deeper, the less the data say and the more this does.
        unit: length that counts as 1.
    """
    one_of("back", back, BACK)
    number("depth_gain", depth_gain, at_least=0)
    dz, dy, dx = (d / unit for d in grid.spacing)
    if lateral == "periodic":
        y, x = field.roll(-1, 1) - field, field.roll(-1, 2) - field
    else:
        y, x = (torch.diff(field, dim=a, append=field.narrow(a, field.shape[a] - 1, 1)) for a in (1, 2))
    beyond = field[-1:] if back == "free" else torch.zeros_like(field[-1:])
    z = torch.diff(field, dim=0, append=beyond)
    steepness = torch.sqrt((z / dz) ** 2 + (y / dy) ** 2 + (x / dx) ** 2 + smoothing**2)
    if depth_gain:
        depth = torch.from_numpy(grid.centres()[0] / grid.size[0]).to(field)
        steepness = steepness * (1 + depth_gain * depth**2)
    return steepness.sum() * (dz * dy * dx)


def void_well(log_ratio: Tensor, grid: Grid, *, unit: float = 1.0) -> Tensor:
    """W = dx dy dz sum u (1 - u) with the deficit u = 1 - alpha/background: 0 in sound cells and in voids, which
    conduct next to nothing, and 1/4 half way between.

    A double well: it asks each cell to decide. Negative deficits cost nothing here.

    Args:
        log_ratio: log(alpha/background), (z, y, x).
        grid: the cells.
        unit: length that counts as 1.
    """
    deficit = -torch.expm1(log_ratio)
    volume = 1.0
    for d in grid.spacing:
        volume *= d / unit
    return (deficit * (1 - deficit)).clamp(min=0).sum() * volume


def anomaly(log_ratio: Tensor, grid: Grid, *, unit: float = 1.0) -> Tensor:
    """V = dx dy dz sum |log(alpha/background)|, smooth at 0: how much of the part is not sound, and by how much.

    The same resistance to heat costs less as a thin layer of low diffusivity than as a thick one that is nearly sound,
    which total variation alone would prefer; and a little scatter everywhere is not free.

    Args:
        log_ratio: log(alpha/background), (z, y, x).
        grid: the cells.
        unit: length that counts as 1.
    """
    volume = 1.0
    for d in grid.spacing:
        volume *= d / unit
    return (torch.sqrt(log_ratio**2 + SOUND**2) - SOUND).sum() * volume
