"""Who does which chunk of a step: one's own, and those of threads that are away."""

import numpy as np
import pytest

from nefty.physics.kernels import thread_team
from nefty.physics.kernels.thread_team import claim, finish, next_chunk, others_finish

APART = thread_team._APART


def turns_of(chunks):
    return np.zeros((chunks + 1) * APART, np.int64)


def test_a_chunk_of_a_step_is_claimed_once():
    turns = turns_of(4)
    assert claim(turns, 2, 0)
    assert not claim(turns, 2, 0)
    assert claim(turns, 2, 1)


def test_the_rest_of_a_thread_that_has_not_come_is_taken_over_at_once():
    turns = turns_of(4)
    for chunk in (0, 1):
        assert claim(turns, chunk, 0)
        finish(turns)
    assert not others_finish(turns, 0, 2, 4, 0)
    assert turns[0] == 2  # nobody waited for the others


@pytest.mark.parametrize("step", [0, 5])
def test_a_thread_that_is_at_work_is_waited_for(step):
    turns = turns_of(4)
    turns[APART * np.arange(1, 5)] = step + 1  # all chunks are claimed
    turns[0] = 4 * (step + 1)  # and done
    assert others_finish(turns, 0, 2, 4, step)
    assert others_finish(turns, 1, 2, 4, step)


def test_one_that_takes_far_too_long_is_not():
    turns = turns_of(4)
    turns[APART * np.arange(1, 4)] = 1  # the last chunk is left, though its thread has begun
    turns[0] = 3
    assert not others_finish(turns, 0, 2, 4, 0)
    assert claim(turns, 3, 0)


def test_of_three_threads_each_has_to_be_there():
    turns = turns_of(6)
    turns[APART * np.array([1, 2, 5, 6])] = 1  # chunks 0, 1 and 4, 5: the one in the middle has not come
    turns[0] = 4
    assert not others_finish(turns, 0, 3, 6, 0)
    assert not others_finish(turns, 2, 3, 6, 0)


def test_a_thread_alone_does_all_chunks_of_each_step():
    turns = turns_of(5)
    for step in range(3):
        assert [next_chunk(turns, 0, 1, 5, n, step) for n in range(5)] == list(range(5))
        assert [next_chunk(turns, 0, 1, 5, n, step) for n in range(5)] == [-1] * 5
        turns[0] += 5


def test_own_chunks_come_first_and_those_of_one_who_is_away_next():
    turns = turns_of(4)
    assert [next_chunk(turns, 1, 2, 4, n, 0) for n in range(4)] == [2, 3, 0, 1]
    turns[0] = 4
    assert next_chunk(turns, 0, 2, 4, 0, 0) == -1  # who comes late finds nothing to do


def test_chunks_of_one_who_is_at_work_are_left_to_it():
    turns = turns_of(4)
    assert next_chunk(turns, 0, 2, 4, 0, 0) == 0
    turns[APART * 2] = 1  # chunk 1 as well; both are done by the thread of rank 0, which is there
    turns[0] = 2
    mine = [next_chunk(turns, 1, 2, 4, n, 0) for n in range(2)]
    turns[0] = 4
    assert mine + [next_chunk(turns, 1, 2, 4, n, 0) for n in (2, 3)] == [2, 3, -1, -1]
