"""From the contrast of a recording to what is in the part: look, fit a sheet, and ask of each region if it stays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.fitted_sheet import FittedSheet, fit_sheet, placed
from nefty.inversion.evidence.hills import MIDDLE, outlines
from nefty.inversion.evidence.limits import Reference, limits
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.weighing import SoundPart, Weighing, judged
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence

MOST_OF_A_FRAME = 0.5  # that may stand out: what is typical of a recording is sound
LEVELS = np.linspace(0.5, 0.95, 10)  # quantiles of the scores, tried as the least where more than that stands out
HALF = 0.5  # of what lies below a region: if more is empty, it is a hole
FEWEST_SOUND = 100  # pixels that tell the scatter of sound ones


def find(
    part: SoundPart,
    settings: EvidenceSettings,
    asked: Sequence[Reference] = (),
    brightness: np.ndarray | None = None,
) -> tuple[FrameEvidence, np.ndarray, np.ndarray]:
    """What the frames show, as sheets.

    Args:
        part: what it is weighed against.
        settings: how.
        asked: defects of which it is said whether they would have been seen.
        brightness: see ``limits``.

    Returns:
        evidence; resistance R (time/length) and depth of the whole sheet, (y, x), what is called and what is not.
    """
    whole = part.contrast
    part = dataclasses.replace(part, contrast=whole.evened(whole.counted))
    weighing = Weighing(part, settings)
    least = weighing.threshold - settings.nearly
    nothing = np.zeros(part.contrast.weight.shape)
    if weighing.looks.map.max() < least:
        seen = limits(part, weighing, asked, settings, brightness) if asked else None
        evidence = weighing.evidence(np.zeros(nothing.shape, dtype=np.int32), [])
        return dataclasses.replace(evidence, limits=seen), nothing, nothing
    support = _standing_out(weighing, part, least, settings)
    sound = part.contrast.counted & ~support
    if sound.sum() >= FEWEST_SOUND:  # what stands out tells nothing of the rest
        part = dataclasses.replace(part, contrast=whole.evened(sound))
        weighing = weighing.again(part, sound)
        support |= _standing_out(weighing, part, least, settings)
    fitted = fit_sheet(part, whole, support, sound if sound.sum() >= FEWEST_SOUND else None, weighing, settings)
    part, weighing, sheet, window, slab = fitted.part, fitted.weighing, fitted.sheet, fitted.window, part.slab
    labels, regions, left_over = _weighed(fitted, settings.sheet)
    if all(region.score < weighing.threshold for region in regions):  # beside a clear one, what is left over is its
        _add_unfitted(labels, regions, weighing, left_over, support, slab)
    seen = limits(part, weighing, asked, settings, brightness) if asked else None
    resistance, depth, insulation = nothing.copy(), nothing.copy(), nothing.copy()
    resistance[window], depth[window] = sheet.resistance * slab.thickness / slab.alpha, sheet.depth
    insulation[window] = sheet.insulation
    evidence = weighing.evidence(labels, regions, left_over)
    evidence = dataclasses.replace(evidence, limits=seen, spreads=fitted.spreads, insulation=insulation)
    return evidence, resistance, depth


def _standing_out(weighing: Weighing, part: SoundPart, least: float, settings: EvidenceSettings) -> np.ndarray:
    """Pixels (y, x) where a template stands out, and those around them: half of the frame at most.

    Beside a strong, wide defect every place stands out a little, since what is typical of a row moved. If all of them
    could have a sheet, a sound middle in an insulated frame would explain the frames nearly as well.
    """
    score, counted = weighing.looks.map, part.contrast.counted

    def above(level: float) -> np.ndarray:
        grown = ndimage.binary_dilation(score >= level, iterations=settings.sheet.grown)
        return np.asarray(grown, dtype=bool) & counted

    levels = np.maximum(np.append(least, np.quantile(score[counted], LEVELS)), least)
    few = (one for one in map(above, levels) if one.sum() <= MOST_OF_A_FRAME * counted.sum())
    return next(few, above(float(levels[-1])))


def _weighed(fitted: FittedSheet, settings: SheetSettings) -> tuple[np.ndarray, list[RegionEvidence], np.ndarray]:
    """Pixels that insulate, within the contour of each hill, and how clearly each stands out.

    Returns:
        numbers of the regions (y, x); the regions; scores of what none of them explains, (template, y, x).
    """
    sheet, fit, weighing, window = fitted.sheet, fitted.fit, fitted.weighing, fitted.window
    shape, slab = weighing.looks.map.shape, fit.slab
    masks = outlines(sheet, settings)
    grown = [np.asarray(ndimage.binary_dilation(m, iterations=settings.grown), dtype=bool) for m in masks]
    whole = [placed(mask, window, shape) for mask in masks]

    @cache
    def explained(kept: tuple[int, ...]) -> np.ndarray:
        which = np.ones(sheet.support.shape, dtype=bool)
        for name, own in enumerate(grown):
            which &= ~own if name not in kept else True
        for name in kept:
            which |= masks[name]
        return placed(fit.explained(sheet, which), window, shape)

    scores, everything = judged(weighing, whole, lambda kept: explained(tuple(kept)))
    labels, regions = np.zeros(shape, dtype=np.int32), []
    for mask, place, score in zip(masks, whole, scores, strict=True):
        weight = np.where(mask, sheet.insulation, 0.0)
        regions.append(
            RegionEvidence(
                score=score,
                depth=float((weight * sheet.depth).sum() / weight.sum()),
                resistance=float(np.median(sheet.resistance[mask])) * slab.thickness / slab.alpha,
                insulation=float(np.quantile(sheet.insulation[mask], MIDDLE)),
                open_to_back=bool(np.quantile(sheet.hole[mask], MIDDLE) > HALF),
            )
        )
        labels[place] = len(regions)
    return labels, regions, everything.left_over(weighing.looks)


def _add_unfitted(
    labels: np.ndarray,
    regions: list[RegionEvidence],
    weighing: Weighing,
    left_over: np.ndarray,
    support: np.ndarray,
    slab: WeakSheet,
) -> None:
    """Add the patch that stands out most of those that have no sheet at all, too weak for it: told by its template.

    Only that one: what else stands out beside it may be what it does to the rows and columns of the frame.

    Args:
        labels: numbers of the regions, (y, x); changed in place.
        regions: added to.
        weighing: of this recording.
        left_over: scores of what no region explains, (template, y, x).
        support: pixels (y, x) that stand out, and those around them.
        slab: the sound part.
    """
    found: Any = ndimage.label(support)
    patches = [np.asarray(found[0] == name) for name in range(1, int(found[1]) + 1)]
    patches = [own for own in patches if not (labels[own] > 0).any()]
    if not patches:
        return
    own = max(patches, key=lambda patch: float(left_over[:, patch].max()))
    which = int(left_over[:, own].max(axis=1).argmax())
    depth = weighing.looks.templates[which].depth
    resistance = weighing.strength(which, own) * slab.thickness / slab.alpha
    insulation = resistance / (resistance + depth / slab.alpha)
    regions.append(RegionEvidence(float(left_over[which][own].max()), depth, resistance, min(insulation, 0.5)))
    labels[own] = len(regions)
