"""Which time steps an implicit integrator takes: they land on every frame and on the edges of the pulse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.physics.heating_history import HeatingHistory
from nefty.physics.problem import Pulse

MOST_HALVINGS = 1e9  # an interval between frames over the first step


@dataclass(frozen=True)
class TimePlan:
    """A list of steps.

    Attributes:
        dt: lengths of the steps.
        rate: mean of the heating rate over each step: of a pulse 1 while it is on, else 0.
        frame_at: for each frame, how many steps come before it.
    """

    dt: np.ndarray
    rate: np.ndarray
    frame_at: np.ndarray

    @property
    def heated(self) -> np.ndarray:
        """Whether there is any heating during each step."""
        return self.rate > 0


@dataclass(frozen=True)
class PerFrame:
    """The same number of equal steps between any two frames; 1 is the paper's choice.

    Args:
        substeps: steps per frame interval.
    """

    substeps: int = 1

    def __post_init__(self) -> None:
        count("substeps", self.substeps)

    def lengths(self, length: float, since_event: float) -> list[float]:
        """Steps that fill an interval of ``length`` that begins ``since_event`` after the flash or a pulse edge."""
        return [length / self.substeps] * self.substeps


@dataclass(frozen=True)
class Geometric:
    """Steps that grow in proportion to the time since the flash (or since a pulse edge).

    A step at time t after the event is at most first + (growth - 1) t. Intervals between frames are halved until
    this holds, so there are only few different step lengths, each with its own matrix.

    Args:
        first: longest step right after the event.
        growth: ratio by which steps may grow, above 1.
    """

    first: float
    growth: float = 1.5

    def __post_init__(self) -> None:
        number("first", self.first, above=0)
        number("growth", self.growth, above=1)

    def lengths(self, length: float, since_event: float) -> list[float]:
        """See ``PerFrame.lengths``."""
        if length <= self.first + (self.growth - 1) * since_event:
            return [length]
        if length > MOST_HALVINGS * self.first:
            raise InputError(
                f"first={self.first:g} is {length / self.first:.1g} times shorter than the interval of {length:g} that "
                "it begins; give a longer first step, or frames that begin earlier."
            )
        half = length / 2
        return self.lengths(half, since_event) + self.lengths(half, since_event + half)


@dataclass(frozen=True)
class ForError:
    """The cheapest ``Geometric`` plan that keeps the error in time below ``error``.

    The error is predicted, not guessed: the laterally uniform slab of diffusivity ``alpha`` has an exact solution
    (the eigenvectors of its z-operator), which is compared with what the integrator makes of it. Lateral
    conduction and defects are slower than the z-direction of the bulk, so they do not add to it in practice.

    Args:
        error: largest root-mean-square error of the observed temperature over the frames.
        alpha: diffusivity of the bulk.
    """

    error: float
    alpha: float

    def __post_init__(self) -> None:
        number("error", self.error, above=0)
        number("alpha", self.alpha, above=0)

    def resolve(self, predicted_error: Callable[[Geometric], float], first_interval: float) -> Geometric:
        """Return the coarsest plan whose predicted error is small enough."""
        for halvings in range(24):
            scale = 0.5 ** (halvings / 2)
            plan = Geometric(first=first_interval * scale, growth=1 + scale)
            if predicted_error(plan) <= self.error:
                return plan
        raise InputError(
            f"no plan reaches a time error of {self.error:g}; ask for a larger one, or use integrator='chebyshev'."
        )


Steps = PerFrame | Geometric | ForError


def plan_steps(times: np.ndarray, pulse: Pulse, steps: PerFrame | Geometric) -> TimePlan:
    """Lay the steps from t = 0 through all frames, landing on the frames and on the jumps of the heating."""
    jumps = pulse.jumps if isinstance(pulse, HeatingHistory) else pulse or ()
    edges = [edge for edge in jumps if 0 < edge < times[-1]]
    marks = np.unique(np.concatenate([[0.0], times, edges]))
    dt: list[float] = []
    rate: list[float] = []
    steps_before = {0.0: 0}
    event = 0.0
    for begin, end in pairwise(marks.tolist()):
        if begin in edges:
            event = begin
        # Lengths that differ by rounding only would each get a matrix of their own.
        pieces = [float(f"{length:.12g}") for length in steps.lengths(end - begin, begin - event)]
        dt += pieces
        rate += _mean_rates(pulse, begin, end, pieces)
        steps_before[end] = len(dt)
    frame_at = np.array([steps_before[float(t)] for t in times])
    return TimePlan(np.array(dt), np.array(rate), frame_at)


def _mean_rates(pulse: Pulse, begin: float, end: float, pieces: list[float]) -> list[float]:
    """Of the heating over steps that fill an interval; a mean keeps second order, and every bit of the heat."""
    if isinstance(pulse, HeatingHistory):
        marks = np.array([begin, *(begin + np.cumsum(pieces[:-1])), end])
        return (np.diff(pulse.heat(marks)) / np.diff(marks)).tolist()
    on = pulse is not None and pulse[0] <= begin and end <= pulse[1]
    return [1.0 if on else 0.0] * len(pieces)
