"""Factors of intervals: with enough parts by groups, with few in one, and held by parts that were not used."""

import numpy as np
import pytest

from nefty.bench.parts.coverage import Pair, covered, fitted_factors, held_out, oracle, pairs_of, width


def drawn(rng, parts, each=2):
    """Parts with that many defects each, whose errors scatter by 10 %."""
    return [
        [
            Pair(
                weight=1 / each,
                aspect=float(rng.uniform(1, 8)),
                depth=float(np.exp(0.1 * rng.standard_normal())),
                diameter=float(np.exp(0.1 * rng.standard_normal())),
                resistance=float("nan"),
                offset=float(abs(0.05 * rng.standard_normal())),
                kind="gap",
                visibility=10.0,
            )
            for _ in range(each)
        ]
        for _ in range(parts)
    ]


def flat(parts):
    return [pair for part in parts for pair in part]


def factors_of(parts):
    return fitted_factors(flat(parts), recipe="real", code="c", made="m", parts=len(parts))


@pytest.mark.parametrize(("parts", "groups"), [(120, 3), (48, 2), (30, 1)])
def test_there_are_as_many_groups_as_have_ends(rng, parts, groups):
    found = factors_of(drawn(rng, parts, each=1)).groups
    assert len(found) == groups
    for group in found:
        assert np.isfinite([*group.depth, *group.diameter, group.offset]).all()
        assert np.isinf(group.resistance).all()  # no pair has one


def test_with_hardly_any_part_an_interval_has_no_end(rng):
    (only,) = factors_of(drawn(rng, 5)).groups
    assert np.isinf(only.depth).all()


def test_intervals_hold_on_parts_that_were_not_used(rng):
    """90 % are asked for: of 3,000 defects of others at least 86 and at most 97 %."""
    factors, others = factors_of(drawn(rng, 150)), flat(drawn(rng, 1500))
    for quantity in ("depth", "diameter", "offset"):
        assert 0.86 < np.mean([bool(covered(pair, factors, quantity)) for pair in others]) < 0.97


def test_each_part_is_held_out_once(rng):
    parts = drawn(rng, 70)
    by_others = held_out([*parts, []])
    assert len(by_others) == 71
    assert by_others[3] == fitted_factors(flat([*parts[:3], *parts[4:]]), recipe="", code="", made="", parts=70)
    tried = [(pair, own) for part, own in zip(parts, by_others, strict=False) if own for pair in part]
    assert len(tried) == 140
    held = [bool(covered(*one, "depth")) for one in tried]
    assert 0.8 < np.mean(held) <= 1
    assert held_out(parts[:1]) == [None]


def test_one_who_knows_the_errors_has_intervals_about_as_wide(rng):
    """Of a thousand parts: 2 x 1.645 x 0.1 wide, and a place within 1.645 x 0.05."""
    parts = drawn(rng, 1000, each=1)
    pairs, factors = flat(parts), factors_of(parts)
    assert oracle(pairs, "depth") == pytest.approx(0.33, rel=0.1)
    assert oracle(pairs, "offset") == pytest.approx(0.082, rel=0.1)
    assert oracle([], "depth") != oracle([], "depth")
    for quantity in ("depth", "diameter", "offset"):
        assert np.mean([width(pair, factors, quantity) for pair in pairs]) == pytest.approx(
            oracle(pairs, quantity), rel=0.1
        )


def test_a_defect_that_was_not_found_is_no_pair():
    defect = {
        **{"visible": True, "found": False, "found_depth": None, "depth": 1e-3, "diameter": 5.0, "resistance": None},
        **{"kind": "gap", "visibility": 9.0},
    }
    assert pairs_of([{"defects": [defect]}]) == []


def test_a_depth_of_nothing_is_infinitely_wrong():
    defect = {
        **{"visible": True, "found": True, "found_depth": 0.0, "depth": 0.1, "diameter": 5.0, "found_diameter": 4.0},
        **{"kind": "box", "visibility": None, "resistance": 3.0, "found_resistance": 2.0, "pixel": 0.5, "offset": 1.0},
    }
    (pair,) = pairs_of([{"defects": [defect]}])
    assert (pair.depth, pair.aspect, pair.visibility) == (np.inf, np.inf, np.inf)
    assert (pair.diameter, pair.resistance, pair.offset) == (1.25, 1.5, 0.25)
