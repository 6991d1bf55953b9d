"""What an integrator is asked to solve, apart from the numbers that derivatives are taken for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from nefty.core.grid import Grid
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.kernels import Array, Kernel
from nefty.physics.status import Status
from nefty.physics.trajectory import Memory

Pulse = tuple[float, float] | HeatingHistory | None
"""Heating at a constant rate from one time to another; of any course; or none, after a flash."""


def delayed(pulse: Pulse, delay: float) -> Pulse:
    """The same heating that comes later by ``delay``; a flash stays at 0."""
    if isinstance(pulse, HeatingHistory):
        return pulse.shifted(delay)
    return None if pulse is None else (pulse[0] + delay, pulse[1] + delay)


class Inputs(NamedTuple):
    """The numbers a solve depends on, or a derivative with respect to them, as arrays of a kernel.

    ``faces`` (3, z, y, x) and ``sinks`` are the conductances; sinks are (2, y, x), those of front and back, or
    (z, y, x) for a kernel that has them in all cells. ``start`` (z, y, x) is the initial temperature; or, if there is a
    pulse, ``heating`` (y, x) the heating rate of the front cells while it is on, over g(t) if it has a history. The
    other of the two is None.
    """

    faces: Any
    sinks: Any
    start: Any
    heating: Any


@dataclass(frozen=True)
class Problem:
    """What stays fixed: cells, frame times, the layers that are observed, when the pulse is on.

    Args:
        grid: the cells.
        times: of the frames, strictly increasing, at least 0.
        layers: indices along z of the layers that a frame shows.
        pulse: (start, end) of the heating, or its history; None after a flash.
    """

    grid: Grid
    times: np.ndarray
    layers: tuple[int, ...]
    pulse: Pulse = None


@dataclass(frozen=True)
class Job:
    """A problem with its numbers, and how to go about it.

    Args:
        problem: what stays fixed.
        kernel: where the work is done.
        inputs: the numbers, as arrays of the kernel.
        bound: an upper bound of the largest eigenvalue of -L.
        precision: ``"float32"`` or ``"float64"``.
        memory: how the states come back for derivatives; None if no derivative will be asked for.
    """

    problem: Problem
    kernel: Kernel
    inputs: Inputs
    bound: float
    precision: str
    memory: Memory | None


class Run(Protocol):
    """A solve that can be differentiated; frames are (t, layer, y, x). It is not safe to share between threads."""

    frames: Array
    status: Status

    def pullback(self, cotangent: Array) -> Inputs:
        """J^T ``cotangent``: the derivatives of <cotangent, frames> for all inputs."""
        ...

    def pullbacks(self, cotangents: Sequence[Array]) -> list[Inputs]:
        """``pullback`` of each; together where that is less work."""
        ...

    def pushforward(self, tangent: Inputs) -> Array:
        """J ``tangent``: how the frames move when the inputs do."""
        ...

    def pushforwards(self, tangents: Sequence[Inputs]) -> list[Array]:
        """``pushforward`` of each; together where that is less work."""
        ...


class Integrator(Protocol):
    """A time integrator is a frozen set of choices that can start a run."""

    def run(self, job: Job) -> Run:
        """Solve."""
        ...


def inject(u: Array, layers: tuple[int, ...], values: Array) -> None:
    """The transpose of ``kernel.layers``: add (layer, y, x) to the layers of ``u``, in place."""
    for value, k in zip(values, layers, strict=True):
        u[k] += value
