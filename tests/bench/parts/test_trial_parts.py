"""Parts of the test bed as data of a suite."""

from __future__ import annotations

import dataclasses

import pytest

from nefty.bench.parts.recording import TrialPart
from nefty.bench.parts.selection import Parts
from nefty.bench.suites.load import load_suite, load_suites
from nefty.bench.suites.presentation.present import present
from nefty.bench.suites.presentation.trade_off import curves
from nefty.bench.tasks.budget import Budget
from nefty.bench.tasks.methods import method
from nefty.bench.tasks.task import Entry, Task, perform
from nefty.core.errors import InputError
from nefty.metrics import FalseCalls
from nefty.synth.parts.recorded import PartRecording

SEED = 20  # aluminium with a hole and a gap, both clear


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return TrialPart(pixels=32, root=str(tmp_path_factory.mktemp("parts")))


@pytest.fixture(scope="module")
def outcomes(source):
    """By name of the method."""
    return {
        name: perform(Task(source, "flawed", SEED, name, method(name).settings({}, Budget())))
        for name in ("ppt", "dtt")
    }


def test_a_part_is_simulated_once(source, monkeypatch):
    folder = source.folder("flawed", SEED)
    assert PartRecording.is_in(folder)
    monkeypatch.setattr("nefty.synth.parts.recorded.record_part", None)
    assert source.folder("flawed", SEED) == folder


def test_methods_get_what_the_command_line_would(source):
    few, whole = source.given("flawed", SEED, "means"), source.given("flawed", SEED, "frames")
    assert len(few.times) <= 60 < len(whole.times)
    assert few.facts.material is not None
    assert few.facts.defects is None
    assert few.size[0] == pytest.approx(PartRecording.load(source.folder("flawed", SEED)).known["thickness"])


def test_classical_methods_are_judged_at_every_threshold(outcomes):
    facts = outcomes["ppt"].facts
    assert len(facts["defects"]) == 2
    assert all(d["found"] for d in facts["defects"])
    found = [sum(d["found"] for d in at["defects"]) for at in facts["scan"].values()]
    assert max(found) == 2
    assert found[-1] == 0


def test_an_outcome_comes_back_from_its_file(outcomes, tmp_path):
    outcome = outcomes["ppt"]
    back = type(outcome).load(outcome.save(tmp_path / "one.h5"))
    assert back.facts["scan"].keys() == outcome.facts["scan"].keys()
    assert back.task == outcome.task


def test_where_the_parts_lie_is_no_part_of_the_key(source):
    task = Task(source, "flawed", SEED, "ppt", {})
    moved = dataclasses.replace(task, recording=dataclasses.replace(source, root="elsewhere"))
    assert moved.key == task.key
    assert dataclasses.replace(task, recording=TrialPart(pixels=40)).key != task.key


def test_the_table_has_a_row_for_each_method_and_one_at_equal_false(outcomes):
    suite = load_suite("trials", seeds=str(SEED), only={"methods": ["ppt", "dtt"]})
    done = [(Entry(o.task, method(name).title, "parts"), o) for name, o in outcomes.items()]
    table = present(suite, done, []).tables[0]
    names = [row["method"] for row in table.rows]
    assert names[0] == "PPT"
    assert any(name.startswith("DTT, at equal false") for name in names)
    assert table.rows[0]["found"].of == 2
    assert "[" in "".join(table.cells()[0])


def test_found_against_false_follows_the_thresholds_of_classical_methods(outcomes, tmp_path):
    suite = load_suite("trials", seeds=str(SEED), only={"methods": ["ppt", "dtt"]})
    done = [(Entry(o.task, method(name).title, "parts"), o) for name, o in outcomes.items()]
    results = present(suite, done, [])
    table = next(t for t in results.tables if t.slug == "trade-off-parts")
    scan = outcomes["ppt"].facts["scan"]
    for row in (row for row in table.rows if row["method"] == "PPT"):
        facts = scan[f"{row['threshold']:g}"]
        assert (row["false"], row["rate"]) == (facts["false"], facts["false"])
        assert row["high"] == FalseCalls(facts["false"], 1).interval()[1]
        assert row["found"].count == sum(d["found"] for d in facts["defects"])
    assert "Found against false" in [section.title for section in results.sections]
    assert any(path.name == "trials-trade-off-parts.csv" for path in results.save(tmp_path))


def test_found_against_false_follows_scores_where_all_have_one(outcomes):
    """Two parts as a method with scores leaves them: of 3 visible defects 2 found, 2 false indications."""
    suite = load_suite("trials", seeds="0:2", only={"methods": ["real"]})
    seen = [{"visible": True, "found": s is not None, "highest_score": s} for s in (9.0, 6.0, None)]
    unseen = {"visible": False, "found": True, "highest_score": 99.0}
    parts = [{"defects": [*seen, unseen], "false_scores": [7.0]}, {"defects": [], "false_scores": [5.0]}]
    whole = outcomes["ppt"]

    def of(parts):
        done = [dataclasses.replace(whole, facts={**whole.facts, "scan": {}, **facts}) for facts in parts]
        return curves(suite, [(Entry(o.task, suite.methods[0].name, "parts"), o) for o in done], "parts")

    (curve,) = of(parts)
    counts = [(p.threshold, p.found, p.targets, p.false_calls) for p in curve.points]
    expected = ((9, 1, 0), (7, 1, 1), (6, 2, 1), (5, 2, 2))
    assert counts == [(t, found, 3, FalseCalls(false, 2)) for t, found, false in expected]
    assert of([{**parts[0], "false_scores": [None]}, parts[1]]) == []


def test_suites_of_the_test_bed_load():
    trials, sound = load_suite("trials"), load_suite("false-calls")
    assert len(trials.trial_parts["parts"].specimens()) == 60
    assert {kind for kind, _ in sound.trial_parts["sound"].specimens()} == {"sound"}
    assert {row.method for row in sound.methods} == {row.method for row in trials.methods}


def test_settings_of_parts_can_be_changed():
    (suite,) = load_suites("trials", options={"pixels": 40}, quick=True)
    assert suite.trial_parts["parts"].pixels == 40
    assert suite.trial_parts["parts"].seeds == "0:4"
    with pytest.raises(InputError, match="pixel"):
        load_suites("trials", options={"pixel": 40})


def test_parts_are_kept_beside_the_results():
    suite = load_suite("trials").kept_in("there")
    assert suite.trial_parts["parts"].root == "there"
    assert Parts(root="mine").root == "mine"
