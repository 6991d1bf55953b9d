"""The rule ``"evidence"``: a region is an indication if the frames are explained clearly worse without it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from nefty.core.grid import Grid
from nefty.data.facts import Facts
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence
from nefty.result.indications.indication import Indication
from nefty.result.indications.segmentation import ByEvidence, Segmentation
from nefty.result.indications.sizing import size_of_mask

AIR, POLYMER = 0.026, 0.25  # W/mK, of still air and of a polymer film, for equivalent gaps


def called_cells(evidence: FrameEvidence, grid: Grid, *, periodic: bool) -> Segmentation:
    """The cells of the regions that are called, numbered by falling score.

    A sheet fills the layer of cells that it lies in; one that insulates like a hole fills all below it.
    """
    labels = np.zeros(grid.shape, dtype=np.int32)
    for name, number in enumerate(evidence.called, 1):
        own = evidence.labels == number
        if not evidence.of_sheets:
            labels[own] = name
            continue
        region = evidence.regions[number - 1]
        top = min(int(region.depth / grid.spacing[0]), grid.shape[0] - 1)
        bottom = grid.shape[0] if region.open_to_back else top + 1
        labels[top:bottom, own] = name
    return Segmentation(labels, ByEvidence(), periodic)


def with_evidence(found: list[Indication], evidence: FrameEvidence, grid: Grid, facts: Facts) -> list[Indication]:
    """Indications of ``called_cells`` with what the sheet tells of them: depth, size, resistance, gaps, evidence."""
    told = []
    for one, number in zip(found, evidence.called, strict=True):
        region = evidence.regions[number - 1]
        if math.isfinite(region.depth):
            told.append(_of_sheet(one, region, evidence.footprint(number), grid, facts))
        else:
            told.append(dataclasses.replace(with_gaps(one, facts), evidence=region.score))
    return told


def with_gaps(one: Indication, facts: Facts) -> Indication:
    """An indication of ``find_indications`` with its resistance in the unit that is told, and gaps that have it."""
    resistance, air, polymer = _gaps(one.resistance, facts)
    return dataclasses.replace(one, resistance=resistance, gap_air=air, gap_polymer=polymer)


def sheet_depths(evidence: FrameEvidence) -> np.ndarray:
    """Depth of the sheet that is called under each pixel, (y, x); NaN where there is none."""
    depths = np.full(evidence.labels.shape, np.nan)
    for number in evidence.called:
        depths[evidence.labels == number] = evidence.regions[number - 1].depth
    return depths


def _of_sheet(one: Indication, region: RegionEvidence, mask: np.ndarray, grid: Grid, facts: Facts) -> Indication:
    """An indication with what its sheet tells; place and size are those of its pixels, not of the volume under them."""
    spacing = (grid.spacing[1], grid.spacing[2])
    size_y, size_x = (float(np.ptp(np.nonzero(mask)[axis]) + 1) * spacing[axis] for axis in (0, 1))
    thickness = grid.size[0] - region.depth if region.open_to_back else math.nan
    middle = region.depth + thickness / 2 if region.open_to_back else region.depth
    resistance, air, polymer = _gaps(math.nan if region.open_to_back else region.resistance, facts)
    return dataclasses.replace(
        one,
        centre=(middle, *size_of_mask(mask, spacing).centre),
        depth_to_top=region.depth,
        depth_to_centre=middle,
        thickness=thickness,
        size_y=size_y,
        size_x=size_x,
        volume=one.area * thickness,
        reaches_back=region.open_to_back,
        evidence=region.score,
        resistance=resistance,
        gap_air=air,
        gap_polymer=polymer,
    )


def _gaps(resistance: float, facts: Facts) -> tuple[float, float, float]:
    """Resistance in m2K/W, and thickness in m of air and of a polymer that has it; NaN for what is not known.

    Args:
        resistance: integral of 1/alpha - 1/alpha_background, time/length; what has no units keeps it as it is.
        facts: units and material.
    """
    part = facts.material
    metres = facts.units.metres
    if not facts.units.length:
        return resistance, math.nan, math.nan
    if metres is None or part is None or part.k is None or part.rho is None or part.cp is None:
        return math.nan, math.nan, math.nan
    resistance = resistance / metres / (part.rho * part.cp)
    polymer = resistance / (1 / POLYMER - 1 / part.k) if part.k > POLYMER else math.nan
    return resistance, resistance * AIR, polymer
