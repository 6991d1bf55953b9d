"""Limited-memory BFGS within a box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

ARMIJO = 1e-4  # share of the promised decrease that is sufficient: Nocedal & Wright's
MOST_TRIALS = 12  # of one direction; by then a step has been cut to less than a thousandth
CURVED = 1e-10  # s.y over y.y below which a pair says nothing
SHORTEST = 1e-12  # step, relative, below which a direction is given up

Inverse = Callable[[Tensor, Tensor], Tensor]
"""M^-1 v in the space of the free unknowns (0 or 1), both (n,); see ``preconditioner``."""


class ProjectedLBFGS:
    """Minimise f within low <= x <= high.

    Unknowns that sit on a side of the box and would leave it are held there; the others move along the quasi-Newton
    direction -H g of the last ``memory`` pairs (Nocedal & Wright, algorithm 7.4), and the trial point is projected onto
    the box (Bertsekas' two-metric projection). The step is halved, by interpolation, until the decrease is sufficient.

    Args:
        x: the start, (n,).
        low: least values, broadcasting to (n,), or ``None``.
        high: greatest values, or ``None``.
        memory: pairs.
        inverse_at: the inverse of what is known of the Hessian at a point, from which the pairs go on; a multiple of
            the identity if not given.
    """

    def __init__(
        self,
        x: Tensor,
        low: Tensor | None = None,
        high: Tensor | None = None,
        memory: int = 20,
        inverse_at: Callable[[Tensor], Inverse] | None = None,
    ) -> None:
        self.low, self.high, self.memory, self.inverse_at = low, high, memory, inverse_at
        self.x = self._project(x.detach().clone())
        self.value: float | None = None
        self.gradient = torch.zeros_like(self.x)
        self.pairs: list[tuple[Tensor, Tensor]] = []
        self.stuck = False

    def step(self, evaluate: Callable[[Tensor], tuple[float, Tensor]]) -> float:
        """Take one step; returns its length. 0, and ``stuck``, if no direction leads down any more.

        Args:
            evaluate: value and gradient at a point.
        """
        if self.value is None:
            self.value, self.gradient = evaluate(self.x)
        held = self._held(self.gradient)
        free = torch.where(held, 0.0, self.gradient)
        direction = self._direction(free, (~held).to(free.dtype))
        slope = _dot(direction, free)
        if slope >= 0:
            self.pairs.clear()
            direction = self._direction(free, (~held).to(free.dtype))
            slope = _dot(direction, free)
        if slope == 0:
            self.stuck = True
            return 0.0
        length = 1.0 if self.pairs else min(1.0, 1.0 / float(direction.abs().max()))
        for _ in range(MOST_TRIALS):
            trial = self._project(self.x + length * direction)
            move = trial - self.x
            value, gradient = evaluate(trial)
            promised = min(_dot(self.gradient, move), 0.0)
            if np.isfinite(value) and value <= self.value + ARMIJO * promised:
                self._remember(move, gradient - self.gradient)
                self.x, self.value, self.gradient = trial, value, gradient
                return float(move.norm())
            length = _shorter(length, slope, value - self.value)
            if length < SHORTEST:
                break
        if self.pairs:  # the curvature may be out of date: once more along the gradient
            self.pairs.clear()
            return self.step(evaluate)
        self.stuck = True
        return 0.0

    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as arrays."""
        return {
            "x": self.x.numpy(),
            "value": self.value,
            "gradient": self.gradient.numpy(),
            "pairs": self.learned(),
            "stuck": self.stuck,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.x, self.gradient = torch.from_numpy(state["x"].copy()), torch.from_numpy(state["gradient"].copy())
        self.value, self.stuck = state["value"], state["stuck"]
        self.learn(state["pairs"])

    def learned(self, scale: Tensor | float = 1.0) -> dict[str, Any]:
        """The curvature met so far, as arrays: the pairs, for unknowns that are ``scale`` times these."""
        pairs = enumerate(self.pairs)
        return {f"{i}": {"s": (s * scale).numpy(), "y": (y / scale).numpy()} for i, (s, y) in pairs}

    def learn(self, learned: dict[str, Any], scale: Tensor | float = 1.0) -> None:
        """Begin with the curvature met by another, whose unknowns were these times ``scale``."""
        found = (learned[key] for key in sorted(learned, key=int))
        pairs = ((torch.from_numpy(p["s"].copy()), torch.from_numpy(p["y"].copy())) for p in found)
        self.pairs = [(s / scale, y * scale) for s, y in pairs][-self.memory :]

    def _project(self, x: Tensor) -> Tensor:
        return x if self.low is None and self.high is None else torch.clamp(x, self.low, self.high)

    def _held(self, gradient: Tensor) -> Tensor:
        """Unknowns at a side of the box that would leave it."""
        held = torch.zeros_like(gradient, dtype=torch.bool)
        if self.low is not None:
            held |= (self.x <= self.low) & (gradient > 0)
        if self.high is not None:
            held |= (self.x >= self.high) & (gradient < 0)
        return held

    def _direction(self, gradient: Tensor, free: Tensor) -> Tensor:
        """-H g by the two-loop recursion over the pairs restricted to the ``free`` unknowns (0 or 1).

        The inverse of a part of the matrix is not the part of the inverse: the pairs are cut down, not the result. It
        is enough to cut y, and s at the end. Products are of single precision here: they shape the direction only.
        """
        pairs = []
        for s, y in self.pairs:
            cut = y * free
            sy, yy = float(torch.dot(s, cut)), float(torch.dot(cut, cut))
            if sy > CURVED * yy:
                pairs.append((s, cut, sy, yy))
        q, kept = -gradient, []
        for s, y, sy, _ in reversed(pairs):
            a = float(torch.dot(s, q)) / sy
            q.add_(y, alpha=-a)
            kept.append(a)
        inverse = None if self.inverse_at is None else self.inverse_at(self.x)
        if inverse is not None:
            q = inverse(q, free)
        if pairs:
            _, y, sy, yy = pairs[-1]
            q.mul_(sy / (yy if inverse is None else float(torch.dot(y, inverse(y, free)))))
        for (s, y, sy, _), a in zip(pairs, reversed(kept), strict=True):
            q.add_(s, alpha=a - float(torch.dot(y, q)) / sy)
        return q.mul_(free)

    def _remember(self, s: Tensor, y: Tensor) -> None:
        if _dot(s, y) > CURVED * _dot(y, y):
            self.pairs.append((s, y))
            del self.pairs[: -self.memory]


def _dot(a: Tensor, b: Tensor) -> float:
    """Inner product, summed in float64."""
    return float(torch.dot(a.double(), b.double()))


def _shorter(length: float, slope: float, rise: float) -> float:
    """The minimum of the parabola through both ends, between a tenth and a half of the step."""
    if not np.isfinite(rise) or rise <= slope * length:
        return length / 2
    best = -slope * length**2 / (2 * (rise - slope * length))
    return float(np.clip(best, 0.1 * length, 0.5 * length))
