"""Discs at the stated limit and around it, in one small part."""

import dataclasses
import os

import pytest

from nefty.bench.studies import implants
from nefty.bench.studies.implants import SIZES, run
from nefty.inversion.evidence.find import find

LONG = pytest.mark.skipif("NEFTY_TEST_LONG" not in os.environ, reason="half a minute: make test-long")


# The whole search looks for each disc, for a second: every third of six depths will do for the usual tests.
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=LONG)])
def test_more_of_the_wider_discs_are_found(every, monkeypatch):
    def at_some_depths(*words):
        evidence, *rest = find(*words)
        if evidence.limits is not None:
            told = evidence.limits
            fewer = dataclasses.replace(
                told,
                depths=told.depths[::every],
                diameters=told.diameters[:, ::every],
                maps=told.maps[:, ::every],
            )
            evidence = dataclasses.replace(evidence, limits=fewer)
        return evidence, *rest

    monkeypatch.setattr(implants, "find", at_some_depths)
    results = run(seeds="0:1", pixels=24)
    (table,) = results.tables
    assert {row["size"] for row in table.rows} == set(SIZES)
    assert sum(row["n"] for row in table.rows if row["size"] == 1.0) >= 2
    shares = {size: [r["found"] / r["n"] for r in table.rows if r["size"] == size] for size in SIZES}
    assert min(shares[2.0]) == 1.0
    assert max(shares[0.5]) <= min(shares[2.0])
