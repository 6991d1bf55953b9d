import numpy as np
import pytest

from nefty.report.figures.style import CONFIG, DIFFERENCE, DIFFUSIVITY, TEMPERATURE, axis_title


def test_a_difference_is_centred_at_zero():
    assert DIFFERENCE.limits(np.array([-1.0, 3.0])) == (-3.0, 3.0)


def test_temperature_starts_at_zero_unless_it_goes_below():
    assert TEMPERATURE.limits(np.array([2.0, 5.0])) == (0.0, 5.0)
    assert TEMPERATURE.limits(np.array([-1.0, 5.0])) == (-1.0, 5.0)


@pytest.mark.parametrize("values", [np.zeros(3), np.array([np.nan]), np.full(2, -4.0), np.array([])])
@pytest.mark.parametrize("scale", [DIFFERENCE, TEMPERATURE, DIFFUSIVITY])
def test_limits_are_never_empty(scale, values):
    low, high = scale.limits(values)
    assert np.isfinite([low, high]).all()
    assert low < high


def test_limits_ignore_dead_pixels():
    assert TEMPERATURE.limits(np.array([1.0, np.nan, np.inf, 2.0])) == (0.0, 2.0)


def test_axis_title():
    assert axis_title("x", "mm") == "x (mm)"
    assert axis_title("x", "") == "x"


def test_figures_offer_no_upload():
    assert CONFIG["showSendToCloud"] is False
    assert CONFIG["plotlyServerURL"] == ""
