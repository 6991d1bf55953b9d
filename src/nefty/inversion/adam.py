"""Adam with the paper's step decay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn


class Adam:
    """torch's Adam on one vector; the learning rate falls by ``decay`` every ``decay_every`` steps.

    Args:
        x: the start, (n,).
        learning_rate: of the first steps.
        decay: factor.
        decay_every: steps between two factors; 0 for none.
        low: least values, broadcasting to (n,), or ``None``.
        high: greatest values, or ``None``.
    """

    def __init__(
        self,
        x: Tensor,
        learning_rate: float,
        decay: float = 1.0,
        decay_every: int = 0,
        low: Tensor | None = None,
        high: Tensor | None = None,
    ) -> None:
        self.learning_rate, self.decay, self.decay_every = learning_rate, decay, decay_every
        self.low, self.high = low, high
        self._unknown = nn.Parameter(x.detach().clone())
        self._adam = torch.optim.Adam([self._unknown], lr=learning_rate)
        self.steps, self.value, self.stuck = 0, None, False

    @property
    def x(self) -> Tensor:
        """The present point."""
        return self._unknown.detach()

    def step(self, evaluate: Callable[[Tensor], tuple[float, Tensor]]) -> float:
        """Take one step; returns its length."""
        before = self.x.clone()
        self.value, self._unknown.grad = evaluate(self.x)
        rate = self.learning_rate * (self.decay ** (self.steps // self.decay_every) if self.decay_every else 1.0)
        self._adam.param_groups[0]["lr"] = rate
        self._adam.step()
        self.steps += 1
        if self.low is not None or self.high is not None:
            with torch.no_grad():
                self._unknown.clamp_(self.low, self.high)
        return float((self.x - before).norm())

    def state(self) -> dict[str, Any]:
        """Everything needed to go on, as arrays."""
        kept = self._adam.state[self._unknown]
        moments = {k: kept[k].numpy().copy() for k in ("exp_avg", "exp_avg_sq")} if kept else {}
        return {"x": self.x.numpy().copy(), "steps": self.steps, "value": self.value, "moments": moments}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.steps, self.value = state["steps"], state["value"]
        with torch.no_grad():
            self._unknown.copy_(torch.from_numpy(state["x"]))
        if state["moments"]:
            kept = {k: torch.from_numpy(v.copy()) for k, v in state["moments"].items()}
            self._adam.state[self._unknown] = {"step": torch.tensor(float(self.steps)), **kept}
