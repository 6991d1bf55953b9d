from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty import Checkpointed, InputError, Reversed, Stored
from nefty.physics.trajectory import Trajectory, memory_policy


def counting(memory, length: int, **kwargs):
    """A recurrence x_{k+1} = 3 x_k + k (mod p) that counts its steps."""
    calls = []

    def advance(k: int, x: int) -> int:
        calls.append(k)
        return (3 * x + k) % 1_000_003

    return Trajectory(advance, 7, length, memory, **kwargs), calls


@given(length=st.integers(0, 40), segment=st.one_of(st.none(), st.integers(1, 50)))
def test_every_policy_visits_the_same_states(length, segment):
    want = list(counting(Stored(), length)[0].forward())
    trajectory, _ = counting(Checkpointed(segment), length)
    assert list(trajectory.forward()) == want
    assert list(trajectory.backward()) == want[::-1]
    assert list(trajectory.backward()) == want[::-1]
    assert list(trajectory.forward()) == want


def test_stored_computes_each_state_once_and_checkpointed_at_most_twice():
    for memory, most in ((Stored(), 100), (Checkpointed(), 200)):
        trajectory, calls = counting(memory, 100)
        list(trajectory.forward())
        list(trajectory.backward())
        assert len(calls) <= most


@pytest.mark.parametrize("length", [100, 400, 1000])
def test_checkpoints_need_about_two_square_roots(length):
    held = []
    for memory in (Stored(), Checkpointed()):
        trajectory = Trajectory(lambda k, x: np.array([k]), np.array([0]), length, memory)
        list(trajectory.forward())
        list(trajectory.backward())
        held.append(trajectory.most_held)
    assert held[0] == length + 1
    assert held[1] <= 2 * length**0.5 + 3


def test_reversed_runs_backwards():
    trajectory = Trajectory(lambda k, x: x + k, 5, 9, Reversed(), retreat=lambda k, x: x - k)
    want = list(trajectory.forward())
    assert list(trajectory.backward()) == want[::-1]


def test_unknown_policy_names_the_nearest():
    with pytest.raises(InputError, match="Did you mean 'checkpointed'"):
        memory_policy("checkpoint")
    with pytest.raises(InputError, match="segment=0"):
        Checkpointed(0)
