"""A table from stated to observed probabilities, for the recipe and the code that it was measured with."""

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.result import reliability
from nefty.result.reliability import Reliability, reliability_for, stored_reliability
from support.weighed_parts import refits, weighed

TABLE = Reliability("real", "abc", "by hand, for this test", (0.0, 0.5, 1.0), (0.0, 0.2, 0.9))
OURS = {"recipe": "real", "code of indications": "abc"}


def test_it_is_linear_between_what_was_counted():
    raw = np.array([0.0, 0.25, 0.75, 1.0], dtype=np.float32)
    np.testing.assert_allclose(TABLE(raw), [0.0, 0.1, 0.55, 0.9], rtol=1e-6)
    assert TABLE(raw).dtype == np.float32
    assert Reliability.from_json(TABLE.to_json()) == TABLE


def test_it_holds_for_its_recipe_and_its_code_alone(monkeypatch):
    assert stored_reliability() is None  # nothing was measured yet
    monkeypatch.setattr(reliability, "stored_reliability", lambda: TABLE)
    assert reliability_for(OURS) is TABLE
    assert reliability_for({**OURS, "recipe": "fast"}) is None
    assert reliability_for({**OURS, "code of indications": "other"}) is None
    rec = weighed(ensemble=refits(), provenance=OURS)
    assert rec.probability is not None
    assert rec.probability.max() == pytest.approx(0.76)
    other = weighed(ensemble=refits(), provenance={})
    assert other.probability is not None
    assert other.probability.max() == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("stated", "observed"),
    [
        ((0.0, 1.0), (0.5, 0.2)),
        ((0.0, 0.9), (0.0, 1.0)),
        ((0.0, 0.5, 0.5, 1.0), (0, 0, 1, 1)),
        ((0.0, 1.0), (0.0, 1.1)),
    ],
)
def test_what_falls_or_leaves_probabilities_is_refused(stated, observed):
    with pytest.raises(InputError):
        Reliability("real", "abc", "", stated, observed)
