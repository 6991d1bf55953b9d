"""Outcomes of a suite as tables, figures and notes, also when some are missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nefty.bench.suites.presentation.columns import PAPER, machine, paper_size
from nefty.bench.suites.presentation.tables import suite_tables
from nefty.bench.tables import formats
from nefty.bench.tables.paper_numbers import paper_table
from nefty.bench.tables.results import Results
from nefty.bench.tables.table import Column, Table
from nefty.bench.tasks.methods import method
from nefty.core.errors import NeftyError

if TYPE_CHECKING:
    from nefty.bench.suites.presentation.columns import Done
    from nefty.bench.suites.suite import Suite
    from nefty.bench.tasks.runner import Failure
    from nefty.bench.tasks.task import Entry
    from nefty.report.pages.page import Section

LONGEST_REASON = 300
OF_VOLUMES = (
    "IoU: cells below a diffusivity of 0.03. PSNR and SSIM: over the range 0.003 to 0.25. All metrics are defined in "
    "docs/metrics.md."
)
OF_PARTS = (
    "Every part is a file that is loaded with what its user says: thickness, diffusivity, ratios of the axes and pulse "
    "are wrong by 2, 10, 20 and 20 % (standard deviations), and the flash comes at any time between two frames. "
    "Visible: the peak contrast of a defect, averaged over its pixels, is above 5 times the noise of one value. In "
    "brackets: 95 % intervals by Wilson."
)
UNFINISHED = (
    Column("method", "method"),
    Column("tasks", "tasks", formats.whole),
    Column("which", "data, specimens: seeds"),
    Column("attempts", "attempts"),
    Column("reason", "reason"),
)


def present(suite: Suite, done: Done, failed: Sequence[Failure]) -> Results:
    """All that a suite shows.

    Args:
        suite: what was asked for.
        done: its entries that have outcomes, with them.
        failed: those that do not, and why; entries in neither have not been run.
    """
    if suite.paper is not None:
        paper_table(suite.paper)
    there = {_place(entry) for entry, _ in done}
    failed = [failure for failure in failed if _place(failure.entry) not in there]
    known = there | {_place(failure.entry) for failure in failed}
    missing = [entry for entry in suite.entries() if _place(entry) not in known]
    tables = suite_tables(suite, done)
    sections, problems = _figures(suite, done)
    return Results(
        name=suite.name,
        title=suite.title,
        lead=" ".join(part for part in (suite.lead, _state(done, failed, missing)) if part),
        tables=[*tables, *_unfinished(suite, failed, missing)],
        notes=[*_notes(suite, done, tables), *problems],
        settings={"suite": suite.model_dump(mode="json")},
        details={"outcomes": [_plain(entry, outcome) for entry, outcome in done]},
        sections=sections,
    )


def _state(done: Done, failed: Sequence[Failure], missing: Sequence[Entry]) -> str:
    """How much there is; nothing if that is all."""
    if not failed and not missing:
        return ""
    total = len(done) + len(failed) + len(missing)
    words = [f"{len(done)} of {total} reconstructions are done"]
    words += [f"{len(failed)} failed"] if failed else []
    words += [f"{len(missing)} have not been run"] if missing else []
    return f"{', '.join(words[:-1])} and {words[-1]}; the last table says which."


def _unfinished(suite: Suite, failed: Sequence[Failure], missing: Sequence[Entry]) -> list[Table]:
    """A table of what has no result, equal reasons of a method together."""
    groups: dict[tuple[str, int | None, str], list[Entry]] = {}
    for failure in failed:
        reason = " ".join(failure.reason.split())
        reason = reason if len(reason) <= LONGEST_REASON else f"{reason[:LONGEST_REASON]} ..."
        groups.setdefault((failure.entry.row, failure.attempts, reason), []).append(failure.entry)
    for entry in missing:
        groups.setdefault((entry.row, None, "not run yet"), []).append(entry)
    rows: list[dict[str, Any]] = [
        {"method": name, "tasks": len(some), "which": _which(suite, some), "attempts": attempts, "reason": reason}
        for (name, attempts, reason), some in groups.items()
    ]
    for row in suite.absent():
        rows.append({"method": row.name, "reason": method(row.method).remedy})
    return [Table("Without a result", UNFINISHED, rows, "without-result")] if rows else []


def _notes(suite: Suite, done: Done, tables: Sequence[Table]) -> list[str]:
    """What a reader has to know to judge the tables."""
    if not suite.methods:
        return []
    notes = [
        "Means with the half width of their 95 % confidence interval (Student's t) over the n specimens, or over those "
        "of them where a mark is defined (CSV and JSON say how many); a single one has no interval. Bold: the best "
        "mean of those compared, equal as printed is equal; methods trained on true volumes are compared apart.",
        *(_of_plates(suite, done) if suite.plates else [OF_PARTS] if suite.trial_parts else [OF_VOLUMES]),
    ]
    if not suite.plates and any(column.key.endswith(f"_{PAPER}") for table in tables for column in table.used()):
        notes.append(
            'Columns headed "paper" and rows in italics are the paper\'s own numbers: from its own samples, its own '
            "code and an NVIDIA RTX PRO 6000, not measured here. They stand beside data without noise, as the paper's "
            "are."
        )
        if any(not paper_size(data) for data in suite.data.values()):
            notes.append("Our grid or our number of frames is not the paper's: compare the trend, not the numbers.")
    outcomes = [outcome for _, outcome in done]
    if outcomes:
        notes.append(f"Seconds: medians of the wall clock from the recording to the volume. {machine(outcomes)}")
    seeds = {frozenset(o.task.seed for e, o in done if e.row == row.name) for row in suite.methods}
    if len(seeds - {frozenset()}) > 1:
        notes.append("Not all methods have run on the same specimens: compare rows of equal n, or their intervals.")
    for row in suite.methods:
        training = sorted({o.facts.get("training") or "" for e, o in done if e.row == row.name})
        if about := "; ".join(words for words in (method(row.method).note, *training, row.note) if words):
            notes.append(f"{row.name}: {about}.")
    for row in suite.methods:
        cut = [o for e, o in done if e.row == row.name and o.facts["cut_short"]]
        if cut:
            count = sum(e.row == row.name for e, _ in done)
            notes.append(
                f"{row.name}: the budget ended {len(cut)} of {count} reconstructions before their schedule did."
            )
    return notes


def _of_plates(suite: Suite, done: Done) -> list[str]:
    """What a reader has to know of recordings in files."""
    notes = [
        "Volumes become masks and depths in two ways. nefty's projection: mask and depth to the top of the defects as "
        "the report shows them. The paper's (appendix H.3): depth-averaged deficit above 2 x 1.4826 MAD, and the "
        "median depth of the voxels below the bulk; for a hole that is open to the back, half way to the back face. "
        "Classical methods have masks and depths of their own.",
        "The paper's numbers are of the published recordings. These tables are of the folder named in the settings; if "
        "that was generated, they say nothing about the published recordings.",
    ]
    said = {note for _, o in done for note in o.facts.get("notes", []) if note.startswith("A pixel shows")}
    generated = "as generated.json says" in " ".join(said)
    origin = ["The recordings were generated by nefty's independent simulator."] if generated else []
    return [*notes, *origin, *sorted(said)]


def _figures(suite: Suite, done: Done) -> tuple[list[Section], list[str]]:
    """The figures, and a note for each that could not be drawn: the tables are worth more."""
    from nefty.bench.suites.presentation.figures import suite_figures

    sections, problems = [], []
    for name in suite.figures if done else ():
        try:
            sections += suite_figures(suite, done, name)
        except NeftyError as error:
            problems.append(f"The figure {name!r} could not be drawn: {error}")
    return sections, problems


def _which(suite: Suite, entries: Iterable[Entry]) -> str:
    seeds: dict[str, list[int]] = {}
    for entry in entries:
        seeds.setdefault(f"{suite.sources[entry.data].title}, {entry.task.kind}", []).append(entry.task.seed)
    return "; ".join(f"{where}: {ranges(own)}" for where, own in seeds.items())


def ranges(seeds: Iterable[int]) -> str:
    """``"0-7, 12"``."""
    runs: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if runs and seed == runs[-1][1] + 1:
            runs[-1][1] = seed
        else:
            runs.append([seed, seed])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _place(entry: Entry) -> tuple[str, str, str, int]:
    return entry.row, entry.data, entry.task.kind, entry.task.seed


def _plain(entry: Entry, outcome: Any) -> dict[str, Any]:
    """The numbers of an outcome for the JSON file."""
    name, data, kind, seed = _place(entry)
    where = {"method": name, "data": data, "kind": kind, "seed": seed, "task": outcome.task.key}
    return {**where, "scores": _finite(outcome.scores), "facts": _finite(outcome.facts)}


def _finite(values: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has neither NaN nor infinity."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in values.items()}
