import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report.curves import log_ticks, peak


def test_peak_is_exact_for_a_parabola_on_uneven_times():
    times = np.array([0.1, 0.5, 0.8, 1.5, 3.0])
    assert peak(times, 20 - (times - 0.9) ** 2) == pytest.approx((0.9, 20.0))


def test_peak_of_a_cold_contrast_is_its_minimum():
    times = np.linspace(0, 2, 21)
    assert peak(times, (times - 1) ** 2 - 3) == pytest.approx((1.0, -3.0))


@pytest.mark.parametrize("slope", [1.0, -1.0])
def test_peak_at_an_end_is_the_sample(slope):
    times = np.linspace(1, 2, 5)
    at, value = peak(times, 5 + slope * times)
    assert at == (2.0 if slope > 0 else 1.0)
    assert value == pytest.approx(5 + slope * at)


def test_log_ticks_are_one_two_five():
    assert log_ticks(0.04, 6) == [0.05, 0.1, 0.2, 0.5, 1, 2, 5]
    assert log_ticks(2.1, 4.9) == [2.1, 4.9]
    with pytest.raises(InputError, match="0 < low < high"):
        log_ticks(0, 1)
