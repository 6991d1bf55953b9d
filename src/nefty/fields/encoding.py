"""Fourier features of a coordinate, opened band by band (paper, section 4.1 and appendix D.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import Grid


def annealing_weights(beta: float | Tensor, bands: int) -> Tensor:
    """Weight of each band, (bands,), float64 (paper, the schedule of appendix D.1, after Park 2021):

    w_k = (1 - cos(pi clamp(beta - k, 0, 1)))/2.

    Args:
        beta: how many bands are open, 0 to ``bands``.
        bands: N.
    """
    bands = count("bands", bands, at_least=0)
    opened = torch.as_tensor(beta, dtype=torch.float64)
    k = torch.arange(bands, dtype=torch.float64, device=opened.device)
    return (1 - torch.cos(math.pi * (opened - k).clamp(0, 1))) / 2


class FourierEncoding(nn.Module):
    """gamma(u) = (sin(2^0 pi u), cos(2^0 pi u), ..., sin(2^(N-1) pi u), cos(2^(N-1) pi u)), u = (z, y, x) in [-1, 1].

    The raw coordinates are not among the features. All bands are open until ``open_to`` closes some. Every feature
    has the same value at u = -1 and u = 1: right for periodic sides, while along z it ties the back face to the front.

    On a grid of n cells along an axis, bands from log2(n) on are the same number at every cell centre: they tell
    nothing on that grid and are not determined between its cells.

    Args:
        bands: N; 0 gives the coordinates themselves, without encoding.
        wrap: for z, y, x, whether the two ends are one place, as in the paper; where not, the frequencies are halved,
            2^(k-1) pi, so that the ends differ.
    """

    beta: Tensor

    def __init__(self, bands: int = 12, *, wrap: Sequence[bool] = (True, True, True)) -> None:
        super().__init__()
        self.bands = count("bands", bands, at_least=0)
        if len(wrap) != 3:
            raise InputError(f"wrap={wrap!r} must have three entries, in the order (z, y, x).")
        self.wrap = (bool(wrap[0]), bool(wrap[1]), bool(wrap[2]))
        self.register_buffer("beta", torch.tensor(float(self.bands)))

    @property
    def size(self) -> int:
        """Number of features, 2 * 3 * N."""
        return 6 * self.bands or 3

    def open_to(self, beta: float) -> None:
        """Open ``beta`` bands, 0 to ``bands``; a fraction opens the next one partly."""
        beta = number("beta", beta, at_least=0)
        if beta > self.bands:
            raise InputError(f"beta={beta:g} is more than the {self.bands} bands there are; give at most that.")
        self.beta.fill_(beta)

    def basis(self, coordinates: Tensor) -> Tensor:
        """Features with all bands open, (..., size), of coordinates (..., 3); angles are float64 inside."""
        if self.bands == 0:
            return coordinates
        options = {"dtype": torch.float64, "device": coordinates.device}
        octaves = math.pi * 2.0 ** torch.arange(self.bands, **options)
        stretch = torch.tensor([1.0 if w else 0.5 for w in self.wrap], **options)
        angle = coordinates.double()[..., None, :] * (octaves[:, None] * stretch)
        return torch.stack([angle.sin(), angle.cos()], dim=-2).flatten(-3).to(coordinates.dtype)

    def tables(self, grid: Grid) -> tuple[Tensor, Tensor, Tensor]:
        """Features with all bands open at the cell centres along z, y and x, each (cells along it, size/3), float64.

        Those of axis a are the columns a, a + 3, a + 6, ... of ``basis``, which depend on that coordinate alone.
        """
        found = []
        for axis, (centres, length) in enumerate(zip(grid.centres(), grid.size, strict=True)):
            coordinate = 2 * torch.from_numpy(centres.ravel()) / length - 1
            found.append(self.basis(coordinate[:, None].expand(-1, 3))[:, axis::3].contiguous())
        return found[0], found[1], found[2]

    def weights(self) -> Tensor:
        """Weight of each feature by the bands that are open, (size,), float64."""
        if self.bands == 0:
            return torch.ones(3, dtype=torch.float64, device=self.beta.device)
        return annealing_weights(self.beta, self.bands).repeat_interleave(6)

    def mask(self, features: Tensor) -> Tensor:
        """Features of ``basis`` times the weights of their bands."""
        return features if self.bands == 0 else features * self.weights().to(features.dtype)

    def forward(self, coordinates: Tensor) -> Tensor:
        """Features (..., size) of coordinates (..., 3) in [-1, 1], axis order (z, y, x)."""
        return self.mask(self.basis(coordinates))
