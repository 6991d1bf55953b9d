"""Sections of the report that list the indications: where, how large, how deep, how sure."""

from __future__ import annotations

import math

from nefty.core.words import quantity
from nefty.report.figures import DEPTH, AxisUnits, DepthMap, Scale, depth_maps
from nefty.report.figures.depth_bands import MOST, DepthBand, depth_bands
from nefty.report.figures.style import axis_title
from nefty.report.pages import evidence_section, limits_section
from nefty.report.pages.findings import Findings, defect_table
from nefty.report.pages.page import Picture, Section
from nefty.report.pictures.cscan import cscans
from nefty.result.indications.evidence import interval_factors

RATIO = Scale("ice", from_zero=True)
TERMS = (
    "x and y count from the corner of what was reconstructed; rows and columns from 0 at the top left of the frames "
    "as they were read; depths from the front face. Band, interval: see “How deep, and how sure”. {fwhm} Area: of all "
    "pixels with the indication below them. Contrast: missing diffusivity, 1\u00a0−\u00a0α/α₀, against the background "
    "at that depth; 100\u00a0% would be a perfect insulator. ΔT\u00a0=\u00a0mean_d\u00a0−\u00a0mean_s and "
    "SNR\u00a0=\u00a020\u00a0log₁₀(|ΔT|\u00a0/\u00a0σ_s): d are the pixels over the indication, s the sound ones one "
    "to two of its diameters away, σ_s their standard deviation; all in the detection image, which is the measured "
    "frame with the highest SNR, among those used over the indication, at the time t, corrected for the uneven "
    "heating in the model."
)
FWHM_OF_VOLUME = (
    "FWHM: full width at half maximum of the map of missing diffusivity along its longer and shorter axis, – where it "
    "leaves the image."
)
FWHM_OF_SHEETS = "FWHM: longer and shorter axis of the ellipse that has the area and proportions of its pixels."
EVIDENCE = " Evidence: standard deviations by which the frames show it; see “What the frames show”."
RESISTANCE = (
    " R: thermal resistance of its middle, and the thickness of still air or of a polymer film with the same "
    "resistance; – for a hole, for a polymer in a part that conducts no better, and where density and specific heat "
    "are not known. Thickness: – where it is too thin to be measured; R, the resistance, then says more."
)
ENSEMBLE = (
    " Ensemble: standard deviation of depth, diameter and resistance over refits with other noise and other facts; it "
    "has no stated probability."
)
RESISTANCE_OF_CELLS = (
    " R: the integral of 1/α\u00a0−\u00a01/α₀ through its middle{gaps}; – where it reaches the back face."
)
GAPS = ", and how thick still air or a film of polymer would be that has it"
INTERVALS = (
    "Each interval of depth, diameter, resistance and place holds the truth in 90 of 100 indications of such parts, "
    "each for itself."
)
WRONG_FACTS = (
    " It was measured with facts that are off by as much as users typically are: thickness 2 %, diffusivity 10 %, "
    "ratios 20 %, pulse 20 %, and the flash anywhere between two frames."
)
EXACT_FACTS = (
    " It was measured with exact facts, half of the specimens without noise and half with noise of 0.1 % of the peak; "
    "what it holds with more noise was not measured."
)
BAND = (
    "The band has no stated probability. It adds in quadrature the blur of the upper edge (at least half a cell), the "
    "spread of the depth within the core of the indication, and the change of depth that would shift the decay over "
    "it by the noise of one value (or by what the fit leaves unexplained there, if that is more)."
)
WITH_LEVEL = "If the thickness is wrong by more than a few per cent, all depths shift with it, out of their intervals."
WITHOUT_LEVEL = (
    "The bands do not include an error of the given thickness or material: all depths scale with the thickness."
)


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """From the map to the bands of the depths."""
    shown = evidence_section.section(findings, units)
    found = [_map(findings, units), _table(findings, units), *([shown] if shown else [])]
    if findings.defects:
        found.append(how_sure(findings, units))
    return [*found, *limits_section.sections(findings, units), _pictures(findings, units)]


def _map(findings: Findings, units: AxisUnits) -> Section:
    rec, label = findings.rec, axis_title("depth to the top", units.length)
    limits = (0.0, rec.grid.size[0])
    marks = [(str(d.label), (d.centre[1], d.centre[2])) for d in findings.defects]
    maps = [DepthMap("Depth to the top of the indications", rec.depth_map(), DEPTH, label, limits, marks=marks)]
    if findings.truth is not None and findings.truth.defects:
        maps.append(DepthMap("Truth", findings.truth.rec.depth_map(), DEPTH, label, limits))
        beside = "Beside it the truth, in the same colours."
    else:
        maps.append(
            DepthMap(
                "Lowest diffusivity below each pixel",
                findings.ratio.min(axis=0),
                RATIO,
                "share of the background's",
                (0.0, 1.0),
                findings.footprint,
            )
        )
        beside = (
            "Beside it, before any threshold, the lowest diffusivity in the column below each pixel as a share of "
            "the background's; the thin line is the outline of the indications."
        )
    return Section(
        title="Where the indications are",
        shows=(
            "The part seen from the front, as in a C-scan, with the first row of the frames on top. Coloured pixels "
            "have an indication below them, and the colour is the depth at which it begins; grey ones have none. The "
            f"numbers are those of the table. {beside}"
        ),
        figure=depth_maps(maps, rec.grid.size[1:], units),
        good="Few, compact patches with an even depth inside each.",
        bad="Specks all over, or patches along the rim of the image and of the flash: noise or a wrong model of the "
        "heating. A patch whose depth is that of the back face may be the back wall.",
        do="Check each patch against its decay curve and the residual maps below before assessing it.",
    )


def _table(findings: Findings, units: AxisUnits) -> Section:
    table = defect_table(findings, units)
    dz, dy, dx = findings.rec.grid.spacing
    if not table.rows and not findings.rec.verdict().level.judges:
        return Section(
            title="What they measure",
            shows="Nothing is listed, but no conclusion follows from that: the verdict at the top says why.",
            do="Follow the verdict before you draw any conclusion.",
        )
    if not table.rows:
        return Section(
            title="What they measure",
            shows=_nothing(findings),
            good="The depth map is empty and the residual maps hold nothing but noise.",
            bad="A patch in the residual maps that stays over many frames: something is there that the volume lacks.",
            do="State the smallest and deepest defect that this set-up has been shown to find; beyond that, the "
            "absence of defects is not shown.",
        )
    weighed = findings.rec.frame_evidence
    listed = "Every connected region of low diffusivity, the largest first."
    if weighed is not None:
        listed = f"Every region that stands out by {weighed.threshold:.2g} standard deviations, the clearest first."
    shows = f"{listed} These are indications: what they mean for the part is for the inspector to assess."
    if findings.truth is not None:
        shows += " Below each, in italics, what the same rule finds in the truth."
    return Section(
        title="What they measure",
        shows=shows,
        table=table,
        terms=_terms(findings),
        good="Indications of several cells in each direction, with "
        + ("a high contrast and a high SNR." if weighed is None else "evidence far above the threshold."),
        bad=f"A size near that of one cell ({dx:.2g} × {dy:.2g} × {quantity(dz, units.length, digits=2)}), "
        + ("a low contrast, or an SNR below 6 dB" if weighed is None else f"or evidence near {weighed.threshold:.2g}")
        + ": close to what this recording can resolve. Thickness is the least certain "
        "number, because what is below the upper side lies in its shadow.",
        do="Report depth to the top and lateral size with their intervals; treat thickness and contrast as estimates.",
    )


def _nothing(findings: Findings) -> str:
    """Why the table is empty."""
    shown = findings.rec.frame_evidence
    if shown is None:
        return (
            "No connected region of the volume has a clearly lower diffusivity than the background at its depth, so "
            "there is nothing to list."
        )
    return (
        f"Nothing stands out by {shown.threshold:.2g} standard deviations or more from what the frames show at sound "
        "places, so there is nothing to list."
    )


def _terms(findings: Findings) -> str:
    """What the columns mean, in small print."""
    shown = findings.rec.frame_evidence
    sheets = shown is not None and shown.of_sheets
    text = TERMS.format(fwhm=FWHM_OF_SHEETS if sheets else FWHM_OF_VOLUME)
    if sheets:
        text += EVIDENCE + RESISTANCE
    elif shown is not None:
        gaps = any(math.isfinite(d.gap_air) for d in findings.defects)
        known = any(math.isfinite(d.resistance) for d in findings.defects)
        text += EVIDENCE + RESISTANCE_OF_CELLS.format(gaps=GAPS * gaps) * known
    return text + ENSEMBLE * (findings.rec.ensemble is not None)


def how_sure(findings: Findings, units: AxisUnits) -> Section:
    """The depth of each indication in its interval, or in its band where none was measured."""
    truth = {found.label: true.depth_to_top for found, true in findings.pairs if found and true}
    bands = [
        DepthBand(
            str(d.label),
            d.depth_to_top,
            findings.evidence[d.label].depth_low,
            findings.evidence[d.label].depth_high,
            d.thickness,
            truth.get(d.label),
        )
        for d in findings.defects
    ]
    bars = "; the pale bar is the thickness" if any(math.isfinite(band.thickness) for band in bands) else ""
    many = f" The first {MOST} are shown." if len(bands) > MOST else ""
    return Section(
        title="How deep, and how sure",
        shows=(
            f"Depth to the top of each indication with its {_word(findings)}, front face on top{bars}. "
            f"{_how_sure(findings)}{many}"
        ),
        figure=depth_bands(bands, findings.rec.grid.size[0], units),
        good="Bands that are short against the distances between indications, and clear of the back face.",
        bad="A band from face to face: the decay over that indication hardly depends on its depth.",
        do=f"Report depths with their {_word(findings)}s. {WITH_LEVEL if _measured(findings) else WITHOUT_LEVEL}",
    )


def _measured(findings: Findings) -> bool:
    """Whether intervals with a measured level are known."""
    return any(math.isfinite(e.level) for e in findings.evidence.values())


def _word(findings: Findings) -> str:
    return "90 % interval" if _measured(findings) else "band"


def _how_sure(findings: Findings) -> str:
    """Where the intervals come from, or what the bands are and why there are no intervals."""
    factors, why = interval_factors(findings.rec, findings.rec.segmentation())
    if factors is None:
        return f"{BAND} {why}"
    return f"{why} {INTERVALS}{EXACT_FACTS if factors.unitless else WRONG_FACTS}"


def _pictures(findings: Findings, units: AxisUnits) -> Section:
    pictures = cscans(findings, units)
    return Section(
        title="C-scan pictures",
        shows="The same as pictures for other documents; the files lie beside this page when it is part of a run. "
        + " ".join(f"{scan.name}: {scan.shows}." for scan in pictures),
        pictures=[Picture(scan.name, scan.shows, scan.png) for scan in pictures],
        good="The contrast, which is measured, and the missing diffusivity, which is computed from it, show the "
        "same places.",
        bad="An indication where the contrast shows nothing, or a patch of contrast without an indication.",
        do="Look at the residual maps there before assessing it.",
    )
