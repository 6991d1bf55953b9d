"""What the middle pixel tells of the layers of a part, past the normalisations of a network."""

from __future__ import annotations

import torch
from torch import Tensor, nn

WIDTH = 64
FINEST = 5e-3  # the least spread, of inputs of order 1: finer differences are not told apart
FARTHEST = 3.0  # spreads from the middle of the training's recordings; what is farther is taken for that


class Strata(nn.Module):
    """From the input (batch, channels, slices, y, x) to what each layer's output is raised by, (batch, 1, z, 1, 1).

    How the middle pixel cools tells the diffusivity of the background almost exactly, but the numbers differ by a few
    percent between parts, and networks that normalise within a sample lose them. Here they are measured in spreads
    of the training's recordings and go through two layers of their own. Zero at first.

    Args:
        channels, slices: of the input.
        layers: of cells in depth.
    """

    middle: Tensor
    spread: Tensor

    def __init__(self, channels: int, slices: int, layers: int) -> None:
        super().__init__()
        self.register_buffer("middle", torch.zeros(channels * slices))
        self.register_buffer("spread", torch.ones(channels * slices))
        self.inner = nn.Linear(channels * slices, WIDTH)
        self.outer = nn.Linear(WIDTH, layers)
        nn.init.zeros_(self.outer.weight)
        nn.init.zeros_(self.outer.bias)

    def measure(self, decays: Tensor) -> None:
        """Take middle and spread from the middle pixels of recordings, (recordings, channels * slices)."""
        self.middle.copy_(decays.mean(dim=0))
        self.spread.copy_(decays.std(dim=0, correction=min(1, len(decays) - 1)).clamp(min=FINEST))

    def forward(self, given: Tensor) -> Tensor:
        """In float32 throughout, whatever the network around it uses."""
        with torch.autocast(given.device.type, enabled=False):
            seen = (middle_pixel(given.float()) - self.middle) / self.spread
            raised = self.outer(torch.relu(self.inner(seen.clamp(-FARTHEST, FARTHEST))))
        return raised[:, None, :, None, None]


def middle_pixel(given: Tensor) -> Tensor:
    """Median over the face of each channel and slice, (batch, channels * slices)."""
    return given.flatten(3).median(dim=3).values.flatten(1)
