"""From the contrast of a recording to what is in the part: look, fit a sheet, and ask of each region if it stays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.columns import Columns
from nefty.inversion.evidence.edges import sharpened
from nefty.inversion.evidence.hills import MIDDLE, around, nearest, outlines, owners, parted
from nefty.inversion.evidence.judging import judged
from nefty.inversion.evidence.limits import Reference, limits
from nefty.inversion.evidence.ratios import refined
from nefty.inversion.evidence.search import Looks
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weighing import SoundPart, Weighing
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence

SMOOTHER = 3.0  # factor of the weight of the variation in the first fit
CORE = 0.5  # of a region's highest score or insulation: places that tell its first depth
STRONG = 0.3  # insulation from which on a sheet shows clearly less than in proportion
AGAIN = 2  # fits with the depths of the hills that the one before showed
NEARBY = 5  # runs of the heat model in a fit that begins near its end
FEWEST = 10  # frames of a fit
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
        weighing = Weighing(part, settings, sound)
        support |= _standing_out(weighing, part, least, settings)
    contrast, slab = part.contrast, part.slab
    window = around(support, contrast.pixel, settings.sheet.around * slab.thickness)
    last = max(settings.sheet.latest * slab.thickness**2 / slab.alpha, contrast.times[:FEWEST][-1])
    fit = SheetFit(contrast.part(contrast.times <= last, window), slab, part.along, settings.sheet)
    sheet, owner = _fitted(fit, support[window], weighing.looks, window, settings.sheet)
    along = refined(fit, sheet, settings.sheet)
    if along != part.along:
        fit = fit.spreading(along)
        sheet = fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=NEARBY)
    sheet = sharpened(fit, sheet, settings.sheet)
    every = contrast.part(np.ones(len(contrast.times), dtype=bool), window)
    labels, regions, left_over = _weighed(
        sheet, SheetFit(every, slab, along, settings.sheet), weighing, window, settings.sheet
    )
    if all(region.score < weighing.threshold for region in regions):  # beside a clear one, what is left over is its
        _add_unfitted(labels, regions, weighing, left_over, support, slab)
    seen = limits(part, weighing, asked, settings, brightness) if asked else None
    spreads = along[0] / part.along[0], along[1] / part.along[1]
    evidence = dataclasses.replace(weighing.evidence(labels, regions, left_over), limits=seen, spreads=spreads)
    resistance, depth = nothing.copy(), nothing.copy()
    resistance[window], depth[window] = sheet.resistance * slab.thickness / slab.alpha, sheet.depth
    return evidence, resistance, depth


def _standing_out(weighing: Weighing, part: SoundPart, least: float, settings: EvidenceSettings) -> np.ndarray:
    """Pixels (y, x) where a template stands out, and those around them."""
    grown = ndimage.binary_dilation(weighing.looks.map >= least, iterations=settings.sheet.grown)
    return np.asarray(grown) & part.contrast.counted


def _fitted(
    fit: SheetFit, support: np.ndarray, looks: Looks, window: tuple[slice, slice], most: SheetSettings
) -> tuple[Sheet, np.ndarray]:
    """The sheet of a window, and to which region each pixel (y, x) belongs.

    First with one depth for each peak of the scores, then for each hill that showed.

    Args:
        fit: of the window.
        support: pixels (y, x) of the window that stand out, and those around them.
        looks: how much templates stand out in the whole frame.
        window: rows and columns of the frame.
        most: numbers of the fit.
    """
    score = np.where(support, looks.map[window], 0.0)
    owner = nearest(parted(score, support, 1.0, most.saddle))
    begin = FirstDepths(fit, looks.depth[window], most.layers)
    sheet = fit.fit(support, np.zeros(support.shape), begin(score, owner)[owner], owner, SMOOTHER)
    smoother = True
    for _ in range(AGAIN):
        hills = owners(sheet, most)
        hills = owner if hills is None else hills
        if not smoother and np.array_equal(hills, owner):
            break
        depth = _depths_of_hills(sheet, owner, hills, begin)
        owner, smoother = hills, False
        sheet = fit.fit(support, sheet.insulation, depth[owner], owner)
    return sheet, owner


class FirstDepths:
    """Where the depth of a region begins.

    Of a weak one the templates tell it, whatever lies beside it; of a strong one, which shows less than in proportion,
    columns do.

    Args:
        fit: of the window.
        shown: depth of the template that stands out most, (y, x).
        layers: cells along z.
    """

    def __init__(self, fit: SheetFit, shown: np.ndarray, layers: int) -> None:
        self._columns, self._shown = Columns(fit.contrast, fit.slab, layers), np.log(shown)

    def __call__(self, weight: np.ndarray, owner: np.ndarray) -> np.ndarray:
        """Of each region, (region,), by the core of those weights (y, x)."""
        return np.array([self._of(np.where(owner == name, np.maximum(weight, 0.0), 0.0)) for name in _names(owner)])

    def _of(self, weight: np.ndarray) -> float:
        core = np.where(weight >= CORE * weight.max(), weight, 0.0) + 1e-12
        insulation, depth = self._columns(core)
        return depth if insulation >= STRONG else float(np.exp((core * self._shown).sum() / core.sum()))


def _depths_of_hills(sheet: Sheet, owner: np.ndarray, hills: np.ndarray, begin: FirstDepths) -> np.ndarray:
    """Where the depth of each hill begins, (hill,): as fitted, or from its own core if it shared one with others."""
    tops = [np.unravel_index(np.where(hills == h, sheet.insulation, -1.0).argmax(), hills.shape) for h in _names(hills)]
    shared = np.bincount([owner[top] for top in tops])
    fitted = np.array([sheet.depth[top] for top in tops])
    alone = np.array([shared[owner[top]] == 1 for top in tops])
    return np.where(alone, fitted, begin(sheet.insulation, hills))


def _names(owner: np.ndarray) -> range:
    """The numbers of regions, from 0."""
    return range(int(owner.max()) + 1)


def _weighed(
    sheet: Sheet, fit: SheetFit, weighing: Weighing, window: tuple[slice, slice], settings: SheetSettings
) -> tuple[np.ndarray, list[RegionEvidence], np.ndarray]:
    """Pixels that insulate, within the contour of each hill, and how clearly each stands out.

    Returns:
        numbers of the regions (y, x); the regions; scores of what none of them explains, (template, y, x).
    """
    shape, slab = weighing.looks.map.shape, fit.slab
    masks = outlines(sheet, settings)
    grown = [np.asarray(ndimage.binary_dilation(m, iterations=settings.grown), dtype=bool) for m in masks]
    whole = [_placed(mask, window, shape) for mask in masks]

    @cache
    def explained(kept: tuple[int, ...]) -> np.ndarray:
        which = np.ones(sheet.support.shape, dtype=bool)
        for name, own in enumerate(grown):
            which &= ~own if name not in kept else True
        for name in kept:
            which |= masks[name]
        return _placed(fit.explained(sheet, which), window, shape)

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
            )
        )
        labels[place] = len(regions)
    return labels, regions, everything.left_over(weighing.looks)


def _placed(values: np.ndarray, window: tuple[slice, slice], shape: tuple[int, ...]) -> np.ndarray:
    """Values (..., y, x) of a window in the whole frame, 0 elsewhere."""
    whole = np.zeros((*values.shape[:-2], *shape), dtype=values.dtype)
    whole[(..., *window)] = values
    return whole


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
