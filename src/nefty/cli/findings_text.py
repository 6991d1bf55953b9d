"""A reconstruction in words and a table, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nefty.core.terminal_text import filled, table
from nefty.core.words import counted

if TYPE_CHECKING:
    from nefty.report.pages.findings import Findings
    from nefty.result.reconstruction import Reconstruction


def describe(rec: Reconstruction) -> str:
    """What was found, whether to believe it, and the table of indications; millimetres where the grid is in metres."""
    from nefty.report.figures.style import units_of
    from nefty.report.pages.findings import Findings, defect_table, headline
    from nefty.result.display_units import in_display_units

    rec = in_display_units(rec)
    findings, units = Findings(rec), units_of(rec)
    parts = [filled(f"{headline(findings, units)}. {rec.verdict().text}")]
    if rec.close_up is not None:
        parts.append(filled(rec.close_up.sentence(units.length)))
    parts += [filled(f"Note: {note.text}") for note in rec.facts.notes]
    if findings.pairs:
        found = defect_table(findings, units)
        parts.append(table(found.columns, [tuple(row) for row in found.rows]))
    if missed := just_missed(rec):
        parts.append(filled(missed))
    return "\n\n".join(parts).replace("\u00a0", " ")


def just_missed(rec: Reconstruction) -> str:
    """``"Two regions just missed (largest score 4.9, threshold 5.2)."``; empty if none did."""
    shown = rec.frame_evidence
    if shown is None or not shown.just_missed:
        return ""
    missed, largest = counted(len(shown.just_missed), "region"), shown.regions[shown.just_missed[0] - 1].score
    return f"{missed.capitalize()} just missed (largest score {largest:.3g}, threshold {shown.threshold:.3g})."


def against_truth(findings: Findings) -> str:
    """How many of the true defects were found, and how far their depths are off."""
    from nefty.result.display_units import display_units

    pairs = [(found, true) for found, true in findings.pairs if found is not None and true is not None]
    missed = sum(found is None for found, _ in findings.pairs)
    invented = sum(true is None for _, true in findings.pairs)
    text = f"Against the truth: {len(pairs)} of {len(pairs) + missed} true defects found, {invented or 'none'} that "
    text += "are not there." if invented > 1 else "is not there."
    if pairs:
        length = display_units(findings.rec.facts.units).length
        errors = [length(found.depth_to_top - true.depth_to_top) for found, true in pairs]
        shown = ", ".join(f"{error:+.3f}" for error in errors) + f" {length.word}".rstrip()
        worst = 100 * max(map(abs, errors)) / length(findings.rec.grid.size[0])
        text += f" Errors of the depth to the top: {shown}; at most {worst:.1f} % of the thickness."
    return filled(text)
