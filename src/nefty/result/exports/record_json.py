"""A result in short as JSON: verdict, indications with units, record of the inspection, what was not inspected."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
from typing import TYPE_CHECKING, Any

from nefty.result.coverage import depth_of_interest, not_inspected
from nefty.result.display_units import in_display_units

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction


def record_json(rec: Reconstruction, table: str) -> str:
    """The text of the file; lengths in mm where the grid is in metres.

    Args:
        rec: the result.
        table: its indications as CSV, whose headings have the units.
    """
    verdict, shown = rec.verdict(), in_display_units(rec)
    interest, left_out, record = depth_of_interest(shown), not_inspected(shown), rec.facts.record
    rows = list(csv.DictReader(io.StringIO(table)))
    content: dict[str, Any] = {
        "recording": rec.facts.origin.name,
        "verdict": {"level": str(verdict.level), "text": verdict.text},
        "indications": [{name: _value(cell) for name, cell in row.items()} for row in rows],
        "record": None if record is None else record.model_dump(mode="json", exclude_defaults=True),
        "not recorded": None if record is None else record.not_recorded(),
        "not inspected": dataclasses.asdict(left_out),
        "depth of interest": None
        if interest is None
        else {**dataclasses.asdict(interest), "long_enough": interest.long_enough},
        "unit of length": shown.unit("length"),
        "provenance": {name: str(value) for name, value in rec.provenance.items()},
    }
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def _value(cell: str) -> float | str | None:
    """A number where it is one; ``None`` for an empty cell."""
    if not cell:
        return None
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell
