"""Sections of the report for the record: who inspected what, what is not recorded, and the reference specimen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from nefty.core.errors import NeftyError
from nefty.core.words import counted, quantity, span
from nefty.data.record.record import InspectionRecord
from nefty.report.figures.style import AxisUnits
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section, Table
from nefty.result.coverage import DepthOfInterest, depth_of_interest, not_inspected
from nefty.result.display_units import in_display_units
from nefty.result.reconstruction import Reconstruction
from nefty.result.reference_defect import reference_visibility

NOTHING = "–"
Value = tuple[str, float | None]  # in words, and the number behind it


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """The record, for parts in real units or where there is one; and the reference's run, where one is named."""
    rec = findings.rec
    record = rec.facts.record
    if record is None and (rec.facts.simulated or rec.facts.units.metres is None):
        return []
    found = [_recorded(rec, record or InspectionRecord(), units)]
    if record is not None and record.reference_run:
        found.append(_beside_reference(rec, record, units))
    return found


def _recorded(rec: Reconstruction, record: InspectionRecord, units: AxisUnits) -> Section:
    interest = depth_of_interest(rec)
    absent = ", ".join(record.not_recorded())
    shown = {name: text for name, text in record.recorded().items() if name not in ("not inspected", "reference run")}
    rows = [
        *shown.items(),
        ("not recorded", absent or "nothing is missing"),
        ("not inspected", _left_out(rec, units)),
        *([] if interest is None else [("long enough?", _long_enough(interest, units))]),
    ]
    return Section(
        title="Record of the inspection",
        shows="Who inspected what, when and how, as recorded; what is not recorded; which part of the picture was not "
        "used; and whether the recording was long enough for heat to return from the depth of interest. Nothing here "
        "changes a number. The assessment of the part is the inspector's.",
        table=Table(("", ""), rows),
        good="All that the procedure asks for is recorded, nothing that matters was left out, and the recording was "
        "long enough.",
        bad="“not recorded” holds something that the procedure asks for; a place that matters was not used; the "
        "recording ended too early.",
        do="Fill in inspection.toml and run the same command again: the volume stays, the report is rewritten. "
        "Record longer where it was too short.",
    )


def _left_out(rec: Reconstruction, units: AxisUnits) -> str:
    found = not_inspected(rec)
    area = quantity(found.area, f"{units.length}²") if rec.unit("length") else ""
    much = (
        f"{100 * found.share:.2g} % of the pixels{f', {area}' if area else ''}."
        if found.share
        else "All pixels of the reconstructed region were used."
    )
    return " ".join([much, *found.why])


def _long_enough(interest: DepthOfInterest, units: AxisUnits) -> str:
    whose = "as recorded" if interest.recorded else "the thickness; no depth of interest is recorded"
    depth, ends = quantity(interest.depth, units.length), quantity(interest.ends, units.time)
    text = (
        f"Heat comes back from {depth} ({whose}) after {quantity(interest.needed, units.time)}; the last frame is at "
        f"{ends}: "
    )
    deepest = quantity(interest.deepest, units.length)
    text += (
        "long enough." if interest.long_enough else f"too short. Nothing is said of what lies deeper than {deepest}."
    )
    if interest.shallowest > 0:
        text += f" Nothing is said of what lies above {quantity(interest.shallowest, units.length)}."
    return text


def _beside_reference(rec: Reconstruction, record: InspectionRecord, units: AxisUnits) -> Section:
    title = "Beside the reference specimen"
    try:
        other = in_display_units(Reconstruction.load(Path(record.reference_run)))
    except (NeftyError, OSError) as error:
        text = f"The run {record.reference_run} that the record names cannot be read, so nothing is compared: {error}"
        return Section(title=title, shows=text, do="Name the folder of a finished run in inspection.toml.")
    rows = [_row(name, mine, its) for name, mine, its in _compared(rec, other, units)]
    return Section(
        title=title,
        shows=f"This run and the one of the reference specimen ({record.reference_specimen or 'not named'}, "
        f"{record.reference_run}). The reference shows what this camera and this flash find where defects are known.",
        table=Table(("", "this run", "reference", "ratio"), rows),
        good="Noise, strength of the heating and calibrated diffusivity are like those of the reference, and its "
        "indications are the defects that it has.",
        bad="More noise or less heat than on the reference: defects that were found there may be missed here. Another "
        "diffusivity: another material, or a wrong thickness.",
        do="Set up camera, distance and lamps as for the reference, and record again.",
    )


def _compared(rec: Reconstruction, other: Reconstruction, units: AxisUnits) -> list[tuple[str, Value, Value]]:
    """Names, and of each run a text and the number behind it."""
    measures: dict[str, Callable[[Reconstruction], Value]] = {
        "recorded on": _date,
        "frames": lambda r: (str(len(r.times)), float(len(r.times))),
        "last frame": lambda r: (quantity(float(r.times[-1]), units.time), float(r.times[-1])),
        "noise of a value": lambda r: _noise(r, units),
        "plain defect stands out by (σ)": _visible,
        "misfit": lambda r: (NOTHING if r.misfit is None else f"{r.misfit:.3g}", r.misfit),
        "diffusivity": lambda r: (quantity(_alpha(r), units.diffusivity), _alpha(r)),
        "verdict": lambda r: (str(r.verdict().level), None),
        "indications": lambda r: (_indications(r, units), None),
    }
    return [(name, measure(rec), measure(other)) for name, measure in measures.items()]


def _row(name: str, mine: Value, its: Value) -> tuple[str, str, str, str]:
    ratio = f"{mine[1] / its[1]:.3g}" if mine[1] is not None and its[1] else ""
    return name, mine[0], its[0], ratio


def _date(rec: Reconstruction) -> Value:
    return (rec.facts.record.date if rec.facts.record is not None else "") or NOTHING, None


def _noise(rec: Reconstruction, units: AxisUnits) -> Value:
    noise = rec.noise_of_frames
    if noise is None:
        return NOTHING, None
    return span(float(noise.min()), float(noise.max()), rec.unit("temperature") or units.temperature), float(
        noise.max()
    )


def _visible(rec: Reconstruction) -> Value:
    seen = reference_visibility(rec)
    return (NOTHING, None) if seen is None else (f"{seen:.3g}", seen)


def _alpha(rec: Reconstruction) -> float:
    return float(np.exp(np.mean(np.log(rec.background))))


def _indications(rec: Reconstruction, units: AxisUnits) -> str:
    found = rec.indications()
    depths = ", ".join(f"{one.depth_to_top:.3g}" for one in found[:12]) + (", ..." if len(found) > 12 else "")
    known = rec.facts.defects.holes if rec.facts.defects is not None else None
    has = "" if known is None else f"; {counted(len(known), 'defect')} known to be there"
    return (f"{len(found)}, at depths of {depths} {units.length}" if found else "none") + has
