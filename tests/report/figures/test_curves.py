import pytest

from nefty.core.errors import InputError
from nefty.report.figures.curves import log_ticks


def test_log_ticks_are_one_two_five():
    assert log_ticks(0.04, 6) == [0.05, 0.1, 0.2, 0.5, 1, 2, 5]
    assert log_ticks(2.1, 4.9) == [2.1, 4.9]
    with pytest.raises(InputError, match="0 < low < high"):
        log_ticks(0, 1)
