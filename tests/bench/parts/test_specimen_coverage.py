"""Intervals on the paper's kind of specimen: its truth, the suite that counts, and the factors it writes."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from nefty.bench.parts.score import Spot, trial_facts
from nefty.bench.parts.specimen_truth import truth_of_specimen
from nefty.bench.suites.load import load_suite
from nefty.bench.suites.presentation.coverage_tables import coverage, factors_of
from nefty.bench.suites.presentation.present import present
from nefty.bench.suites.run import FACTORS, Shown
from nefty.bench.tasks.task import perform
from nefty.cli.bench import _install
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.inversion.indication_code import code_of_indications
from nefty.inversion.recipe import load_recipe
from nefty.result.indications import intervals
from nefty.synth.specimen import PAPER_GRID, Defect, Specimen, draw_specimen
from support.outcomes import outcome

SPECIMEN = Specimen(
    size=PAPER_GRID.size,
    interfaces=(0.4, 0.6),
    bulk=(0.1, 0.2, 0.125),
    defects=(
        Defect("cylinder", (0.5, 3.0, 3.0), (0.2, 1.0, 1.5), 0.3, 0.01),
        Defect("ellipsoid", (0.3, 7.0, 7.0), (0.1, 0.8, 0.8), 0.0, 0.005),
    ),
    kind="layered",
)
SMALL = {"shape": (8, 24, 24), "frames": 25}


def small_suite(**changes):
    """Eight specimens of few cells, half of them with noise."""
    noise = {"title": "noise", "noise": 1e-3, "turn": [1, 2]}
    values = {
        **{"name": "small", "title": "Small", "tables": ["trials", "coverage"], "methods": [{"method": "fast"}]},
        "data": {
            "clean": {**SMALL, "seeds": "0:4", "turn": [0, 2]},
            "noise": {**SMALL, "seeds": "0:4", **noise},
        },
    }
    return load_suite({**values, **changes})


def test_the_truth_is_the_geometry():
    truth = truth_of_specimen(SPECIMEN, PAPER_GRID)
    deep, shallow = truth.defects
    assert deep.depth == pytest.approx(0.3)
    assert shallow.depth == pytest.approx(0.2)
    assert deep.resistance == pytest.approx(0.4 / 0.01 - (0.1 / 0.1 + 0.2 / 0.2 + 0.1 / 0.125))
    assert shallow.resistance == pytest.approx(0.2 / 0.005 - 0.2 / 0.1)
    assert shallow.width_over_depth == pytest.approx(8)
    assert deep.visible
    pixel = 100 / 64**2
    assert (truth.labels == 1).sum() * pixel == pytest.approx(np.pi * 1.5, rel=0.03)
    assert (truth.labels == 2).sum() * pixel == pytest.approx(np.pi * 0.64, rel=0.03)
    assert np.nanmax(truth.depth) == pytest.approx(0.3)


def test_what_hides_another_is_on_top():
    hidden = dataclasses.replace(SPECIMEN.defects[0], centre=(0.7, 7.0, 7.0), radii=(0.2, 0.5, 0.5))
    truth = truth_of_specimen(dataclasses.replace(SPECIMEN, defects=(SPECIMEN.defects[1], hidden)), PAPER_GRID)
    assert set(np.unique(truth.labels)) == {0, 1}


def test_a_defect_that_leaves_the_slab_counts_within_it():
    below = dataclasses.replace(SPECIMEN.defects[0], centre=(0.9, 3.0, 3.0))
    assert SPECIMEN.resistance(below) == pytest.approx(0.3 / 0.01 - 0.3 / 0.125)


def test_a_specimen_is_judged_by_the_rule_of_parts():
    truth = truth_of_specimen(SPECIMEN, PAPER_GRID)
    spot = Spot(truth.labels == 1, (3.0 / 0.15625, 3.0 / 0.15625), 0.33, 30.0, 9.0, 0.15625)
    false = Spot(np.roll(truth.labels == 1, 30, axis=1), (19.2, 49.2), 0.3, 30.0, 6.0, 0.15625)
    facts = trial_facts([spot, false], truth)
    assert facts["false"] == 1
    assert [d["found"] for d in facts["defects"]] == [True, False]
    assert facts["defects"][0]["depth"] == pytest.approx(0.3)
    assert facts["defects"][0]["offset"] < 0.1


def test_the_suite_draws_each_specimen_once():
    suite = load_suite("coverage-specimens", seeds="100:108")
    drawn = [(e.task.kind, e.task.seed) for e in suite.entries()]
    assert len(drawn) == len(set(drawn)) == 16
    noisy = {e.task.seed for e in suite.entries() if e.data == "noise"}
    assert noisy == {101, 103, 105, 107}
    assert {d.noise for d in suite.data.values()} == {0.0, 1e-3}
    assert {row.method for row in suite.methods} == {"fast"}


def test_tables_of_parts_are_refused_for_plates_and_the_trade_off_for_specimens():
    with pytest.raises(InputError, match="trade-off"):
        small_suite(tables=["trade-off"])
    plates = {"name": "p", "title": "P", "tables": ["coverage"], "plates": {"a": {}}, "methods": [{"method": "fast"}]}
    with pytest.raises(InputError, match="not for plates"):
        load_suite(plates)


@pytest.fixture(scope="module")
def performed():
    """One specimen, whole: what every outcome is made of."""
    suite = small_suite()
    entry = suite.entries()[0]
    return entry, perform(entry.task)


def test_a_task_tells_all_that_intervals_need(performed):
    entry, done = performed
    specimen = draw_specimen(entry.task.seed, entry.task.kind)
    facts = done.facts["trial"]
    found = [d for d in facts["defects"] if d["found"]]
    assert len(facts["defects"]) == len(specimen.defects)
    assert [d["depth"] for d in facts["defects"]] == [d.top for d in specimen.defects]
    assert found
    for one in found:
        assert 0.5 < one["depth"] / one["found_depth"] < 2
        assert 0.8 < one["diameter"] / one["found_diameter"] < 1.25
        assert 0.3 < one["resistance"] / one["found_resistance"] < 3
        assert one["offset"] < 0.2 * one["found_diameter"]
        assert one["pixel"] == pytest.approx(10 / 24)
    assert done.facts["code_of_indications"] == code_of_indications(load_recipe("fast", {"model.layers": 8}))


def centre_of(mask):
    y, x = np.nonzero(mask)
    return float(y.mean()) + 0.5, float(x.mean()) + 0.5


def judged(suite, code="c"):
    """Outcomes as a method would leave them whose depths are right within 10 %."""
    rng = np.random.default_rng(3)
    grid, found = Grid(SMALL["shape"], PAPER_GRID.size), []
    for entry in suite.entries():
        truth = truth_of_specimen(entry.task.recording.specimen(entry.task.kind, entry.task.seed), grid)
        spots = [
            Spot(
                truth.labels == d.label,
                centre_of(truth.labels == d.label),
                d.depth * float(np.exp(0.1 * rng.standard_normal())),
                d.resistance,
                9.0,
                10 / 24,
            )
            for d in truth.defects
        ]
        facts = {"trial": trial_facts(spots, truth), "code_of_indications": code}
        found.append((entry, outcome(entry, facts=facts)))
    return found


def test_tables_tell_coverage_by_group_and_false_indications():
    suite = small_suite()
    suite = suite.model_copy(
        update={"data": {name: data.model_copy(update={"seeds": "0:60"}) for name, data in suite.data.items()}}
    )
    done = judged(suite)
    tables = {table.slug: table for table in present(suite, done, []).tables}
    held = {(row["quantity"], row["group"]): row for row in tables["held-out"].rows}
    defects = sum(len(o.facts["trial"]["defects"]) for _, o in done)
    whole = held["depth", "all"]
    assert whole["held"].of == defects
    assert 0.86 < float(whole["held"]) < 0.96
    assert whole["width"] == pytest.approx(whole["oracle"], rel=0.25)
    for words in (("homogeneous", "layered"), ("no noise", "noise")):
        assert sum(held["depth", word]["held"].of for word in words) == defects
    ranges = [row for row in tables["held-out"].rows if row["quantity"] == "depth"][5:]
    assert len(ranges) == 3
    assert sum(row["held"].of for row in ranges) == defects
    assert tables["trials-clean"].rows[0]["false"].mean == 0
    factors = factors_of(suite, done)
    assert factors is not None
    assert (factors.recipe, factors.code, factors.parts, factors.unitless) == ("fast", "c", 120, True)
    assert "small, seeds homogeneous/layered 0:60" in factors.made


def test_results_of_two_codes_make_no_factors():
    suite = small_suite()
    done = [*judged(suite)[:4], *judged(suite, "other")[4:]]
    assert factors_of(suite, done) is None
    assert coverage(suite, done)


def test_written_factors_join_those_of_other_recipes(tmp_path, monkeypatch):
    group = intervals.Group(math.inf, 50, (0.9, 1.1), (0.9, 1.1), (0.5, 2.0), 0.1)
    old, new, other = (
        intervals.Factors(*names, "m", 9, (group,)) for names in (("fast", "a"), ("fast", "b"), ("real", "c"))
    )
    monkeypatch.setattr(intervals, "stored_factors", lambda: {"fast": old, "real": other})
    monkeypatch.setattr(intervals, "__file__", str(tmp_path / "intervals.py"))
    (tmp_path / "run").mkdir()
    file = tmp_path / "run" / FACTORS
    file.write_text(intervals.factors_to_json({"fast": new}))
    shown = Shown(small_suite(), None, [file])
    with pytest.raises(InputError, match="whole run"):
        _install([dataclasses.replace(shown, interrupted=True)])
    _install([shown])
    written = intervals.factors_from_json((tmp_path / intervals.FILE).read_text())
    assert written == {"fast": new, "real": other}
