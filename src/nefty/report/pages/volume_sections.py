"""Sections of the report that show the inside of the part."""

from __future__ import annotations

import math

import numpy as np

from nefty.core.words import quantity
from nefty.report.figures import (
    DIFFUSIVITY,
    AxisUnits,
    Body,
    Cut,
    Scale,
    Stack,
    cut_rows,
    defect_surfaces,
    depth_profile,
    depth_stretch,
    stack_slider,
)
from nefty.report.figures.images import most_images
from nefty.report.figures.style import axis_title
from nefty.report.pages import ensemble_section
from nefty.report.pages.ensemble_section import smaller
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Section
from nefty.result.indications.indication import Indication

RATIO = Scale("ice", from_zero=True)
SOLID, VEIL = 0.4, 0.05  # probabilities; a sheet between two layers of cells has half of it in each
VEILED = (
    f"Solid, coloured by depth: cells that are anomalous with a probability of {SOLID:g} or more, by the ensemble of "
    f"refits. The translucent surface around it encloses those with {VEIL:g} or more: there the result is not sure."
)


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """From the whole to the detail."""
    found = []
    unsure = findings.rec.probability is not None and bool((findings.rec.probability >= VEIL).any())
    if unsure or findings.mask.any() or (findings.truth is not None and findings.truth.mask.any()):
        found.append(_surfaces(findings, units))
    found.append(_slices(findings, units))
    if (sure := ensemble_section.section(findings, units)) is not None:
        found.append(sure)
    if findings.defects:
        found.append(_cuts(findings, units))
    return [*found, _background(findings, units)]


def _surfaces(findings: Findings, units: AxisUnits) -> Section:
    size = findings.rec.grid.size
    stretch = depth_stretch(size)
    truth, probability = findings.truth, findings.rec.probability
    solid, veil = bodies(findings)
    figure = defect_surfaces(
        solid,
        size,
        units,
        veil=veil,
        truth=None if truth is None else _body(truth),
        labels=[(str(d.label), d.centre) for d in findings.defects],
    )
    stretched = (
        f"Depth is drawn {stretch:g} times too large, so that the inside of a thin part can be seen. "
        if stretch > 1
        else ""
    )
    return Section(
        title="The indications in 3D",
        shows=(
            f"The part as a translucent block, front face on top. {stretched}Drag to turn it, scroll to zoom. "
            + ("The surfaces enclose the indications, coloured by depth." if probability is None else VEILED)
            + (" Dark rings are the true defects, one ring per layer of cells." if truth is not None else "")
        ),
        figure=figure,
        good="Closed, flat bodies that lie inside the part.",
        bad="Columns that hang down to the back face: the thermal shadow of what lies above, not a defect of that "
        "height. Thin plates at the front face: paint, emissivity or an uneven flash.",
        do="Trust the upper side of a body more than its lower side; look at the cut of any body that touches a face.",
    )


def _body(findings: Findings) -> Body:
    return Body(findings.ratio, findings.mask)


def bodies(findings: Findings) -> tuple[Body, Body | None]:
    """What is drawn solid, and as a veil: the indications, or, with an ensemble, what is likely and what may be."""
    probability = findings.rec.probability
    return (_body(findings), None) if probability is None else (_likely(probability, SOLID), _likely(probability, VEIL))


def _likely(probability: np.ndarray, least: float) -> Body:
    """Cells (z, y, x) that are anomalous with that probability at least."""
    return Body(1 - probability, probability >= least, 1 - least)


def _slices(findings: Findings, units: AxisUnits) -> Section:
    rec, truth = findings.rec, findings.truth
    label = axis_title("diffusivity", units.diffusivity)
    layers = np.arange(0, rec.grid.shape[0], -(-rec.grid.shape[0] // most_images(rec.grid.shape[1:])))
    limits = _diffusivity_limits(findings)
    outline = findings.footprint if findings.footprint.any() else None
    stacks = [Stack("Reconstruction", smaller(rec.alpha[layers]), DIFFUSIVITY, label, None, limits)]
    if truth is not None:
        stacks.append(Stack("Truth", smaller(truth.rec.alpha[layers]), DIFFUSIVITY, label, None, limits))
        beside = "The first panel is the reconstruction, the second the truth, in the same colours."
    else:
        ratio = smaller(findings.ratio[layers])
        stacks.append(Stack("Share of the background's", ratio, RATIO, "α / α₀", outline, (0.0, 1.3)))
        beside = (
            "The first panel is the diffusivity, the second its share of the background's at that depth, with the "
            "outline of all indications."
        )
    busiest = int(findings.mask[layers].sum(axis=(1, 2)).argmax())
    depths = (layers + 0.5) * rec.grid.spacing[0]
    return Section(
        title="Slice by slice",
        shows=f"Diffusivity at one depth, seen from the front; dark is low. Move the slider to go deeper. {beside}",
        figure=stack_slider(
            stacks,
            [f"{z:.3g}" for z in depths],
            axis_title("depth", units.length),
            rec.grid.size[1:],
            units,
            start=busiest,
        ),
        good="An even background, and indications that appear at one depth and vanish at another with sharp edges.",
        bad="A dark or bright haze below a defect down to the back face, bright rims around it, or ripples everywhere: "
        "the recording does not determine those cells, and the regularisation filled them in.",
        do="Read positions and outlines here, but not the exact diffusivity inside a defect: once it blocks the heat, "
        "a lower value changes the recording little.",
    )


def _cuts(findings: Findings, units: AxisUnits) -> Section:
    rec, truth = findings.rec, findings.truth
    dy, rows = rec.grid.spacing[1], rec.grid.shape[1]
    cuts = []
    for defect in findings.defects[:4]:
        y = min(int(defect.centre[1] / dy), rows - 1)
        cuts.append(
            Cut(
                f"Indication {defect.label}: cut at y = {quantity(defect.centre[1], units.length)}",
                rec.alpha[:, y],
                None if truth is None else truth.rec.alpha[:, y],
                (findings.mask[:, y], None if truth is None else truth.mask[:, y]),
            )
        )
    size = (rec.grid.size[0], rec.grid.size[2])
    many = " For the four largest indications." if len(findings.defects) > 4 else ""
    return Section(
        title="Cut through the indications",
        shows=(
            "The part opened along x through the centre of each indication, as in a B-scan: front face on top, depth "
            f"stretched, dark is low diffusivity. The thin line encloses the indication.{many}"
        ),
        figure=cut_rows(
            cuts,
            size,
            DIFFUSIVITY,
            axis_title("diffusivity", units.diffusivity),
            units,
            limits=_diffusivity_limits(findings),
        ),
        good="A dark body with a clear upper edge, and the layers of the part undisturbed beside it.",
        bad="A body without a lower edge, or a second, fainter one below it: shadow.",
        do="Measure the depth at the upper edge.",
    )


def _bottom(defect: Indication, thickness: float) -> float:
    """Depth of its lower side, within the part; that of its top where its thickness is not known."""
    own = defect.thickness if math.isfinite(defect.thickness) else 0.0
    return min(defect.depth_to_top + own, thickness)


def _background(findings: Findings, units: AxisUnits) -> Section:
    rec, truth = findings.rec, findings.truth
    spans = [(f"indication {d.label}", d.depth_to_top, _bottom(d, rec.grid.size[0])) for d in findings.defects[:6]]
    return Section(
        title="The background",
        shows=(
            "Diffusivity against depth, from the front face on the left to the back face on the right. The solid line "
            "is the background calibrated on the recording before indications were sought; the band is what the "
            "reconstruction holds beside the indications. The brackets show which depths the indications occupy."
        ),
        figure=depth_profile(
            np.asarray(rec.background, dtype=np.float64),
            rec.grid.size[0],
            units,
            sound=rec.alpha[:, ~findings.footprint] if not findings.footprint.all() else None,
            truth=None if truth is None else truth.rec.background,
            spans=spans,
        ),
        good="The band is narrow and lies on the line, and the line agrees with what is known of the material.",
        bad="A band that leaves the line with depth, or a value that the material cannot have: thickness, pulse or "
        "heat loss are wrong, and every depth scales with the square root of the error.",
        do="Compare with the material's data sheet; if they differ, give the known diffusivity or thickness and run "
        "again.",
    )


def _diffusivity_limits(findings: Findings) -> tuple[float, float]:
    """From zero to a little above the background; outliers saturate instead of paling everything else."""
    top = [float(np.max(findings.rec.background))]
    if findings.truth is not None:
        top.append(float(np.max(findings.truth.rec.background)))
    return 0.0, 1.15 * max(top)
