"""The section of the report that shows what the frames show, before anything is called an indication."""

from __future__ import annotations

import math

import numpy as np

from nefty.core.words import decimals
from nefty.report.figures import AxisUnits, DepthMap, Scale, depth_maps
from nefty.report.pages.findings import NOTHING, Findings
from nefty.report.pages.page import Section, Table
from nefty.result.frame_evidence import FrameEvidence

SCORE = Scale("Viridis", from_zero=True)
#: The colours end at this multiple of the threshold, so that what is near it can be told apart.
BRIGHTEST = 2.0


def section(findings: Findings, units: AxisUnits) -> Section | None:
    """Scores of the pixels and of the regions, and what just missed; ``None`` if no evidence was weighed."""
    shown = findings.rec.frame_evidence
    if shown is None:
        return None
    limits = (0.0, BRIGHTEST * shown.threshold)
    label = "standard deviations"
    maps = [
        DepthMap(
            "Largest score at each pixel", shown.score_map, SCORE, label, limits, shown.score_map >= shown.threshold
        ),
        DepthMap(
            "Score of each region", _of_regions(shown), SCORE, label, limits, _called(shown), _marks(findings, shown)
        ),
    ]
    missed = _missed_table(findings, shown, units)
    return Section(
        title="What the frames show",
        shows=(
            "How clearly the frames show something under each pixel, in standard deviations of what they show at sound "
            "places of this recording. Left: the best of the discs that are tried at each pixel; the line is the "
            f"threshold of {shown.threshold:.2g}. A strong defect brightens everything within reach of such a disc. "
            "Right: regions, each with all others accounted for; those with an outline and a number are indications, "
            f"a number with a dot is the score of a region just below the threshold. Colours end at {BRIGHTEST:g} "
            f"times the threshold. A sound part would show {shown.false_calls:g} indications on average."
            + (" The table lists what just missed." if missed else " Nothing just missed.")
        ),
        figure=depth_maps(maps, findings.rec.grid.size[1:], units),
        table=missed,
        good="A dark map with few bright, compact places, and nothing between dark and bright.",
        bad="Stripes, rims or many places near the threshold: the heating, the edges or the camera show, not the part.",
        do="Look at the decay over what just missed. Record it again, with more heat or more frames, if it matters; or "
        "accept more false calls with --false-calls.",
    )


def _of_regions(shown: FrameEvidence) -> np.ndarray:
    """Score of the region under each pixel, (y, x); the clearest on top, NaN where there is none."""
    image = np.full(shown.score_map.shape, np.nan)
    for number in (*reversed(shown.just_missed), *reversed(shown.called)):
        image[shown.footprint(number)] = shown.regions[number - 1].score
    return image


def _called(shown: FrameEvidence) -> np.ndarray:
    """Pixels (y, x) of regions that are called."""
    return np.any([np.zeros(shown.score_map.shape, dtype=bool), *map(shown.footprint, shown.called)], axis=0)


def _marks(findings: Findings, shown: FrameEvidence) -> list[tuple[str, tuple[float, float]]]:
    """Numbers of the indications, and scores of what just missed."""
    found = [(str(d.label), (d.centre[1], d.centre[2])) for d in findings.defects]
    missed = [(f"{shown.regions[n - 1].score:.1f}", _place(findings, shown, n)) for n in shown.just_missed]
    return found + missed


def _place(findings: Findings, shown: FrameEvidence, number: int) -> tuple[float, float]:
    """Middle (y, x) of a region."""
    (y, x), (_, dy, dx) = np.argwhere(shown.footprint(number)).mean(axis=0), findings.rec.grid.spacing
    return float((y + 0.5) * dy), float((x + 0.5) * dx)


def _missed_table(findings: Findings, shown: FrameEvidence, units: AxisUnits) -> Table | None:
    if not shown.just_missed:
        return None
    length = f" ({units.length})" if units.length else ""
    columns = ("just missed", f"centre x, y{length}", "pixel row, column", f"depth{length}", "score", "threshold")
    deep, wide = decimals(findings.rec.grid.spacing[0]), decimals(min(findings.rec.grid.spacing[1:]))
    rows = []
    for name, number in enumerate(shown.just_missed, 1):
        region, (y, x) = shown.regions[number - 1], _place(findings, shown, number)
        row, column = findings.pixels.pixel(y, x)
        depth = f"{region.depth:.{deep}f}" if math.isfinite(region.depth) else NOTHING
        place = f"{x:.{wide}f}, {y:.{wide}f}"
        rows.append((str(name), place, f"{row}, {column}", depth, f"{region.score:.2f}", f"{shown.threshold:.2f}"))
    return Table(columns, rows, one_line=True)
