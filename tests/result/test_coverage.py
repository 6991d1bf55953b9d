"""What was not inspected, and whether a recording was long enough."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from nefty.data.facts import Facts, Step, Units
from nefty.data.record.record import InspectionRecord
from nefty.result.coverage import depth_of_interest, not_inspected
from nefty.result.display_units import in_display_units
from support.parts import planted


def recorded(**values):
    rec = planted()
    return replace(rec, facts=rec.facts.replaced(record=InspectionRecord(**values)))


def test_the_area_is_that_of_the_pixels_that_never_count():
    rec = recorded(not_inspected="The bracket hides 20 mm.")
    steps = (Step("region", "Rows 2 to 14 of 16."), Step("drift", "None."))
    measured = np.array(rec.measured)
    measured[:, :, :11] = np.nan  # a quarter of 44 columns
    rec = replace(rec, measured=measured, facts=rec.facts.replaced(steps=steps, notes=()))
    found = not_inspected(in_display_units(rec))
    assert found.share == pytest.approx(0.25)
    assert found.area == pytest.approx(0.25 * rec.grid.size[1] * rec.grid.size[2] * 1e6)
    assert found.why == ("The bracket hides 20 mm.", "Region: Rows 2 to 14 of 16.")


def test_an_echo_from_the_depth_of_interest_must_come_before_the_end():
    rec = recorded()
    ends, alpha = float(rec.times[-1]), float(np.exp(np.mean(np.log(rec.background))))
    seen = math.sqrt(math.pi * alpha * ends)
    for factor, enough in ((0.99, True), (1.01, False)):
        one = recorded(depth_of_interest=f"{1e3 * factor * seen!r} mm")
        for shown in (one, in_display_units(one)):
            found = depth_of_interest(shown)
            assert found is not None
            assert found.recorded
            assert found.long_enough is enough
            assert found.needed == pytest.approx(factor**2 * ends)
    whole = depth_of_interest(rec)
    assert whole is not None
    assert (whole.recorded, whole.depth) == (False, rec.grid.size[0])
    assert depth_of_interest(replace(rec, facts=Facts(units=Units()))) is None
