"""The model at one point: frames, and products with the Jacobian and its transpose, for Gauss-Newton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from nefty.core.errors import InputError, unknown_name
from nefty.physics.kernels import Kernel
from nefty.physics.problem import Inputs, Run

if TYPE_CHECKING:
    from nefty.physics.heat_model import HeatModel


@dataclass(frozen=True)
class Linearization:
    """The model at one point: its frames, and products with its Jacobian.

    The inputs that can be varied are the keys of ``point``: ``alpha``; ``initial`` after a flash or ``amplitude`` of
    a pulse; ``h_front`` and ``h_back`` of Robin faces; ``resistance`` if it was given.

    Args:
        model: whose Jacobian it is.
        point: where it is taken.
        kernel: where the work is done.
        run: the solve.
    """

    model: HeatModel
    point: dict[str, Tensor]
    kernel: Kernel
    run: Run

    @property
    def frames(self) -> Tensor:
        """The frames at ``point``, a copy."""
        return self.model._arrange(self.kernel.tensor(self.run.frames)).clone()

    def jvp(self, alpha: Any = None, **directions: Any) -> Tensor:
        """J applied to directions: how the frames move when the inputs do.

        Args:
            alpha: direction (z, y, x) of the diffusivity.
            **directions: of other inputs, by name.
        """
        if alpha is not None:
            directions["alpha"] = alpha
        moves = {name: torch.zeros_like(value) for name, value in self.point.items()}
        for name, direction in directions.items():
            at = self._value(name)
            move = torch.as_tensor(direction, dtype=at.dtype, device=at.device)
            if move.shape != at.shape:
                raise InputError(f"the direction of {name} has shape {tuple(move.shape)}, not {tuple(at.shape)}.")
            moves[name] = move

        def inputs(*values: Tensor) -> tuple[Tensor, ...]:
            given = self.model._inputs(**dict(zip(self.point, values, strict=True)), differentiable_twice=True)
            return tuple(t for t in given if t is not None)

        with torch.inference_mode(False), torch.enable_grad():
            at, along = (tuple(t.clone() for t in given.values()) for given in (self.point, moves))
            moved = torch.autograd.functional.jvp(inputs, at, along)[1]
        arrays = [self.kernel.array(t) for t in moved]
        start, heating = (arrays[2], None) if "initial" in self.point else (None, arrays[2])
        tangent = Inputs(arrays[0], arrays[1], start, heating)
        return self.model._arrange(self.kernel.tensor(self.run.pushforward(tangent)))

    def vjp(self, cotangent: Any, wrt: str = "alpha") -> Tensor:
        """J^T applied to ``cotangent``: the gradient of <cotangent, frames> for one input."""
        return self.gradients(cotangent, (wrt,))[wrt]

    def gradients(self, cotangent: Any, wrt: tuple[str, ...]) -> dict[str, Tensor]:
        """The gradients of <cotangent, frames> for several inputs, from one backward sweep."""
        model, kernel = self.model, self.kernel
        for name in wrt:
            self._value(name)
        if not wrt:
            return {}
        cotangent = torch.as_tensor(cotangent, dtype=model.dtype, device=self.point["alpha"].device)
        if cotangent.shape != self.frames.shape:
            raise InputError(f"cotangent has shape {tuple(cotangent.shape)}, the frames {tuple(self.frames.shape)}.")
        found = self.run.pullback(kernel.array(model._arrange(cotangent, back=True).contiguous()))
        with torch.inference_mode(False), torch.enable_grad():
            point = {name: value.clone() for name, value in self.point.items()}
            leaves = {name: point[name].requires_grad_() for name in wrt}
            inputs = model._inputs(**point)
            pairs = [
                (value, kernel.tensor(gradient))
                for value, gradient in zip(inputs, found, strict=True)
                if value is not None and value.requires_grad
            ]
            outputs, weights = [value for value, _ in pairs], [gradient for _, gradient in pairs]
            gradients = torch.autograd.grad(outputs, list(leaves.values()), weights)
        return dict(zip(leaves, gradients, strict=True))

    def _value(self, name: str) -> Tensor:
        if name not in self.point:
            raise unknown_name("input", name, self.point)
        return self.point[name]
