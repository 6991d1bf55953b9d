"""The 3D U-Net of the paper's appendix F.3."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from nefty.supervised.lateral_padding import padded

GROUP = 8  # channels that are normalised together


class UNet(nn.Module):
    """From slices in time to cells in depth: (batch, channels, z, y, x) to (batch, 1, z, y, x).

    Each level convolves twice (3 x 3 x 3) and halves the volume by the largest of 2 x 2 x 2; the way back doubles it
    by linear interpolation and convolves twice with the level's own features beside it. The sides wrap around or
    repeat the edge like the part's; beyond the front and the back there are zeros. Groups of channels are normalised
    within a sample, so the batch may be small.

    Args:
        channels: of the input.
        levels: features of each level; every edge of the volume must divide by 2^(levels - 1).
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
    """

    def __init__(
        self, channels: int = 2, levels: Sequence[int] = (32, 64, 128, 256), lateral: str = "periodic"
    ) -> None:
        super().__init__()
        self.divisor = 2 ** (len(levels) - 1)
        self.down = nn.ModuleList(
            Pair(before, after, lateral) for before, after in zip((channels, *levels), levels, strict=False)
        )
        self.up = nn.ModuleList(Pair(above + below, above, lateral) for above, below in pairwise(levels))
        self.last = nn.Conv3d(levels[0], 1, 1)
        self.pool = nn.MaxPool3d(2)
        self.lateral = lateral

    def forward(self, x: Tensor) -> Tensor:
        """What the head turns into a diffusivity."""
        kept = []
        for level, pair in enumerate(self.down):
            x = pair(self.pool(x) if level else x)
            kept.append(x)
        kept.pop()
        for pair in reversed(self.up):
            x = pair(torch.cat([kept.pop(), self.enlarge(x)], dim=1))
        return self.last(x)

    def enlarge(self, x: Tensor) -> Tensor:
        """Twice as many cells along each axis."""
        return nn.functional.interpolate(padded(x, self.lateral), scale_factor=2, mode="trilinear")[..., 2:-2, 2:-2]


class Pair(nn.Module):
    """Two convolutions, each normalised and rectified."""

    def __init__(self, before: int, after: int, lateral: str) -> None:
        super().__init__()
        self.lateral = lateral
        self.first = nn.Conv3d(before, after, 3, bias=False)
        self.second = nn.Conv3d(after, after, 3, bias=False)
        self.norms = nn.ModuleList(nn.GroupNorm(after // math.gcd(after, GROUP), after) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """Of the same (z, y, x)."""
        for convolution, norm in zip((self.first, self.second), self.norms, strict=True):
            x = torch.relu(norm(convolution(padded(x, self.lateral, depth=True))))
        return x
