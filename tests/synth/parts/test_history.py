"""Heating histories bring all of their heat, when they say."""

from __future__ import annotations

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.synth.parts.history import AnyHistory, LampPulse


def test_a_top_hat_brings_its_heat_evenly():
    pulse = LampPulse(4e-3)
    assert [pulse.delivered(t) for t in (-1.0, 0.0, 1e-3, 4e-3, 9.0)] == pytest.approx([0, 0, 0.25, 1, 1])
    assert pulse.switches == (4e-3,)


def test_an_afterglow_brings_the_rest():
    pulse = LampPulse(4e-3, 2e-3)
    assert pulse.delivered(4e-3) == pytest.approx(4 / 6, rel=1e-3)
    assert pulse.delivered(6e-3) == pytest.approx((4 + 2 * (1 - np.exp(-1))) / 6, rel=1e-3)
    assert pulse.delivered(1.0) == 1


def test_any_rate_agrees_with_the_pulse_it_describes():
    lock_in = AnyHistory(lambda t: 1 - np.cos(2 * np.pi * t), end=2.0)
    assert lock_in.delivered(0.5) == pytest.approx(0.25, rel=1e-4)
    assert lock_in.delivered(2.0) == 1
    assert AnyHistory(lambda t: 1.0 + 0 * t, 4e-3).delivered(1e-3) == pytest.approx(LampPulse(4e-3).delivered(1e-3))


def test_a_pulse_without_length_is_refused():
    with pytest.raises(InputError, match="duration"):
        LampPulse(0.0)
