import json

import pytest

from nefty.bench.suites.presentation.present import present, ranges
from nefty.bench.tasks.methods import METHODS
from nefty.bench.tasks.runner import Failure
from nefty.core.errors import InputError
from support.outcomes import SHAPE, outcomes, small_suite

MOST_BYTES = 10 * 2**20
EVERYTHING = {
    "tables": ["quality", "robustness", "surface", "ablation", "efficiency", "conditions", "projection"],
    "figures": ["slices", "spectra", "convergence", "surface-errors", "seconds"],
}


@pytest.fixture(scope="module")
def suite():
    return small_suite(paper="main", lead="What was done.", **EVERYTHING)


@pytest.fixture(scope="module")
def done(suite):
    return outcomes(suite)


def test_a_whole_suite_is_written_in_every_form(suite, done, tmp_path):
    results = present(suite, done, [])
    assert results.lead == "What was done."
    paths = results.save(tmp_path, command="nefty bench run small")
    assert {p.name for p in paths if p.suffix != ".csv"} == {"small.json", "small.md", "small.html", "small.tex"}
    assert len([p for p in paths if p.suffix == ".csv"]) == len(results.tables) == 2 + 4 + 2 + 2 + 1 + 1 + 2
    assert all(p.stat().st_size < MOST_BYTES for p in paths)
    assert (tmp_path / "small-quality-clean-homogeneous.csv").exists()
    page = (tmp_path / "small.html").read_text()
    assert page.count('class="plotly-graph-div"') == len(results.sections)
    assert "Slices, 1 defect, homogeneous" in page


def test_json_holds_every_outcome_and_nothing_that_json_has_not(suite, done, tmp_path):
    path = present(suite, done, []).save(tmp_path)[0]
    content = json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(name))
    outcomes = content["details"]["outcomes"]
    assert len(outcomes) == len(done) == 24
    first = next(o for o in outcomes if (o["method"], o["kind"], o["seed"]) == ("Grid Opt.", "layered", 3))
    expected = next(o for e, o in done if (e.task.method, e.task.kind, e.task.seed) == ("grid", "layered", 3))
    assert first["scores"]["iou"] == expected.scores["iou"]
    assert first["facts"]["seconds"] == expected.facts["seconds"]
    assert first["task"] == expected.task.key
    assert content["settings"]["suite"]["data"]["clean"]["shape"] == list(SHAPE)


def test_what_is_missing_or_failed_is_counted_and_explained(suite, done):
    kept = [(e, o) for e, o in done if e.task.method == "fast" and e.task.seed != 5]
    rest = [e for e, _ in done if e.task.method == "grid"]
    failed = [Failure(e, f"NeftyError: no\nluck {e.task.kind}", 2) for e in rest if e.task.seed != 0]
    results = present(suite, kept, failed)
    assert results.lead == (
        "What was done. 10 of 24 reconstructions are done, 10 failed and 4 have not been run; "
        "the last table says which."
    )
    table = results.tables[-1]
    assert table.title == "Without a result"
    assert [(r["method"], r["tasks"], r["which"], r["attempts"], r["reason"]) for r in table.rows] == [
        ("Grid Opt.", 5, "no noise, homogeneous: 1-5", 2, "NeftyError: no luck homogeneous"),
        ("Grid Opt.", 5, "no noise, layered: 1-5", 2, "NeftyError: no luck layered"),
        ("Grid Opt.", 2, "no noise, homogeneous: 0; no noise, layered: 0", None, "not run yet"),
        ("nefty fast", 2, "no noise, homogeneous: 5; no noise, layered: 5", None, "not run yet"),
    ]
    assert results.sections


def test_a_failure_with_a_later_result_is_none(suite, done):
    results = present(suite, done, [Failure(done[0][0], "it was interrupted", 1)])
    assert results.lead == "What was done."
    assert all(t.title != "Without a result" for t in results.tables)


def test_nothing_at_all_still_has_tables(suite, tmp_path):
    results = present(suite, [], [])
    assert "0 of 24 reconstructions are done and 24 have not been run" in results.lead
    assert results.sections == []
    assert len(results.save(tmp_path)) > 4


def test_a_library_that_is_not_there_is_named(monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(METHODS, "nefi", replace(METHODS["nefi"], package="no_such_library"))
    suite = small_suite(methods=[{"method": "fast"}, {"method": "nefi"}])
    results = present(suite, outcomes(suite), [])
    assert results.tables[-1].rows == [{"method": "nefi", "reason": "not installed: pip install nefty[peers]"}]


def test_a_figure_that_cannot_be_drawn_does_not_cost_the_tables(suite, done, monkeypatch):
    from nefty.bench.suites.presentation import figures

    def refuse(suite, done):
        raise InputError("the simulator is not installed.")

    monkeypatch.setitem(figures.FIGURES, "surface-errors", refuse)
    results = present(suite, done, [])
    assert results.notes[-1] == "The figure 'surface-errors' could not be drawn: the simulator is not installed."
    assert len(results.tables) == 14
    assert results.sections


def test_notes_say_what_a_reader_has_to_know(suite, done):
    notes = " ".join(present(suite, done, []).notes)
    assert "95 % confidence interval" in notes
    assert "the paper's own numbers: from its own samples" in notes
    assert "On a processor, 1 thread per reconstruction." in notes
    assert METHODS["grid"].note in notes
    assert "Not all methods have run on the same specimens" not in notes
    fewer = [(e, o) for e, o in done if e.task.method == "fast" or e.task.seed < 2]
    assert "Not all methods have run on the same specimens" in " ".join(present(suite, fewer, []).notes)
    plain = small_suite()
    assert "paper's own" not in " ".join(present(plain, outcomes(plain), []).notes)


def test_an_unknown_table_of_the_paper_is_refused(suite, done):
    with pytest.raises(InputError, match="mainn"):
        present(suite.model_copy(update={"paper": "mainn"}), done, [])


def test_ranges_of_seeds():
    assert ranges([3, 0, 1, 2, 7, 9, 10]) == "0-3, 7, 9-10"
    assert ranges([4]) == "4"
