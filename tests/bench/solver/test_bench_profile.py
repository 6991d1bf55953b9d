import pytest

from nefty.bench.solver.case import Case
from nefty.bench.solver.profile import run


def test_parts_and_the_rest_are_the_whole():
    results = run(Case(shape=(4, 8, 8), frames=4), repeats=1)
    *parts, rest, whole, forward, triad = results.tables[0].rows
    assert len(parts) == 6
    assert all(row["calls"] == 1 for row in parts)
    assert parts[0]["gigabytes"] > 0
    assert sum(row["milliseconds"] for row in (*parts, rest)) == pytest.approx(whole["milliseconds"])
    assert sum(row["share"] for row in (*parts, rest)) == pytest.approx(whole["share"]) == 1
    assert forward["milliseconds"] > 0
    assert triad["gigabytes"] > 0
    assert triad["share"] is None


def test_an_iteration_is_its_parts():
    *parts, whole = run(Case(shape=(4, 8, 8), frames=4), repeats=2).tables[1].rows
    assert [row["part"].split()[0] for row in parts] == ["forward", "the", "quasi-Newton"]
    assert whole["share"] == 1
    assert whole["milliseconds"] > parts[0]["milliseconds"] > 0
