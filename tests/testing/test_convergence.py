"""Orders are read off correctly, also with noise, and nonsense is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from nefty.core.errors import InputError
from nefty.testing import ConvergenceStudy, observed_order


@given(st.floats(-3, 6), st.floats(1e-6, 1e6), st.permutations([0.4, 0.2, 0.1, 0.05]))
@settings(deadline=None)
def test_a_power_law_gives_its_exponent_in_any_order_of_sizes(order, constant, sizes):
    errors = [constant * s**order for s in sizes]
    assert observed_order(sizes, errors) == pytest.approx(order, abs=1e-9)


def test_least_squares_averages_out_a_wiggle():
    sizes = np.array([1.0, 0.5, 0.25, 0.125])
    wiggle = np.array([1.05, 1 / 1.05, 1 / 1.05, 1.05])
    assert observed_order(sizes, sizes**2 * wiggle) == pytest.approx(2.0, abs=1e-12)


def test_the_trapezoidal_rule_is_second_order():
    def error(h):
        x = np.linspace(0, 1, round(1 / h) + 1)
        return abs(float(integrate.trapezoid(np.exp(x), x)) - (np.e - 1))

    study = ConvergenceStudy.run(error, [1 / 4, 1 / 8, 1 / 16])
    assert study.order == pytest.approx(2, abs=0.01)
    assert study.orders == pytest.approx([2, 2], abs=0.01)
    assert "order 2.00" in str(study)
    assert len(str(study).splitlines()) == 5


@pytest.mark.parametrize(
    ("sizes", "errors", "message"),
    [
        ([1.0], [1.0], "two different sizes"),
        ([1.0, 1.0], [1.0, 2.0], "two different sizes"),
        ([1.0, 0.5], [1.0], "same length"),
        ([1.0, 0.0], [1.0, 0.5], "sizes=.*positive"),
        ([1.0, 0.5], [1.0, 0.0], "errors=.*coarser"),
        ([1.0, 0.5], [1.0, np.nan], "errors=.*finite"),
    ],
)
def test_nonsense_is_refused(sizes, errors, message):
    with pytest.raises(InputError, match=message):
        observed_order(sizes, errors)
