"""False indications of sound parts, counted at each stated rate."""

import dataclasses

import pytest

from nefty.bench.studies import false_rates
from nefty.bench.studies.false_rates import run
from nefty.bench.suites.experiments import FalseRatesOptions
from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.null import threshold
from nefty.result.frame_evidence import RegionEvidence


def test_a_looser_rate_calls_no_less():
    table, of_parts = run(seeds="0:1", pixels=24, rates=(0.01, 5.0)).tables
    strict, loose = table.rows
    assert (strict["threshold"], loose["threshold"]) == (threshold(0.01), threshold(5.0))
    assert strict["false"] <= loose["false"]
    assert bool(of_parts.rows) == (loose["false"] > 0)


@pytest.mark.parametrize(("scores", "counted", "holds"), [((), 0, "yes"), ((99.0,) * 9, 9, "no")])
def test_what_is_called_is_counted(monkeypatch, scores, counted, holds):
    """Regions are put into the evidence of a part that shows none: each counts, and nine are too many for 0.05."""

    def with_regions(*words):
        evidence, *rest = find(*words)
        assert not evidence.called
        region = RegionEvidence(score=99.0, depth=1e-3, resistance=1e-3, insulation=0.3)
        return dataclasses.replace(evidence, regions=(region,) * len(scores)), *rest

    monkeypatch.setattr(false_rates, "find", with_regions)
    table, of_parts = run(seeds="0:1", pixels=24, rates=(0.05,)).tables
    (row,) = table.rows
    assert (row["false"], row["holds"]) == (counted, holds)
    assert len(of_parts.rows) == (1 if scores else 0)


@pytest.mark.parametrize(("given", "rates"), [(0.2, (0.2,)), ("0.05,1", (0.05, 1.0)), ((0.5,), (0.5,))])
def test_one_rate_or_several_can_be_set(given, rates):
    assert FalseRatesOptions(rates=given).rates == rates


@pytest.mark.parametrize("given", [0, -1, "", "many", 1e6])
def test_what_is_no_rate_is_refused(given):
    with pytest.raises(ValueError, match="rates"):
        FalseRatesOptions(rates=given)
