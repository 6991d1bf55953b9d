from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty import ForError, Geometric, InputError, PerFrame
from nefty.physics.time_plan import plan_steps

times_lists = st.lists(st.floats(1e-3, 10), min_size=1, max_size=12, unique=True).map(sorted).map(np.array)


@given(
    times=times_lists,
    first=st.floats(1e-3, 1),
    growth=st.floats(1.05, 3),
    start=st.floats(0, 2),
    length=st.floats(0.01, 3),
)
def test_steps_land_on_frames_and_pulse_edges(times, first, growth, start, length):
    for steps in (PerFrame(2), Geometric(first, growth)):
        plan = plan_steps(times, (start, start + length), steps)
        ends = np.concatenate([[0], np.cumsum(plan.dt)])
        np.testing.assert_allclose(ends[plan.frame_at], times, rtol=1e-11, atol=1e-11)
        assert (plan.dt > 0).all()
        heated = plan.dt[plan.heated].sum()
        assert heated == pytest.approx(max(0.0, min(times[-1], start + length) - start), abs=1e-9)


def test_one_step_per_frame_is_the_papers():
    plan = plan_steps(0.05 * np.arange(1, 101), None, PerFrame(1))
    assert plan.dt.size == 100
    np.testing.assert_allclose(plan.dt, 0.05)
    assert plan.frame_at.tolist() == list(range(1, 101))


def test_a_frame_at_time_zero_shows_the_initial_state():
    assert plan_steps(np.array([0.0, 1.0]), None, PerFrame(3)).frame_at.tolist() == [0, 3]


def test_geometric_steps_grow_and_are_few_and_of_few_lengths():
    times = np.geomspace(0.05, 5, 12)
    plan = plan_steps(times, None, Geometric(0.0125, 1.5))
    begins = np.concatenate([[0], np.cumsum(plan.dt)[:-1]])
    assert (plan.dt <= 0.0125 + 0.5 * begins + 1e-12).all()
    assert plan.dt.size <= 32
    uniform = plan_steps(0.05 * np.arange(1, 101), None, Geometric(0.0125, 1.5))
    assert np.unique(np.round(uniform.dt, 9)).size <= 4


def test_steps_that_differ_by_rounding_are_one_length():
    assert np.unique(plan_steps(0.05 * np.arange(1, 101), None, PerFrame(1)).dt).size == 1


def test_an_absurdly_short_first_step_is_refused():
    with pytest.raises(InputError, match="give a longer first step"):
        plan_steps(np.array([1.0]), None, Geometric(1e-12))


def test_bad_plans_are_refused():
    with pytest.raises(InputError, match="substeps=0"):
        PerFrame(0)
    with pytest.raises(InputError, match=r"growth=1 must be above 1"):
        Geometric(0.1, 1.0)
    with pytest.raises(InputError, match=r"first=-1"):
        Geometric(-1)
    with pytest.raises(InputError, match=r"error=0"):
        ForError(0, 0.1)
