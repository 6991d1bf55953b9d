"""Where the losses look: new random points, the same for every variant up to their arrangement."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from nefty.pinn.points import Points, Product, Scattered
from nefty.pinn.problem import Problem
from nefty.pinn.settings import Points as Numbers


class Sides(NamedTuple):
    """Points on two opposite sides, in the same order."""

    low: Points
    high: Points


class Batch(NamedTuple):
    """What an iteration sees.

    Args:
        collocation: points of the heat equation, in order of time.
        data: points of the surface; ``None`` where there are no frames, in a forward problem.
        frames: what was measured there, of the shape of the points.
        counted: which of these count; ``None`` if all do.
        initial: points at the flash.
        flash: temperature there.
        sides: across z, y, x; none where features keep their conditions.
    """

    collocation: Points
    data: Points | None
    frames: Tensor
    counted: Tensor | None
    initial: Points
    flash: Tensor
    sides: tuple[Sides, ...]


class Sampler:
    """Uniform points in time and space, and values of the frames.

    Args:
        problem: to look at.
        numbers: how many points.
        product: whether points are combinations of those of the axes, for a separable network, with whole frames.
        soft: whether points on the sides are needed.
        generator: what is drawn from.
    """

    def __init__(
        self, problem: Problem, numbers: Numbers, *, product: bool, soft: bool, generator: torch.Generator
    ) -> None:
        self.problem, self.numbers, self.soft, self.generator = problem, numbers, soft, generator
        self._draw = self._along_axes if product else self._scattered
        self._counted = problem.counted.flatten().nonzero().squeeze(1)
        self._batch: Batch | None = None

    def __call__(self, iteration: int) -> Batch:
        """Points of an iteration; new ones every ``redraw`` of them."""
        if self._batch is None or iteration % self.numbers.redraw == 0:
            self._batch = self._draw()
        return self._batch

    def _scattered(self) -> Batch:
        problem, numbers = self.problem, self.numbers
        u = self._uniform(numbers.collocation, 4)
        collocation = Scattered(u[u[:, 0].argsort()])
        initial = self._uniform(numbers.initial, 4)
        initial[:, 0] = -1
        data, frames = self._some_values() if len(self._counted) else (None, problem.frames)
        return Batch(
            collocation=collocation,
            data=data,
            frames=frames,
            counted=None,
            initial=Scattered(initial),
            flash=problem.initial(initial[:, 1:]),
            sides=tuple(self._scattered_sides(axis) for axis in (1, 2, 3)) if self.soft else (),
        )

    def _along_axes(self) -> Batch:
        problem = self.problem
        t, z, y, x = (self._uniform(n, 1).flatten().sort().values for n in self.numbers.axes)
        initial = Product((t.new_tensor([-1.0]), z, y, x))
        return Batch(
            collocation=Product((t, z, y, x)),
            data=Product(problem.seen) if len(self._counted) else None,
            frames=problem.frames[:, None],
            counted=None if bool(problem.counted.all()) else problem.counted[:, None],
            initial=initial,
            flash=problem.initial(initial.place).view(initial.shape),
            sides=tuple(_product_sides((t, z, y, x), axis) for axis in (1, 2, 3)) if self.soft else (),
        )

    def _some_values(self) -> tuple[Scattered, Tensor]:
        """Random values of the frames that count."""
        chosen = torch.randint(len(self._counted), (self.numbers.data,), generator=self.generator)
        value = self._counted[chosen]
        _, ny, nx = self.problem.frames.shape
        index = (value // (ny * nx), value // nx % ny, value % nx)
        time, surface, row, column = self.problem.seen
        u = torch.stack([time[index[0]], surface.expand(len(value)), row[index[1]], column[index[2]]], dim=1)
        return Scattered(u), self.problem.frames[index]

    def _scattered_sides(self, axis: int) -> Sides:
        low = self._uniform(self.numbers.sides, 4)
        low[:, axis] = -1
        high = low.clone()
        high[:, axis] = 1
        return Sides(Scattered(low), Scattered(high))

    def _uniform(self, n: int, axes: int) -> Tensor:
        return 2 * torch.rand((n, axes), generator=self.generator, dtype=self.problem.times.dtype) - 1


def _product_sides(axes: tuple[Tensor, Tensor, Tensor, Tensor], axis: int) -> Sides:
    t, z, y, x = axes

    def at(end: float) -> Product:
        there = t.new_tensor([end])
        return Product((t, there if axis == 1 else z, there if axis == 2 else y, there if axis == 3 else x))

    return Sides(at(-1.0), at(1.0))
