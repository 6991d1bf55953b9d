"""What the checks let through comes back unchanged; what they refuse is named."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.checks import count, frame_times, number, one_of
from nefty.core.errors import InputError

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
@settings(deadline=None)
def test_number_returns_any_finite_value(value):
    assert number("h", value) == value


@given(finite, finite)
@settings(deadline=None)
def test_number_bounds_are_exclusive_above_and_inclusive_at_least(value, bound):
    if value > bound:
        assert number("h", value, above=bound) == value
    else:
        with pytest.raises(InputError, match="h="):
            number("h", value, above=bound)
    if value >= bound:
        assert number("h", value, at_least=bound) == value
    else:
        with pytest.raises(InputError, match="at least"):
            number("h", value, at_least=bound)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, "much", None, [1.0, 2.0]])
def test_number_refuses_what_is_no_finite_number(bad):
    with pytest.raises(InputError, match="alpha"):
        number("alpha", bad)


@pytest.mark.parametrize("good", [1, 7, np.int32(3)])
def test_count_returns_a_python_int(good):
    assert count("cells", good) == good
    assert type(count("cells", good)) is int


@pytest.mark.parametrize("bad", [0, -2, 1.0, True, "3", None])
def test_count_refuses_fractions_booleans_and_too_few(bad):
    with pytest.raises(InputError, match=r"cells=.* at least 1"):
        count("cells", bad)


def test_count_has_its_own_least_value():
    assert count("refine", 0, at_least=0) == 0
    with pytest.raises(InputError, match="at least 2"):
        count("refine", 1, at_least=2)


def test_one_of_accepts_a_generator_of_names():
    assert one_of("side", "front", (s for s in ("front", "back"))) == "front"


@pytest.mark.parametrize("bad", ["fornt", 3, None])
def test_one_of_refuses_others(bad):
    with pytest.raises(InputError, match="'back', 'front'"):
        one_of("side", bad, ("front", "back"))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20, unique=True))
@settings(deadline=None)
def test_frame_times_accepts_every_increasing_list_from_zero_on(values):
    times = frame_times(sorted(values))
    assert times.dtype == np.float64
    assert times.tolist() == sorted(values)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=10), st.data())
@settings(deadline=None)
def test_frame_times_refuses_every_list_with_a_step_back_or_a_repeat(values, data):
    values = sorted(values)
    i = data.draw(st.integers(1, len(values) - 1))
    values[i] = data.draw(st.floats(0, values[i - 1]))
    with pytest.raises(InputError, match=r"times must increase: .* sort the frames"):
        frame_times(values)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([], "at least one time"),
        (3.0, "shape"),
        ([[0.1, 0.2]], "shape"),
        ([0.1, math.nan], r"times\[1\]=nan"),
        ([-0.1, 0.2], r"times\[0\]=-0.1 lies before the flash"),
        (["soon"], "must be numbers"),
    ],
)
def test_frame_times_names_what_is_wrong(bad, message):
    with pytest.raises(InputError, match=message):
        frame_times(bad)
