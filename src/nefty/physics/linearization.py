"""The model at one point: frames, and products with the Jacobian and its transpose, for Gauss-Newton."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from nefty.core.errors import InputError, unknown_name
from nefty.physics.kernels import Kernel
from nefty.physics.problem import Inputs, Run

if TYPE_CHECKING:
    from nefty.physics.heat_model import HeatModel

AT_ONCE = 2**24  # numbers that directions carried side by side may take: 64 MiB in float32


@dataclass(frozen=True)
class Linearization:
    """The model at one point: its frames, and products with its Jacobian.

    The inputs that can be varied are the keys of ``point``: ``alpha``; ``initial`` after a flash or ``amplitude`` of
    a pulse; ``h_front`` and ``h_back`` of Robin faces; ``resistance`` and ``losses`` if they were given.

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
        return self.jvps([directions])[0]

    def jvps(self, several: Sequence[Mapping[str, Any]]) -> list[Tensor]:
        """``jvp`` for several sets of directions by name, which share the states, so that each costs less."""
        frames = []
        size = self._at_once(self.point["alpha"].numel() * 5)
        for begin in range(0, len(several), size):
            tangents = [self._tangent(directions) for directions in several[begin : begin + size]]
            frames += self.run.pushforwards(tangents)
        return [self.model._arrange(self.kernel.tensor(moved)) for moved in frames]

    def _at_once(self, numbers: int) -> int:
        """How many directions fit into the memory that several may take; ``numbers`` is what one needs."""
        terms = self.model.grid.shape[1] * self.model.grid.shape[2] * max(self.model.status.applications, 1)
        return max(1, AT_ONCE // (numbers + terms))

    def _tangent(self, directions: Mapping[str, Any]) -> Inputs:
        """How conductances and sources move."""
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
        return Inputs(arrays[0], arrays[1], start, heating)

    def vjp(self, cotangent: Any, wrt: str = "alpha") -> Tensor:
        """J^T applied to ``cotangent``: the gradient of <cotangent, frames> for one input."""
        return self.gradients(cotangent, (wrt,))[wrt]

    def vjps(self, cotangents: Sequence[Any], wrt: str = "alpha") -> list[Tensor]:
        """``vjp`` for several cotangents, which share the states of the solve, so that each costs less."""
        self._value(wrt)
        found, size = [], self._at_once(self.point["alpha"].numel() * 5)
        for begin in range(0, len(cotangents), size):
            pulled = self.run.pullbacks([self._cotangent(c) for c in cotangents[begin : begin + size]])
            found += [self._by_chain_rule(inputs, (wrt,))[wrt] for inputs in pulled]
        return found

    def gradients(self, cotangent: Any, wrt: tuple[str, ...]) -> dict[str, Tensor]:
        """The gradients of <cotangent, frames> for several inputs, from one backward sweep."""
        for name in wrt:
            self._value(name)
        return self._by_chain_rule(self.run.pullback(self._cotangent(cotangent)), wrt) if wrt else {}

    def _cotangent(self, given: Any) -> Any:
        """Of the frames' shape, as the kernel's array of states."""
        model = self.model
        cotangent = torch.as_tensor(given, dtype=model.dtype, device=self.point["alpha"].device)
        shape = model._arrange(self.kernel.tensor(self.run.frames)).shape
        if cotangent.shape != shape:
            raise InputError(f"cotangent has shape {tuple(cotangent.shape)}, the frames {tuple(shape)}.")
        return self.kernel.array(model._arrange(cotangent, back=True).contiguous())

    def _by_chain_rule(self, found: Inputs, wrt: tuple[str, ...]) -> dict[str, Tensor]:
        """Derivatives by the inputs named ``wrt``, from those by conductances and sources."""
        model, kernel = self.model, self.kernel
        with torch.inference_mode(False), torch.enable_grad():
            point = {name: value.clone() for name, value in self.point.items()}
            leaves = {name: point[name].requires_grad_() for name in wrt}
            inputs = model._inputs(**point, differentiable_twice=False)
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
