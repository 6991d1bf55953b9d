"""The section of the report that says what would have been seen, had it been there."""

from __future__ import annotations

import numpy as np

from nefty.core.words import quantity
from nefty.report.figures import AxisUnits, DepthMap, Scale, depth_maps
from nefty.report.figures.limits import limit_curves
from nefty.report.figures.style import axis_title
from nefty.report.pages.findings import NOTHING, Findings
from nefty.report.pages.page import Section, Table
from nefty.result.limits import Limits

WIDTH = Scale("Viridis", from_zero=True)


def sections(findings: Findings, units: AxisUnits) -> list[Section]:
    """A curve and a table over depth, and maps over the frame; nothing where it was not worked out."""
    limits = limits_of(findings)
    return [] if limits is None else [curves(findings, limits, units), _maps(findings, limits, units)]


def limits_of(findings: Findings) -> Limits | None:
    """What would have been seen, if that was worked out."""
    shown = findings.rec.frame_evidence
    return None if shown is None or shown.limits is None or not len(shown.limits.depths) else shown.limits


def limit_maps(limits: Limits, units: AxisUnits) -> list[DepthMap]:
    """The smallest diameter at every place, at the shallowest, a middle and the deepest depth."""
    label = axis_title("smallest diameter", units.length)
    chosen = sorted({0, len(limits.depths) // 2, len(limits.depths) - 1})
    return [
        DepthMap(f"{quantity(limits.depths[k], units.length)} deep", limits.maps[0, k], WIDTH, label) for k in chosen
    ]


def curves(findings: Findings, limits: Limits, units: AxisUnits) -> Section:
    """The smallest diameter over depth, as curves and as a table."""
    spacing = findings.rec.grid.spacing
    length = f" ({units.length})" if units.length else ""
    columns = (f"depth{length}", *(f"{name}{length}" for name in limits.names))
    rows = [
        (f"{depth:.3g}", *(NOTHING if np.isnan(d) else f"{d:.2g}" for d in own))
        for depth, own in zip(limits.depths, limits.diameters.T, strict=True)
    ]
    return Section(
        title="What would have been seen",
        shows=(
            "The smallest round defect at each depth that this recording, with its noise, its uneven heating, the "
            "errors of the model and the threshold that was used, shows with 90 % probability at a typical place. "
            "Defects were inserted into the recording with the heat model, and searched for as usual. – means: none "
            f"up to {quantity(limits.largest, units.length)}. A defect that covers fewer than three pixels is never "
            "listed, however clear."
        ),
        figure=limit_curves(limits, max(spacing[1:]), units),
        table=Table(columns, rows),
        good="The curve lies to the left of the smallest defect that matters, down to the depth that matters.",
        bad="A curve that ends before the back face, or lies to the right of what matters: the absence of an "
        "indication there says little.",
        do="State this limit together with the result. To find smaller ones, record with more heat, for longer, "
        "repeatedly, or from closer.",
    )


def _maps(findings: Findings, limits: Limits, units: AxisUnits) -> Section:
    maps = limit_maps(limits, units)
    return Section(
        title="Where it would have been seen",
        shows=(
            f"The same for {limits.names[0]} at every place of the frame, at {len(maps)} depths. Grey: not found, or "
            "not inspected. Edges, masked pixels and places that got less heat show less."
        ),
        figure=depth_maps(maps, findings.rec.grid.size[1:], units),
        good="Even maps.",
        bad="Grey or bright places where defects matter.",
        do="Record those places again, in the middle of the frame.",
    )
