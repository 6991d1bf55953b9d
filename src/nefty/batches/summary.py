"""A batch in short: a page, tables for spreadsheets, and JSON with all of it."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from nefty import __version__
from nefty.batches.outcome import Found, Outcome
from nefty.batches.page import batch_page, seen_words
from nefty.core.storage.files import write_atomic
from nefty.core.words import SPACE
from nefty.report.run_files import REPORT
from nefty.result.exports.export import plain_cell

PAGE, TABLE, INDICATIONS, ALL = "summary.html", "summary.csv", "indications.csv", "summary.json"
FILES = {
    PAGE: "open it in a browser",
    TABLE: "a line for each recording",
    INDICATIONS: "a line for each indication",
    ALL: "all of it, for programs",
}
COLUMNS = (
    *("recording", "part", "serial", "verdict", "indications", "shallowest", "deepest", "unit of length"),
    *(
        "would have been seen",
        "plain defect stands out by (standard errors)",
        "misfit",
        "threshold (standard deviations)",
    ),
    *("seconds", "why there is no result", "report"),
)


def write_summary(folder: Path, outcomes: Sequence[Outcome], waiting: Sequence[str] = ()) -> None:
    """Write the page, the tables and the JSON.

    Args:
        folder: of the batch.
        outcomes: of the recordings that are settled.
        waiting: names of those that are not.
    """
    write_atomic(folder / TABLE, _table(COLUMNS, map(_row, outcomes)))
    heads = ("recording", *(f.name for f in fields(Found)), "unit of length")
    write_atomic(folder / INDICATIONS, _table(heads, _indication_rows(outcomes)))
    content = {
        "nefty": __version__,
        "recordings": [{**one.as_dict(), "report": report_of(one) or None} for one in outcomes],
        "waiting": list(waiting),
    }
    write_atomic(folder / ALL, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_atomic(folder / PAGE, batch_page(outcomes, waiting, {one.name: report_of(one) for one in outcomes}).render())


def report_of(outcome: Outcome) -> str:
    """Path of the report from the folder of the batch; empty if there is none."""
    return "" if outcome.reason else f"runs/{outcome.name}/{REPORT}"


def _row(one: Outcome) -> list[Any]:
    depths = [found.depth for found in one.indications]
    number = "" if one.reason else len(depths)
    ends = [min(depths), max(depths)] if depths else ["", ""]
    measures = [one.visible, one.misfit, one.threshold]
    return [
        *(one.name, one.part, one.serial, one.level, number, *ends, one.unit if depths else ""),
        *(seen_words(one).replace(SPACE, " "), *measures),
        *(round(one.seconds, 3), one.reason, report_of(one)),
    ]


def _indication_rows(outcomes: Iterable[Outcome]) -> Iterable[list[Any]]:
    for one in outcomes:
        for found in one.indications:
            yield [one.name, *(getattr(found, f.name) for f in fields(Found)), one.unit]


def _table(heads: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(heads)
    lines.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.9g}"
    return plain_cell(value) if isinstance(value, str) else str(value)
