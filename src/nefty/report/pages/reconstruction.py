"""The report of a reconstruction: what is inside the part, how sure that is, and where it comes from."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from nefty.core.storage.files import write_atomic
from nefty.core.words import counted, duration, outlined, quantity, span, times
from nefty.data.facts_file import plain_facts
from nefty.data.preparation.binning import cost_of_joining
from nefty.metrics.score import Score
from nefty.metrics.volume import mask_iou
from nefty.report.figures.convergence import running
from nefty.report.figures.style import AxisUnits, units_of
from nefty.report.pages import (
    fit_sections,
    indication_sections,
    measurement_sections,
    record_sections,
    volume_sections,
)
from nefty.report.pages.findings import Findings, depth_interval, headline
from nefty.report.pages.page import Fact, Notice, Page
from nefty.result.display_units import in_display_units
from nefty.result.reconstruction import Reconstruction

TITLES = {
    "explained": "The fit: as good as the noise allows",
    "partly": "The fit: good, with exceptions",
    "unexplained": "The fit: not good enough to rely on depths and sizes yet",
    "overfitted": "The fit: too close, some structure may be noise",
    "unknown": "The fit: no noise floor to compare with",
    "unfinished": "Not finished: nothing is claimed yet",
    "too noisy": "Too noisy to judge",
    "not inspected": "Most of the part was not inspected",
}


def reconstruction_page(rec: Reconstruction, score: Score | None = None) -> Page:
    """Build the report, in millimetres where the grid is in metres.

    Args:
        rec: what was reconstructed; the truth is shown beside it where known.
        score: against the truth; the overlap of the defects is computed if it is not given.
    """
    given, rec = rec, in_display_units(rec)
    findings, units = Findings(rec), units_of(rec)
    verdict = rec.verdict()
    return Page(
        title=headline(findings, units),
        lead=_lead(findings, units),
        notice=Notice(
            TITLES.get(verdict.level, "The fit"),
            verdict.text,
            "calm" if verdict.level in ("explained", "unknown") else "caution",
        ),
        facts=_facts(findings, units, score),
        sections=[
            section
            for part in (indication_sections, volume_sections, fit_sections, measurement_sections, record_sections)
            for section in part.sections(findings, units)
        ],
        provenance={name: str(value) for name, value in rec.provenance.items()},
        details=_details(given),
    )


def write_report(rec: Reconstruction, path: str | os.PathLike[str], score: Score | None = None) -> Path:
    """Write the report as one HTML file that needs no network; it is there whole or not at all."""
    return write_atomic(path, reconstruction_page(rec, score).render())


def _lead(findings: Findings, units: AxisUnits) -> str:
    rec = findings.rec
    z, y, x = rec.grid.shape
    depth, height, width = rec.grid.size
    faces = "its front and back face" if len(findings.faces) == 2 else "one face"
    recipe = rec.recipe.get("name")
    source = rec.facts.origin.name
    part = f"a part ({source})" if source else "a part"
    size = times(f"{width:.3g}", f"{height:.3g}", quantity(depth, units.length))
    cells = times(x, y, z)
    first, last = (quantity(float(rec.times[i]), units.time) for i in (0, -1))
    near = "" if rec.close_up is None else f"{rec.close_up.sentence(units.length)} "
    return (
        f"{near}Thermal diffusivity inside {part} of {size}, on {cells} cells (x, y, z), recovered from "
        f"{counted(len(rec.times), 'frame')} of {faces} "
        f"between {first} and {last} after the flash"
        + (f", with the recipe “{recipe}”." if isinstance(recipe, str) else ".")
        + (f" It ended: {rec.stopped.text.rstrip('. ')}." if rec.stopped.text else "")
        + _joined(findings, units)
    )


def _joined(findings: Findings, units: AxisUnits) -> str:
    """What was lost where pixels of the camera were joined."""
    n = findings.rec.facts.window.bin
    return f" {cost_of_joining(n, max(findings.rec.grid.spacing[1:]), units.length)}" if n > 1 else ""


def _total(counter: np.ndarray) -> float:
    return float(running(np.asarray(counter, dtype=np.float64))[-1])


def _facts(findings: Findings, units: AxisUnits, score: Score | None) -> list[Fact]:
    rec, defects = findings.rec, findings.defects
    facts = [_count_fact(findings, units)]
    if defects:
        first, last = (pick(defects, key=lambda d: d.depth_to_top) for pick in (min, max))
        one = len(defects) == 1
        facts.append(
            Fact(
                "Depth to the top",
                quantity(first.depth_to_top, units.length)
                if one
                else span(first.depth_to_top, last.depth_to_top, units.length),
                f"{depth_interval(findings, units)}, of a thickness of {quantity(rec.grid.size[0], units.length)}"
                if one
                else f"shallowest: indication {first.label}; deepest: indication {last.label}",
            )
        )
    facts.append(_misfit_fact(findings, units))
    background = np.asarray(rec.background)
    facts.append(
        Fact(
            "Bulk diffusivity",
            span(float(background.min()), float(background.max()), units.diffusivity),
            "calibrated on sound pixels" + ("; differs with depth" if np.ptp(background) > 0 else ""),
        )
    )
    seconds, evaluations = (rec.history.get(name) for name in ("seconds", "evaluations"))
    if seconds is not None and len(seconds):
        note = f"{_total(evaluations):.0f} evaluations of the model" if evaluations is not None else ""
        facts.append(Fact("Wall time", duration(_total(seconds)), note))
    return facts + _truth_facts(findings, score)


def _count_fact(findings: Findings, units: AxisUnits) -> Fact:
    defects = findings.defects
    if not defects:
        judged = findings.rec.verdict().level.judges
        weighed = findings.rec.frame_evidence is not None
        why = "nothing stands out in the frames" if weighed else "no region of low diffusivity stands out"
        return Fact("Indications", "none" if judged else "–", why if judged else "")
    largest = max(defects, key=lambda d: d.area)
    return Fact(
        "Indications",
        str(len(defects)),
        f"widest: indication {largest.label}, ⌀ {quantity(largest.diameter, units.length)}",
    )


def _misfit_fact(findings: Findings, units: AxisUnits) -> Fact:
    rec = findings.rec
    if rec.misfit is None:
        why = "the recording has no noise" if rec.noise is not None else "the noise is not known"
        return Fact("Residual", quantity(rec.rmse, units.temperature), f"root mean square; {why}")
    noise = findings.noise_words(units.temperature)
    return Fact("Misfit", f"{rec.misfit:.3g}", f"mean squared residual over noise²; the noise floor is 1 (σ = {noise})")


def _truth_facts(findings: Findings, score: Score | None) -> list[Fact]:
    if score is not None:
        return [Fact("Against the truth", f"IoU {score.iou:.2f}", f"PSNR {score.psnr:.3g} dB, SSIM {score.ssim:.2f}")]
    if findings.truth is None:
        return []
    if not findings.defects and not findings.truth.defects:
        return [Fact("Against the truth", "agrees", "there is no defect in the truth either")]
    overlap = mask_iou(findings.mask, findings.truth.mask)
    return [
        Fact(
            "Against the truth", f"IoU {overlap:.2f}", "shared volume of indications and true defects over their union"
        )
    ]


def _details(rec: Reconstruction) -> dict[str, str]:
    effort = {name: value for name, value in vars(rec.effort).items() if value}
    about = plain_facts(rec.facts)
    found = {"Recipe, as resolved": rec.recipe, "What it cost": effort, "What is known of the recording": about}
    return {title: outlined(values) for title, values in found.items() if values}
