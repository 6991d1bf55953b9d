"""Discs at the stated limit and around it, in one small part."""

from nefty.bench.studies.implants import SIZES, run


def test_more_of_the_wider_discs_are_found():
    results = run(seeds="0:1", pixels=24)
    (table,) = results.tables
    assert {row["size"] for row in table.rows} == set(SIZES)
    shares = {size: [r["found"] / r["n"] for r in table.rows if r["size"] == size] for size in SIZES}
    assert min(shares[2.0]) == 1.0
    assert max(shares[0.5]) <= min(shares[2.0])
