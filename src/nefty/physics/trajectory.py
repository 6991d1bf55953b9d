"""How the backward sweep gets the states of the forward sweep back: all kept, or computed again.

A trajectory is the states x_0 ... x_n of a recurrence x_{k+1} = advance(k, x_k). The forward sweep visits them once;
a backward sweep visits them in reverse, as often as one likes. Because a state computed again comes from the
same arithmetic, the gradients of all policies but ``Reversed`` are equal bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from nefty.core.checks import count
from nefty.core.errors import unknown_name

State = Any


@dataclass(frozen=True)
class Stored:
    """Keep every state: the fastest where the memory is there."""


@dataclass(frozen=True)
class Checkpointed:
    """Keep every ``segment``-th state and compute the others again, one segment at a time.

    Costs one more forward sweep; needs about 2 sqrt(n) states instead of n.

    Args:
        segment: states per segment; chosen to need the least memory if not given.
    """

    segment: int | None = None

    def __post_init__(self) -> None:
        if self.segment is not None:
            count("segment", self.segment)


@dataclass(frozen=True)
class Reversed:
    """Run the recurrence backwards from its last two states: constant memory, for ``Chebyshev`` only.

    w_{k-1} = 2 X w_k - w_{k+1} is the same recurrence, neutrally stable in both directions, so the states come back
    to rounding (not bit by bit), at the cost of one more application of the operator per term.
    """


Memory = Stored | Checkpointed | Reversed
_NAMES = {"stored": Stored, "checkpointed": Checkpointed, "reversed": Reversed}


def memory_policy(given: object) -> Memory:
    """Return the policy for a name or a policy object."""
    if isinstance(given, (Stored, Checkpointed, Reversed)):
        return given
    if isinstance(given, str) and given in _NAMES:
        return _NAMES[given]()
    raise unknown_name("memory", given, _NAMES)


class Trajectory:
    """The states of a recurrence, visited forwards once and backwards at will.

    Args:
        advance: (k, x_k) to x_{k+1}; must not change x_k.
        first: x_0.
        length: n, the number of steps.
        memory: the policy.
        arrays_per_state: arrays a single state holds, for the length of a segment; states that lie side by side
            in a segment share all but one of theirs.
        retreat: (k, x_{k+1}) to x_k, for ``Reversed``.
    """

    def __init__(
        self,
        advance: Callable[[int, State], State],
        first: State,
        length: int,
        memory: Memory,
        arrays_per_state: int = 1,
        retreat: Callable[[int, State], State] | None = None,
    ) -> None:
        assert retreat is not None or not isinstance(memory, Reversed), "this recurrence does not run backwards"
        self._advance, self._retreat, self.length = advance, retreat, length
        self._reversed = isinstance(memory, Reversed)
        if isinstance(memory, Checkpointed):
            self._segment = memory.segment or max(1, ceil(sqrt(arrays_per_state * length)))
        else:
            self._segment = 1 if isinstance(memory, Stored) else length + 1
        self._kept = {0: first}
        self._last = first
        self.most_held = 1  # arrays of states that were held at once, at the most

    def forward(self) -> Iterator[tuple[int, State]]:
        """Visit (k, x_k) for k = 0 ... n, keeping what the backward sweep will need.

        The kept states are not computed again when the sweep is repeated.
        """
        state = self._kept[0]
        yield 0, state
        for k in range(self.length):
            kept = self._kept.get(k + 1)
            state = kept if kept is not None else self._advance(k, state)
            if (k + 1) % self._segment == 0:
                self._kept[k + 1] = state
            yield k + 1, state
        self._last = state
        self._count([state])

    def _count(self, states: list[State]) -> None:
        """Note how many arrays the kept states and ``states`` are made of."""
        held = [*self._kept.values(), *states]
        arrays = {id(a) for state in held for a in (state if isinstance(state, tuple) else (state,))}
        self.most_held = max(self.most_held, len(arrays))

    def backward(self) -> Iterator[tuple[int, State]]:
        """Visit (k, x_k) for k = n ... 0."""
        if self._reversed:
            assert self._retreat is not None
            state = self._last
            yield self.length, state
            for k in range(self.length - 1, -1, -1):
                state = self._retreat(k, state)
                yield k, state
            return
        stop = self.length
        for start in range(self.length // self._segment * self._segment, -1, -self._segment):
            states = [self._kept[start]]
            for k in range(start, stop):
                states.append(self._advance(k, states[-1]))
            self._count(states)
            while states:
                k = start + len(states) - 1
                yield k, states.pop()
            stop = start - 1
