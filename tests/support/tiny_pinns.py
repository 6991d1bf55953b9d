"""PINNs that train in a second."""

from __future__ import annotations

import torch
from torch import Tensor

from nefty.pinn.settings import Settings, resolve

VARIANTS = ("gradnorm", "spinn", "causal", "dcgd")
TINY = {
    "temperature.depth": 2,
    "temperature.width": 8,
    "temperature.rank": 4,
    "diffusivity.depth": 3,
    "diffusivity.width": 8,
    "diffusivity.bands": 2,
    "diffusivity.skip": None,
    "diffusivity.opening": 0.0,
    "points.collocation": 64,
    "points.data": 64,
    "points.initial": 32,
    "points.sides": 16,
    "points.axes": (4, 4, 4, 4),
    "causal.chunks": 4,
    "iterations": 4,
}


def tiny(variant: str, **changes: object) -> Settings:
    """Settings of a run of a second; keys of changes with two underscores in place of the dot."""
    return resolve({**TINY, "variant": variant, **{key.replace("__", "."): value for key, value in changes.items()}})


def random_axes(generator: torch.Generator, sizes: tuple[int, int, int, int]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Points along t, z, y and x, float64."""
    t, z, y, x = (2 * torch.rand(n, generator=generator, dtype=torch.float64) - 1 for n in sizes)
    return t, z, y, x
