from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from scipy import stats

from nefty.bench.suites.presentation.columns import as_printed
from nefty.bench.suites.presentation.tables import (
    TABLES,
    ablation,
    conditions,
    efficiency,
    projection,
    quality,
    robustness,
    suite_tables,
    surface,
)
from nefty.bench.suites.suite import TableName
from nefty.bench.tables.table import Interval, Share
from nefty.bench.tasks.methods import METHODS
from support.outcomes import SHAPE, outcome, outcomes, small_suite

DATA = {"shape": SHAPE, "frames": 6, "seeds": "0:6"}


@pytest.fixture(scope="module")
def suite():
    return small_suite(paper="main")


@pytest.fixture(scope="module")
def done(suite):
    return outcomes(suite)


def scores(done, name, kind, key):
    return [o.scores[key] for e, o in done if (e.row, e.task.kind) == (name, kind)]


def row(table, **values):
    (found,) = [r for r in table.rows if all(r.get(k) == v for k, v in values.items())]
    return found


def headings(table):
    return dict(zip([c.key for c in table.used()], table.headings(), strict=True))


def test_there_is_a_function_for_every_table_of_a_suite():
    assert set(TABLES) == set(get_args(TableName))


def test_quality_is_the_mean_with_its_interval_for_each_kind(suite, done):
    tables = quality(suite, done)
    assert [t.title for t in tables] == ["Quality, homogeneous", "Quality, layered"]
    values = scores(done, "Grid Opt.", "layered", "psnr")
    found = row(tables[1], method="Grid Opt.")
    low, high = stats.t.interval(0.95, 5, np.mean(values), stats.sem(values))
    assert found["psnr"].mean == pytest.approx(np.mean(values))
    assert found["psnr"].half_width == pytest.approx((high - low) / 2)
    assert (found["n"], found["missing"], found["budget"]) == (6, None, "none")
    assert found["seconds"] == pytest.approx(4.25)  # median of 4.0, 4.1 ... 4.5


def test_quality_has_the_papers_numbers_in_columns_and_rows_of_their_own(suite, done):
    homogeneous, layered = quality(suite, done)
    assert [r["method"] for r in homogeneous.rows] == [
        "nefty fast",
        "Grid Opt.",
        "PINN",
        "SPINN",
        "Causal-PINN",
        "DCGD",
        "U-Net (Sound-Only), with labels",
    ]
    assert list(homogeneous.quiet) == [2, 3, 4, 5, 6]
    assert row(homogeneous, method="nefty fast")["iou_paper"] == Interval(0.45, 0.04)
    assert row(homogeneous, method="Grid Opt.")["seconds_paper"].mean == 480
    assert row(layered, method="SPINN")["psnr_paper"] == Interval(9.71, 0.77)
    assert row(layered, method="SPINN").get("psnr") is None
    assert headings(homogeneous)["iou_paper"] == "IoU, paper"
    assert "edge_f1_paper" in headings(homogeneous)
    assert "edge_f1_paper" not in headings(layered)  # the paper has it for homogeneous parts only
    assert [c.key for c in homogeneous.used() if c.quiet] == [k for k in headings(homogeneous) if k.endswith("_paper")]


def test_tables_with_the_papers_numbers_say_so(suite, done):
    (table, _) = suite_tables(suite, done)
    assert table.shows == 'Under "paper": the paper\'s own numbers, from its own samples and a GPU; not measured here.'
    (table, _) = suite_tables(small_suite(), done)
    assert table.shows == ""


def test_the_best_method_is_marked_in_every_column_but_never_the_paper(suite, done):
    table = quality(suite, done)[0]
    keys = [c.key for c in table.used()]
    assert {keys[column] for line, column in table.best() if line == 0} == {*("mse", "psnr", "ssim", "iou", "edge_f1")}
    assert {line for line, _ in table.best()} == {0}


def test_methods_with_labels_compete_among_themselves(suite, done, monkeypatch):
    monkeypatch.setitem(METHODS, "grid", replace(METHODS["grid"], labels=True))
    assert quality(suite, done)[0].best() == set()


def test_data_with_noise_have_no_numbers_of_the_paper_beside_them():
    suite = small_suite(paper="main", data={"clean": DATA, "noisy": {**DATA, "title": "noise", "noise": 1e-3}})
    done = outcomes(suite, [e for e in suite.entries() if e.task.seed < 2])
    tables = quality(suite, done)
    assert [t.title for t in tables][2:] == ["Quality, noise, homogeneous", "Quality, noise, layered"]
    assert [any(c.quiet for c in t.used()) for t in tables] == [True, True, False, False]
    assert [len(t.rows) for t in tables] == [7, 7, 2, 2]


def test_partial_results_have_dashes_and_no_interval_of_one(suite):
    entries = [e for e in suite.entries() if e.task.method == "fast" and e.task.seed == 1]
    table = quality(suite, outcomes(suite, entries))[0]
    found = row(table, method="nefty fast")
    assert (found["n"], found["missing"]) == (1, 5)
    assert found["iou"].half_width is None
    nothing = row(table, method="Grid Opt.")
    assert (nothing["n"], nothing["missing"], nothing["iou"], nothing["seconds"]) == (0, 6, None, None)
    assert table.best() == set()
    assert "| Grid Opt. | 0 | 6 | none | - |" in table.markdown()
    assert all(t.markdown() for name in TABLES for t in TABLES[name](suite, []))


def test_scores_that_are_not_defined_are_left_out_of_the_mean(suite):
    entries = [e for e in suite.entries() if e.task.kind == "layered" and e.task.method == "fast"]
    done = [(e, outcome(e, scores={"edge_f1": None if e.task.seed < 4 else 0.5})) for e in entries]
    found = row(quality(suite, done)[1], method="nefty fast")
    assert found["n"] == 6
    assert found["edge_f1"] == Interval(0.5, 0.0, 2)


def test_robustness_groups_by_defects_and_by_strata(suite, done):
    tables = {t.name: t for t in robustness(suite, done)}
    assert list(tables) == [
        f"robustness-{metric}-clean-{kind}" for kind in ("homogeneous", "layered") for metric in ("psnr", "iou")
    ]
    for kind, fact, table in (
        ("homogeneous", "defects", tables["robustness-psnr-clean-homogeneous"]),
        ("layered", "strata", tables["robustness-psnr-clean-layered"]),
    ):
        mine = [o for e, o in done if (e.task.method, e.task.kind) == ("fast", kind)]
        groups = sorted({o.facts[fact] for o in mine})
        assert [c.key for c in table.columns if not c.quiet] == ["method", *[f"psnr_{g}" for g in groups]]
        for group in groups:
            expected = np.mean([o.scores["psnr"] for o in mine if o.facts[fact] == group])
            assert row(table, method="nefty fast")[f"psnr_{group}"].mean == pytest.approx(expected)
    table = tables["robustness-iou-clean-layered"]
    assert row(table, method="nefty fast")["iou_3_paper"] == Interval(0.41)
    assert row(table, method="U-Net (Full), with labels")["iou_4_paper"] == Interval(0.68)
    assert headings(table)["iou_3"] == "3 strata"
    assert "with 3 strata" in table.shows


def test_data_sets_are_never_pooled_because_they_may_hold_the_same_specimens():
    one, two = ({**DATA, "title": f"{n} defects", "defects": n, "kinds": ["homogeneous"]} for n in (1, 2))
    suite = small_suite(data={"one": one, "two": two})
    tables = robustness(suite, outcomes(suite, [e for e in suite.entries() if e.task.seed < 3]))
    assert [t.name for t in tables if "psnr" in t.name] == [f"robustness-psnr-{n}-homogeneous" for n in ("one", "two")]


def test_surface_stands_beside_the_volume_for_all_and_for_each_group(suite, done):
    table = surface(suite, done)[1]
    everything = row(table, specimens="all", method="Grid Opt.")
    assert everything["surface_mse"].mean == pytest.approx(2e-4)
    assert everything["iou"].mean == pytest.approx(np.mean(scores(done, "Grid Opt.", "layered", "iou")))
    three = row(table, specimens="3 strata", method="nefty fast")
    assert (three["surface_psnr_paper"], three["iou_paper"]) == (Interval(82.10), Interval(0.41))
    (quiet,) = [i for i in table.quiet if table.rows[i]["specimens"] == "3 strata"]
    assert table.rows[quiet]["method"] == "PINN"
    assert table.rows[quiet]["surface_mse_paper"].mean == pytest.approx(54.28e-4)
    best = {table.rows[line]["specimens"] for line, _ in table.best()}
    assert best == {r["specimens"] for r in table.rows}
    assert {table.rows[line]["method"] for line, _ in table.best()} == {"nefty fast"}


def test_ablation_compares_each_step_with_the_one_before_on_the_same_specimens():
    steps = [{"method": "fast", "title": f"step {i}", "paper": name} for i, name in enumerate(("Base", "+PE"))]
    suite = small_suite(methods=steps, paper="ablation", data={"clean": {**DATA, "kinds": ["layered"]}})
    psnr = {"step 0": [10.0, 20.0, 30.0, 77.0], "step 1": [11.0, 22.0, 33.0]}
    done = [
        (e, outcome(e, scores={"psnr": psnr[e.row][e.task.seed]}))
        for e in suite.entries()
        if e.task.seed < len(psnr[e.row])
    ]
    (table,) = ablation(suite, done)
    first, second, *others = table.rows
    assert "psnr_gain" not in first
    assert second["psnr_gain"].mean == pytest.approx(2.0)  # of 1, 2 and 3; seed 3 has no partner
    assert second["psnr_gain"].n == 3
    assert second["psnr_gain_paper"].mean == pytest.approx(6.15 - 2.89)
    assert first["mse_paper"].mean == pytest.approx(221.6e-4)
    assert [r["method"] for r in others] == ["+PE, FA", "+PE, FA, sigma", "+PE, FA, sigma, HM", "Full (+TV)"]
    assert "+2.00 ± 2.48" in table.markdown()
    assert "+3.26" in table.markdown()


def test_efficiency_has_medians_over_all_kinds_and_the_papers_hardware(suite, done):
    (table,) = efficiency(suite, done)
    fast, grid = table.rows[:2]
    assert (fast["n"], fast["unknowns"], fast["iterations"], fast["peak_bytes"]) == (12, 2048, 20, 1e8)
    assert grid["ms_per_iteration"] == pytest.approx(1000 * 4.25 / 40)
    assert grid["seconds_paper"].mean == 480
    assert row(table, method="DCGD")["peak_bytes_paper"].mean == pytest.approx(11.7e9)
    assert headings(table)["seconds_paper"] == "s on a GPU, paper"
    assert table.shows == "On a processor, 1 thread per reconstruction."
    assert "| 0.1 | 4.3 |" in table.markdown().replace("**", "")


def test_conditions_are_one_table_of_all_methods_and_data():
    suite = small_suite(data={"clean": DATA, "noisy": {**DATA, "title": "noise", "noise": 1e-3}})
    entries = [e for e in suite.entries() if e.task.seed < 3]
    facts = {"defects": 2, "defects_found": 1, "top_errors": [0.5], "bulk_error": -0.02, "false_indications": 1}
    facts |= {"geometry_errors": [0.75], "processor_seconds": 7.0}
    done = [(e, outcome(e, int(e.task.method == "grid"), facts=facts)) for e in entries]
    (table,) = conditions(suite, done)
    assert [(r["method"], r["data"], r["kind"]) for r in table.rows[:5]] == [
        ("nefty fast", "no noise", "homogeneous"),
        ("nefty fast", "no noise", "layered"),
        ("nefty fast", "noise", "homogeneous"),
        ("nefty fast", "noise", "layered"),
        ("Grid Opt.", "no noise", "homogeneous"),
    ]
    first, second = table.rows[:2]
    assert (first["n"], first["missing"], first["top"], first["found"]) == (3, 3, 0.5, Share(3, 6))
    assert (first["false"], first["geometry"], first["processor_seconds"]) == (1.0, 0.75, 7.0)
    assert first["bulk"] == pytest.approx(2.0)
    assert second["bulk"] is None
    assert first["evaluations"] == 23
    assert "3 of 6" in table.markdown()
    iou = [c.key for c in table.used()].index("iou")
    assert {line for line, column in table.best() if column == iou} == {0, 1, 2, 3}


def test_projection_leaves_out_what_no_outcome_has(suite, done):
    table = projection(suite, done)[0]
    values = [v for v in scores(done, "Grid Opt.", "homogeneous", "depth_abs_rel") if v is not None]
    assert row(table, method="Grid Opt.")["depth_abs_rel"].mean == pytest.approx(np.mean(values))
    assert {"mask_iou", "mask_dice", "depth_rmse", "depth_delta1", "depth_delta3", "depth_recall"} <= set(
        headings(table)
    )
    bare = [(e, replace(o, scores={"iou": 0.5, "mask_iou": 0.4})) for e, o in done]
    assert list(headings(projection(suite, bare)[0])) == ["method", "n", "budget", "mask_iou"]


def test_a_row_with_its_own_seeds_and_budget():
    rows = [{"method": "fast"}, {"method": "grid", "seeds": "0:2", "seconds": 60}]
    suite = small_suite(methods=rows, budget={"iterations": 50})
    table = quality(suite, outcomes(suite))[0]
    assert [(r["n"], r["missing"], r["budget"]) for r in table.rows] == [
        (6, None, "50 iterations"),
        (2, None, "60 s, 50 iterations"),
    ]


def test_the_papers_digits_are_its_own():
    assert as_printed()(Interval(0.4)) == "0.40"
    assert as_printed()(Interval(0.015, 0.003)) == "0.015 ± 0.003"
    assert as_printed()(Interval(0.47, 0.137)) == "0.470 ± 0.137"
    assert as_printed(1e4)(Interval(208.4e-4, 26.2e-4)) == "208.4 ± 26.2"
    assert as_printed(1e4)(Interval(12.61e-4, 4.2e-4)) == "12.61 ± 4.20"
    assert as_printed(signed=True)(Interval(3.7)) == "+3.70"
    assert as_printed()(None) == "-"
