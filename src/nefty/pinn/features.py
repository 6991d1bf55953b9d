"""What a network sees of a coordinate: features that keep the sides' conditions exactly, whatever the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from nefty.core.checks import count, one_of

KINDS = ("line", "cooling", "walls", "ring")
STRETCH = 50.0  # of the logarithm of time: the first fiftieth of the span gets a sixth of the range


@dataclass(frozen=True)
class AxisFeatures:
    """Features of one coordinate u in [-1, 1].

    ``"line"``: u itself.
    ``"cooling"``: u, and log(1 + 25 (u + 1)) from -1 to 1, which is steep at first, as what happens after a flash.
    ``"walls"``: cos(k pi (u + 1)/2), whose slope is 0 at both ends, as at adiabatic faces.
    ``"ring"``: sin(k pi u) and cos(k pi u), the same at both ends with all derivatives, as on periodic sides.

    Args:
        kind: ``"line"``, ``"cooling"``, ``"walls"`` or ``"ring"``.
        harmonics: k = 1 to so many. One is complete: every function that keeps the condition is a function of it.
    """

    kind: str
    harmonics: int = 1

    def __post_init__(self) -> None:
        one_of("kind of features", self.kind, KINDS)
        count("harmonics", self.harmonics)

    @property
    def size(self) -> int:
        """How many there are."""
        return {"line": 1, "cooling": 2, "walls": self.harmonics, "ring": 2 * self.harmonics}[self.kind]

    def __call__(self, u: Tensor) -> Tensor:
        """Features (n, size) of u (n,)."""
        return self.jet(u)[0]

    def jet(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features, their first and their second derivatives by u, each (n, size)."""
        if self.kind == "line":
            one = torch.ones_like(u)[:, None]
            return u[:, None], one, torch.zeros_like(one)
        if self.kind == "cooling":
            return self._cooling(u)
        half = 0.5 if self.kind == "walls" else 1.0
        k = half * math.pi * torch.arange(1, self.harmonics + 1, dtype=u.dtype, device=u.device)
        angle = k * (u[:, None] + (1.0 if self.kind == "walls" else 0.0))
        cosine, sine = angle.cos(), angle.sin()
        if self.kind == "walls":
            return cosine, -k * sine, -(k**2) * cosine
        k2 = torch.cat([k, k]) ** 2
        value = torch.cat([sine, cosine], dim=1)
        return value, torch.cat([k * cosine, -k * sine], dim=1), -k2 * value

    def _cooling(self, u: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        c, scale = STRETCH / 2, 2 / math.log1p(STRETCH)
        inside = 1 + c * (u + 1)
        value = torch.stack([u, scale * inside.log() - 1], dim=1)
        slope = torch.stack([torch.ones_like(u), scale * c / inside], dim=1)
        bend = torch.stack([torch.zeros_like(u), -scale * (c / inside) ** 2], dim=1)
        return value, slope, bend


def axis_features(lateral: str, *, hard: bool, harmonics: int, cooling: bool) -> tuple[AxisFeatures, ...]:
    """Features of t, z, y and x.

    Args:
        lateral: ``"periodic"`` or ``"adiabatic"`` sides.
        hard: whether z, y and x keep the conditions at the sides exactly; else all axes are plain lines.
        harmonics: along z, y and x.
        cooling: whether time is seen logarithmically as well.
    """
    time = AxisFeatures("cooling" if cooling else "line")
    if not hard:
        return (time, *[AxisFeatures("line")] * 3)
    side = AxisFeatures("ring" if lateral == "periodic" else "walls", harmonics)
    return time, AxisFeatures("walls", harmonics), side, side
