"""The tables of a suite: outcomes in, means with 95 % confidence intervals out, the paper's numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from nefty.bench.suites.presentation.columns import (
    BUDGET,
    COUNT,
    EVALUATIONS,
    ITERATIONS,
    METHOD,
    MISSING,
    SECONDS,
    Metric,
    as_printed,
    by_method,
    contests,
    cost,
    counted,
    decimals,
    gain,
    group_of,
    machine,
    median_of,
    middle,
    name_in_paper,
    of_mean,
    paper_beside,
    paper_column,
    parts,
    title_of,
    with_paper,
)
from nefty.bench.suites.presentation.coverage_tables import coverage
from nefty.bench.suites.presentation.plate_tables import holes, plates
from nefty.bench.suites.presentation.savings import savings
from nefty.bench.suites.presentation.trade_off import trade_offs
from nefty.bench.suites.presentation.trial_tables import trials
from nefty.bench.tables import formats
from nefty.bench.tables.table import Column, Interval, Share, Table, interval

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Row, Suite
    from nefty.bench.tasks.task import Outcome

MSE = Metric("mse", "MSE (1e-4)", 2, "low", 1e4)
PSNR = Metric("psnr", "PSNR dB", 2)
SSIM = Metric("ssim", "SSIM")
IOU = Metric("iou", "IoU")
EDGES = Metric("edge_f1", "Edge F1")
SURFACE_MSE = Metric("surface_mse", "surface MSE (1e-4)", 2, "low", 1e4)
SURFACE_PSNR = Metric("surface_psnr", "surface PSNR dB", 2)
SIMULATED_PSNR = Metric("simulated_psnr", "of the volume dB", 2)
FOOTPRINT = Metric("mask_iou", "2D IoU")
PROJECTION = (
    FOOTPRINT,
    Metric("mask_dice", "2D Dice"),
    Metric("depth_abs_rel", "depth Abs Rel", best="low"),
    Metric("depth_rmse", "depth RMSE", best="low"),
    Metric("depth_delta1", "ratio < 1.25"),
    Metric("depth_delta2", "ratio < 1.25²"),
    Metric("depth_delta3", "ratio < 1.25³"),
    Metric("depth_recall", "depth recall"),
)
#: Of every table with numbers of the paper.
LABEL = 'Under "paper": the paper\'s own numbers, from its own samples and a GPU; not measured here.'


def suite_tables(suite: Suite, done: Done) -> list[Table]:
    """All tables that a suite asks for, those with the paper's numbers labelled; none if it has no methods."""
    found = [table for name in suite.tables for table in TABLES[name](suite, done)] if suite.methods else []
    return [replace(t, shows=f"{t.shows} {LABEL}".strip()) if any(c.quiet for c in t.used()) else t for t in found]


def quality(suite: Suite, done: Done) -> list[Table]:
    """The paper's table 1: one for each data set and kind, a row per method."""
    metrics = (IOU, PSNR, SSIM, MSE)
    both = chain.from_iterable(m.columns() for m in (*metrics, EDGES))
    time = (SECONDS, paper_column("seconds", "s on a GPU", of_mean(formats.seconds)))
    columns = (METHOD, COUNT, MISSING, BUDGET, *both, *time, ITERATIONS)
    tables = []
    for data, kind in parts(suite):
        paper = paper_beside(suite, [data], "ablation" if suite.paper == "ablation" else "main")
        places = {
            **{m.key: (paper, kind, m.key) for m in metrics},
            EDGES.key: (paper_beside(suite, [data], "edges"), kind, EDGES.key),
            "seconds": (paper_beside(suite, [data], "training"), "specimen", "seconds"),
        }
        values = [
            (
                row,
                {
                    **cost(suite, row, own, data, kind),
                    **{m.key: m.of(own) for m in (*metrics, EDGES)},
                    "seconds": middle(own, "seconds"),
                    "iterations": middle(own, "iterations"),
                },
            )
            for row, own in by_method(suite, done, [data], kind)
        ]
        rows, quiet = with_paper(suite, values, places, paper, [kind])
        title = title_of(suite, "Quality", [data], kind)
        tables.append(Table(title, columns, rows, f"quality-{data}-{kind}", "", quiet, contests(suite)))
    return tables


def robustness(suite: Suite, done: Done) -> list[Table]:
    """PSNR and IoU by number of defects or strata: a table for each kind and metric, a column per number."""
    tables = []
    for data, kind in (((name,), kind) for name, kind in parts(suite)):
        paper = paper_beside(suite, data, "robustness")
        methods = by_method(suite, done, data, kind)
        groups = _groups(methods)
        for metric in (PSNR, IOU):
            keys = {group: f"{metric.key}_{group}" for group in groups}
            both = chain.from_iterable(metric.columns(keys[g], counted(kind, g)) for g in groups)
            values = [
                (row, {keys[g]: metric.of(o for o in own if group_of(o) == g) for g in groups}) for row, own in methods
            ]
            places = {keys[g]: (paper, f"{kind} {g}", metric.key) for g in groups}
            rows, quiet = with_paper(suite, values, places, paper, [f"{kind} {g}" for g in groups])
            what = f"{metric.title} by number of {'strata' if 'layered' in kind else 'defects'}"
            name = f"robustness-{metric.key}-{'-'.join(data)}-{kind}"
            shows = _sizes(kind, groups, methods)
            title = title_of(suite, what, data, kind)
            tables.append(Table(title, (METHOD, *both), rows, name, shows, quiet, contests(suite)))
    return tables


def surface(suite: Suite, done: Done) -> list[Table]:
    """Error of the surface temperature beside IoU, of all specimens and by number of defects or strata."""
    metrics = (SURFACE_MSE, SURFACE_PSNR, IOU)
    both = chain.from_iterable(m.columns() for m in metrics)
    columns = (Column("specimens", "specimens"), METHOD, COUNT, *both, *SIMULATED_PSNR.columns())
    tables = []
    for data, kind in (((name,), kind) for name, kind in parts(suite)):
        paper, volume = paper_beside(suite, data, "surface"), paper_beside(suite, data, "robustness")
        methods = by_method(suite, done, data, kind)
        groups: list[int | None] = list(_groups(methods))
        rows: list[dict[str, Any]] = []
        quiet: list[int] = []
        compared: list[list[int]] = []
        for group in groups if len(groups) == 1 else [None, *groups]:
            place = f"{kind} {group}"
            places = {m.key: (volume if m is IOU else paper, place, m.key) for m in metrics}
            chosen = [(row, [o for o in own if group is None or group_of(o) == group]) for row, own in methods]
            values = [
                (row, {"n": len(own), **{m.key: m.of(own) for m in (*metrics, SIMULATED_PSNR)}}) for row, own in chosen
            ]
            more, theirs = with_paper(suite, values, places, paper, [place])
            compared += contests(suite, len(rows))
            quiet += [len(rows) + i for i in theirs]
            rows += [{"specimens": "all" if group is None else counted(kind, group), **row} for row in more]
        title = title_of(suite, "Surface temperature against volume", data, kind)
        shows = (
            "Frames simulated from the volume against the true ones; those of a PINN are read off its temperature "
            "network, as in the paper, and the last column simulates its volume too. A small error on the surface and "
            "a low IoU inside: the data-fit paradox."
        )
        tables.append(Table(title, columns, rows, f"surface-{'-'.join(data)}-{kind}", shows, quiet, compared))
    return tables


def ablation(suite: Suite, done: Done) -> list[Table]:
    """Steps in order, and what each gains over the one before on the same specimens."""
    metrics, gained = (PSNR, SSIM, MSE, IOU), (PSNR, IOU)
    columns = [METHOD, COUNT, MISSING, BUDGET, *chain.from_iterable(m.columns() for m in metrics)]
    for m in gained:
        columns.append(Column(f"{m.key}_gain", f"gain in {m.title}", interval(m.digits, signed=True)))
        columns.append(paper_column(f"{m.key}_gain", f"gain in {m.title}", as_printed(signed=True)))
    tables = []
    for data, kind in parts(suite):
        paper = paper_beside(suite, [data], "ablation")
        places = {m.key: (paper, kind, m.key) for m in metrics}
        values: list[tuple[Row, dict[str, Any]]] = []
        steps = by_method(suite, done, [data], kind)
        for index, (row, own) in enumerate(steps):
            values.append((row, {**cost(suite, row, own, data, kind), **{m.key: m.of(own) for m in metrics}}))
            if index > 0:
                last, before = steps[index - 1]
                for m in gained:
                    ends = [paper.number(kind, name_in_paper(r), m.key) for r in (last, row)]
                    values[-1][1][f"{m.key}_gain"] = gain(before, own, m.key)
                    values[-1][1][f"{m.key}_gain_paper"] = _difference(*ends)
        rows, quiet = with_paper(suite, values, places, paper, [kind])
        title = title_of(suite, "Ablation", [data], kind)
        shows = "Each row against the one before; gains are means of the differences on the same specimens."
        tables.append(Table(title, columns, rows, f"ablation-{data}-{kind}", shows, quiet, contests(suite)))
    return tables


def efficiency(suite: Suite, done: Done) -> list[Table]:
    """Unknowns, iterations, time and memory per specimen: medians, all kinds together."""
    facts = {
        Column("unknowns", "unknowns", formats.whole): "parameters",
        Column("collocation", "collocation points", formats.whole): "collocation points",
        Column("iterations", "iterations", formats.whole): "iterations",
        Column("ms_per_iteration", "ms per iteration", formats.seconds): "ms per iteration",
        SECONDS: "s on a GPU",
        Column("peak_bytes", "peak memory GB", _gigabytes, "low"): "peak GPU memory GB",
    }
    columns = [METHOD, COUNT, BUDGET]
    for ours, words in facts.items():
        columns += [ours, paper_column(ours.key, words, of_mean(ours.write))]
    tables = []
    for data in suite.sources:
        paper = paper_beside(suite, [data], "training")
        values = []
        for row, own in by_method(suite, done, [data]):
            known = [o.facts for o in own if o.facts.get("iterations") and o.facts.get("seconds")]
            keys = ("unknowns", "collocation", "iterations", "seconds", "peak_bytes", "evaluations")
            cells = {key: middle(own, key) or None for key in keys}
            cells["ms_per_iteration"] = median_of(1000 * f["seconds"] / f["iterations"] for f in known)
            values.append((row, {**cost(suite, row, own, data), **cells}))
        places = {c.key: (paper, "specimen", c.key) for c in facts}
        rows, quiet = with_paper(suite, values, places, paper, ["specimen"])
        title = title_of(suite, "Time and memory per specimen", [data])
        shows = machine([o for e, o in done if e.data == data])
        table = Table(title, (*columns, EVALUATIONS), rows, f"efficiency-{data}", shows, quiet, contests(suite))
        tables.append(table)
    return tables


def conditions(suite: Suite, done: Done) -> list[Table]:
    """Every method on all data, in one table: quality, depth, defects found, cost."""
    metrics = (IOU, PSNR, SSIM, FOOTPRINT)
    columns = (
        METHOD,
        Column("data", "data"),
        Column("kind", "specimens"),
        COUNT,
        MISSING,
        *(m.columns()[0] for m in metrics),
        Column("geometry", "depth to top, cells", decimals(2), "low"),
        Column("top", "depth to top, cells, against the truth in these cells", decimals(2), "low"),
        Column("found", "defects found", best="high"),
        Column("false", "false indications a part", decimals(2), "low"),
        Column("bulk", "bulk error %, at most", decimals(1), "low"),
        SECONDS,
        Column("processor_seconds", "median s of a processor", formats.seconds),
        EVALUATIONS,
    )
    by_row: dict[str, list[dict[str, Any]]] = {row.name: [] for row in suite.methods}
    for data, kind in parts(suite):
        for row, own in by_method(suite, done, [data], kind):
            by_row[row.name].append(
                {
                    "method": row.name,
                    "data": suite.data[data].title,
                    "kind": kind,
                    **cost(suite, row, own, data, kind),
                    **{m.key: m.of(own) for m in metrics},
                    **_findings(own, kind),
                    "seconds": middle(own, "seconds"),
                    "processor_seconds": middle(own, "processor_seconds"),
                    "evaluations": middle(own, "evaluations"),
                }
            )
    rows = list(chain.from_iterable(by_row.values()))
    each = len(parts(suite))
    compared = [[c * each + part for c in group] for part in range(each) for group in contests(suite)]
    shows = "Bold: the best method on the same data. Depth: median error over the true defects that were found."
    return [Table("Quality and time by data", columns, rows, "conditions", shows, contests=compared)]


def projection(suite: Suite, done: Done) -> list[Table]:
    """What is left in 2D masks and 2.5D depth maps."""
    columns = (METHOD, COUNT, MISSING, BUDGET, *(m.columns()[0] for m in PROJECTION))
    shows = "Errors of the depth are over pixels with a defect in both volumes; the recall says how many those are."
    tables = []
    for data, kind in parts(suite):
        rows = [
            {"method": row.name, **cost(suite, row, own, data, kind), **{m.key: m.of(own) for m in PROJECTION}}
            for row, own in by_method(suite, done, [data], kind)
        ]
        title, name = title_of(suite, "Seen from the front", [data], kind), f"projection-{data}-{kind}"
        tables.append(Table(title, columns, rows, name, shows, contests=contests(suite)))
    return tables


TABLES: dict[str, Callable[[Suite, Done], list[Table]]] = {
    "quality": quality,
    "robustness": robustness,
    "surface": surface,
    "ablation": ablation,
    "efficiency": efficiency,
    "conditions": conditions,
    "projection": projection,
    "savings": savings,
    "plates": plates,
    "holes": holes,
    "trials": trials,
    "trade-off": trade_offs,
    "coverage": coverage,
}


def _groups(methods: Sequence[tuple[Row, Sequence[Outcome]]]) -> list[int]:
    return sorted({group_of(outcome) for _, own in methods for outcome in own})


def _sizes(kind: str, groups: Sequence[int], methods: Sequence[tuple[Row, Sequence[Outcome]]]) -> str:
    """How many specimens each group has, in words."""
    sizes = [max(sum(group_of(o) == g for o in own) for _, own in methods) for g in groups]
    words = ", ".join(f"{n} with {counted(kind, g)}" for g, n in zip(groups, sizes, strict=True))
    return f"Specimens: {words}." if words else ""


def _findings(own: Sequence[Outcome], kind: str) -> dict[str, Any]:
    """Depth, defects and bulk, where the facts have them."""
    facts = [o.facts for o in own]
    known = [f for f in facts if f.get("defects_found") is not None]
    wrong = [f["false_indications"] for f in facts if f.get("false_indications") is not None]
    bulks = [100 * abs(f["bulk_error"]) for f in facts if f.get("bulk_error") is not None]
    found = Share(sum(f["defects_found"] for f in known), sum(f["defects"] for f in known)) if known else None
    return {
        "geometry": median_of(error for f in facts for error in f.get("geometry_errors", ())),
        "top": median_of(error for f in facts for error in f.get("top_errors", ())),
        "found": found,
        "false": sum(wrong) / len(wrong) if wrong else None,
        "bulk": max(bulks) if bulks and kind == "homogeneous" else None,
    }


def _difference(before: Interval | None, after: Interval | None) -> Interval | None:
    return None if before is None or after is None else Interval(after.mean - before.mean)


def _gigabytes(value: float | None) -> str:
    return formats.DASH if value is None else f"{value / 1e9:.3g}"
