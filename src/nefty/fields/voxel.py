"""The diffusivity as one unknown per cell."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.fields.heads import PAPER_HEAD, Head, background_profile


class VoxelField(nn.Module):
    """alpha = head((z/H)^p u), one unknown u per cell.

    Surface data say less about deep cells, so their gradient is small. With p > 0 the unknown is the value divided by
    (z/H)^p, z the depth of the cell's centre: a step of one size in u moves a deep cell further than a shallow one.

    Args:
        grid: the cells.
        head: from the value to a diffusivity, or to the ratio to ``background``.
        start: what the head returns at first, a number or (z, y, x); 1 by default where there is a background.
        depth_power: p.
        scale: (z, y, x), in place of (z/H)^p.
        background: diffusivity of the background, (z,): alpha = background(z) head(...).
        free_layers: let the background of each layer be unknown too: alpha = background(z) exp(layers(z)) head(...).
        dtype: of everything.
    """

    background: Tensor | None
    layers: nn.Parameter | None
    scale: Tensor

    def __init__(
        self,
        grid: Grid,
        head: Head = PAPER_HEAD,
        *,
        start: Any = None,
        depth_power: float = 0.0,
        scale: Any = None,
        background: Any = None,
        free_layers: bool = False,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.grid, self.head = grid, head
        profile = background_profile(background, grid)
        self.register_buffer("background", None if profile is None else profile.to(dtype)[:, None, None])
        if scale is None:
            depth = torch.from_numpy(grid.centres()[0]) / grid.size[0]
            scale = depth ** number("depth_power", depth_power, at_least=0)
        self.register_buffer("scale", torch.as_tensor(scale).to(dtype))
        if start is None:
            if profile is None:
                raise InputError("start is missing; give the diffusivity of the background, or a background.")
            start = 1.0
        value = head.inverse(start).detach().to(dtype)
        if value.ndim and value.shape != grid.shape:
            raise InputError(f"start has shape {tuple(value.shape)}, the grid {grid.shape} (z, y, x); resample it.")
        self.unknown = nn.Parameter((value.expand(grid.shape) / self.scale).contiguous())
        if free_layers and profile is None:
            raise InputError("the layers of a field without a background cannot be free; give a background.")
        layers = nn.Parameter(torch.zeros(grid.shape[0], dtype=dtype)) if free_layers else None
        self.register_parameter("layers", layers)

    @property
    def unknowns(self) -> int:
        """How many numbers are optimised."""
        return sum(p.numel() for p in self.parameters())

    @property
    def present_background(self) -> Tensor | None:
        """The background with its free layers as they stand, (z, 1, 1), on the graph."""
        if self.layers is None or self.background is None:
            return self.background
        return self.background * self.layers.exp()[:, None, None]

    @property
    def box(self) -> tuple[Tensor, Tensor]:
        """Least and greatest value of the unknowns, broadcasting to (z, y, x); infinite if the head has no bounds."""
        low, high = self.head.box
        return low / self.scale, high / self.scale

    @torch.no_grad()
    def rescale(self, scale: Any) -> None:
        """Change the scale of the unknowns and nothing else; what sits on a side of the box stays on it, to the bit."""
        low, high = self.box
        at_low, at_high = self.unknown <= low, self.unknown >= high
        value = self.unknown * self.scale
        self.scale = torch.as_tensor(scale).to(self.scale)
        low, high = self.box
        value = torch.where(at_low, low, torch.where(at_high, high, value / self.scale))
        self.unknown.copy_(value.to(self.unknown))

    def forward(self) -> Tensor:
        """Diffusivity of the cells, (z, y, x)."""
        ratio, background = self.ratio(), self.present_background
        return ratio if background is None else background * ratio

    def ratio(self) -> Tensor:
        """What the head returns, (z, y, x): the ratio to the background, where there is one."""
        return self.head(self.unknown * self.scale)
