"""From an unconstrained number to a diffusivity, and back.

A head is called with the output of a network or the value of a voxel. ``inverse`` says which value gives a
diffusivity, so that a field can start from it. ``box`` says between which values an optimiser must keep the unknown;
it is infinite unless the head relies on that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from nefty.core.checks import number
from nefty.core.errors import InputError
from nefty.core.grid import Grid

FREE = (-math.inf, math.inf)


class Head(Protocol):
    """What every head can do."""

    @property
    def box(self) -> tuple[float, float]:
        """Between which values the unknown must be kept."""
        ...

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity."""
        ...

    def inverse(self, alpha: Any) -> Tensor:
        """The value that gives ``alpha``."""
        ...


@dataclass(frozen=True)
class _Bracket:
    """The bounds of the heads that keep the diffusivity between two.

    Args:
        low: the least diffusivity.
        high: the greatest.
    """

    low: float = 0.003
    high: float = 0.25

    def __post_init__(self) -> None:
        number("lowest diffusivity", self.low, above=0)
        number("highest diffusivity", self.high)
        if self.high <= self.low:
            raise InputError(
                f"highest diffusivity={self.high:g} must be above the lowest, {self.low:g}; exchange or widen them."
            )


@dataclass(frozen=True)
class SigmoidHead(_Bracket):
    """alpha = low + (high - low) sigmoid(f), the paper's bracket (eq. bracket)."""

    box = FREE

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f."""
        return self.low + (self.high - self.low) * torch.sigmoid(value)

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity strictly inside the bracket."""
        alpha = _tensor(alpha, above=self.low, below=self.high)
        return torch.log(alpha - self.low) - torch.log(self.high - alpha)


@dataclass(frozen=True)
class LogHead(_Bracket):
    """log alpha = log low + (log high - log low) sigmoid(f): the bracket in log-diffusivity."""

    box = FREE

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f."""
        return torch.exp(math.log(self.low) + math.log(self.high / self.low) * torch.sigmoid(value))

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity strictly inside the bracket."""
        alpha = _tensor(alpha, above=self.low, below=self.high)
        return torch.log(torch.log(alpha / self.low)) - torch.log(torch.log(self.high / alpha))


@dataclass(frozen=True)
class SoftplusHead:
    """alpha = floor + log(1 + exp(f)): positive and without an upper bound.

    For the ablation without the sigmoid. The paper does not say what its rows without it use, only that they drift
    towards alpha = 0 (section "Ablations"), as an output that is merely positive can.

    Args:
        floor: the least diffusivity, small; the heat model refuses 0.
    """

    floor: float = 1e-6
    box = FREE

    def __post_init__(self) -> None:
        number("floor of the head", self.floor, above=0)

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f."""
        return self.floor + functional.softplus(value)

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity above the floor."""
        rest = _tensor(alpha, above=self.floor) - self.floor
        return rest + torch.log(-torch.expm1(-rest))


@dataclass(frozen=True)
class ReluHead:
    """alpha = floor + max(f, 0); see ``SoftplusHead``. Cells with f < 0 have no gradient: start above.

    Args:
        floor: the least diffusivity, small; the heat model refuses 0.
    """

    floor: float = 1e-6
    box = FREE

    def __post_init__(self) -> None:
        number("floor of the head", self.floor, above=0)

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f."""
        return self.floor + functional.relu(value)

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity above the floor."""
        return _tensor(alpha, above=self.floor) - self.floor


@dataclass(frozen=True)
class LinearBox(_Bracket):
    """alpha = f, which the optimiser keeps between ``low`` and ``high``."""

    @property
    def box(self) -> tuple[float, float]:
        """(low, high)."""
        return self.low, self.high

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f; not clamped, so that the gradient stays whole."""
        return value

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity in the box, its ends included."""
        return _tensor(alpha, at_least=self.low, at_most=self.high)


@dataclass(frozen=True)
class LogBox(_Bracket):
    """log alpha = f, which the optimiser keeps between log ``low`` and log ``high``; nothing saturates."""

    @property
    def box(self) -> tuple[float, float]:
        """(log low, log high)."""
        return math.log(self.low), math.log(self.high)

    def __call__(self, value: Tensor) -> Tensor:
        """Diffusivity of f; not clamped, so that the gradient stays whole."""
        return torch.exp(value)

    def inverse(self, alpha: Any) -> Tensor:
        """The f of a diffusivity in the box, its ends included."""
        return torch.log(_tensor(alpha, at_least=self.low, at_most=self.high))


def background_profile(given: Any, grid: Grid) -> Tensor | None:
    """Diffusivity of the background at each depth of the grid, (z,), float64; ``None`` stays ``None``."""
    if given is None:
        return None
    profile = torch.as_tensor(given, dtype=torch.float64).detach().clone()
    if profile.shape != grid.shape[:1]:
        raise InputError(
            f"background has shape {tuple(profile.shape)}, the grid has {grid.shape[0]} cells along z; "
            "give one diffusivity per depth."
        )
    _tensor(profile, above=0.0, what="background")
    return profile


def _tensor(
    given: Any,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    what: str = "alpha",
) -> Tensor:
    """``given`` as a floating-point tensor within its bounds; plain numbers are float64."""
    if isinstance(given, Tensor) and given.is_floating_point():
        tensor = given
    else:
        tensor = torch.as_tensor(given, dtype=torch.float64)
    good = (tensor > above) & (tensor < below) & (tensor >= at_least) & (tensor <= at_most)
    if not bool(good.all()):
        bad = tensor.detach()[~good].flatten()[0].item()
        low, high = max(above, at_least), min(below, at_most)
        ends = f"between {low:g} and {high:g}" if math.isfinite(high) else f"above {low:g}"
        inside = " and not at either end" if math.isfinite(below) else ""
        raise InputError(f"{what}={bad:g} must lie {ends}{inside}; clip it or move the bounds.")
    return tensor


PAPER_HEAD = SigmoidHead(0.003, 0.25)
