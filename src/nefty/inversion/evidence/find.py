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
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weighing import SoundPart, Weighing
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import CLEAR, FrameEvidence, RegionEvidence

SMOOTHER = 3.0  # factor of the weight of the variation in the first fit
CORE = 0.5  # of a region's highest score or insulation: places that tell its first depth
FAINTEST = 1e-12  # weight of a pixel outside of a core
STRONG = 0.3  # insulation from which on a sheet shows clearly less than in proportion
EVENED = 2  # fits of a sheet with rows and columns evened over what the one before explains
NEARBY = 5  # runs of the heat model in a fit that begins near its end
FEWEST = 10  # frames of a fit
MOST_OF_A_FRAME = 0.5  # that may stand out: what is typical of a recording is sound
LEVELS = np.linspace(0.5, 0.95, 10)  # quantiles of the scores, tried as the least where more than that stands out
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
    early, every = contrast.times <= last, np.ones(len(contrast.times), dtype=bool)
    fit = SheetFit(contrast.part(early, window), slab, part.along, settings.sheet)
    begin = FirstDepths(fit, weighing.looks.depth[window], settings.sheet.layers)
    sheet, owner = _fitted(fit, support[window], weighing.looks.map[window], begin, settings.sheet)

    def over(sheet: Sheet, along: tuple[float, float]) -> tuple[SoundPart, np.ndarray]:
        """The part with rows and columns evened over what a sheet explains, and that, ln(T/T_sound), (t, y, x)."""
        shown = SheetFit(contrast.part(every, window), slab, along, settings.sheet).explained(sheet)
        shown = _placed(shown, window, contrast.counted.shape)
        return dataclasses.replace(part, contrast=whole.evened(contrast.counted, shown)), shown

    telling = sound if sound.sum() >= FEWEST_SOUND else None
    for attempt in range(EVENED):
        now, shown = over(sheet, part.along)
        fit = SheetFit(now.contrast.part(early, window), slab, part.along, settings.sheet)
        weighing = Weighing(now, settings, telling)
        scores = weighing.after(shown).left_over(weighing.looks)
        more = None if attempt else _left_over(sheet, owner, scores, weighing, window, settings)
        if more is None:
            sheet = fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=NEARBY)
        else:
            added, depth, owner = more
            sheet = fit.fit(sheet.support | added, sheet.insulation, depth, owner)
            sheet, owner = _regrouped(fit, sheet, owner, begin, settings.sheet)
    along = refined(fit, sheet, settings.sheet)
    if along != part.along:
        fit = fit.spreading(along)
        sheet = fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=NEARBY)
    sheet = sharpened(fit, sheet, settings.sheet)
    part, _ = over(sheet, along)
    weighing = Weighing(part, settings, telling)
    judging = SheetFit(part.contrast.part(every, window), slab, along, settings.sheet)
    labels, regions, left_over = _weighed(sheet, judging, weighing, window, settings.sheet)
    if all(region.score < weighing.threshold for region in regions):  # beside a clear one, what is left over is its
        _add_unfitted(labels, regions, weighing, left_over, support, slab)
    seen = limits(part, weighing, asked, settings, brightness) if asked else None
    spreads = along[0] / part.along[0], along[1] / part.along[1]
    evidence = dataclasses.replace(weighing.evidence(labels, regions, left_over), limits=seen, spreads=spreads)
    resistance, depth = nothing.copy(), nothing.copy()
    resistance[window], depth[window] = sheet.resistance * slab.thickness / slab.alpha, sheet.depth
    return evidence, resistance, depth


def _standing_out(weighing: Weighing, part: SoundPart, least: float, settings: EvidenceSettings) -> np.ndarray:
    """Pixels (y, x) where a template stands out, and those around them: half of the frame at most.

    Beside a strong, wide defect every place stands out a little, since what is typical of a row moved. If all of them
    could have a sheet, a sound middle in an insulated frame would explain the frames nearly as well.
    """
    score, counted = weighing.looks.map, part.contrast.counted
    levels = np.maximum(np.append(least, np.quantile(score[counted], LEVELS)), least)
    for level in levels:
        grown = np.asarray(ndimage.binary_dilation(score >= level, iterations=settings.sheet.grown)) & counted
        if grown.sum() <= MOST_OF_A_FRAME * counted.sum():
            break
    return grown


def _left_over(
    sheet: Sheet,
    owner: np.ndarray,
    scores: np.ndarray,
    weighing: Weighing,
    window: tuple[slice, slice],
    settings: EvidenceSettings,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What stands out clearly beside what a sheet has, such as a weak defect near a strong one.

    Args:
        sheet: of the window.
        owner: the region of each of its pixels, (y, x).
        scores: of what the sheet does not explain, of the whole frame, (template, y, x).
        weighing: of the recording.
        window: rows and columns of the frame.
        settings: how.

    Returns:
        pixels (y, x) that stand out and have no sheet, depth and owner (y, x) with them as regions of their own;
        ``None`` if nothing does.
    """
    left = scores[(slice(None), *window)]
    best = left.max(axis=0)
    taken = np.any([np.zeros(best.shape, dtype=bool), *outlines(sheet, settings.sheet)], axis=0)
    beside = np.asarray(ndimage.binary_dilation(taken, iterations=settings.sheet.grown))  # where its own error shows
    seeds = (best >= CLEAR * weighing.threshold) & ~beside
    places = np.asarray(ndimage.binary_dilation(seeds, iterations=settings.sheet.grown)) & ~beside & (best > 0)
    if not places.any():
        return None
    depths = np.array([t.depth for t in weighing.looks.templates])[left.argmax(axis=0)]
    patches = parted(np.where(places, best, 0.0), places, 1.0, settings.sheet.saddle)
    depth, owner = sheet.depth.copy(), owner.copy()
    for name in range(1, int(patches.max()) + 1):
        own = patches == name
        if own.any():
            depth[own] = depths[own][best[own].argmax()]
            owner[own] = owner.max() + 1
    return places, depth, owner


def _fitted(
    fit: SheetFit, support: np.ndarray, scores: np.ndarray, begin: FirstDepths, most: SheetSettings
) -> tuple[Sheet, np.ndarray]:
    """The sheet of a window, and to which region each pixel (y, x) belongs.

    First with one depth for each peak of the scores, then for each hill that showed.

    Args:
        fit: of the window.
        support: pixels (y, x) of the window that stand out, and those around them.
        scores: how much templates stand out in it, (y, x).
        begin: where depths begin.
        most: numbers of the fit.
    """
    score = np.where(support, scores, 0.0)
    owner = nearest(parted(score, support, 1.0, most.saddle))
    depth = begin(score, owner)[owner]
    starts = begin.insulations(score, owner)
    sheet = min((fit.fit(support, c, depth, owner, SMOOTHER) for c in starts), key=lambda one: one.cost[-1])
    hills = owners(sheet, most)
    hills = owner if hills is None else hills
    depth, owner = _depths_of_hills(sheet, owner, hills, begin), hills
    sheet = fit.fit(support, sheet.insulation, depth[owner], owner)
    return _regrouped(fit, sheet, owner, begin, most)


def _regrouped(
    fit: SheetFit, sheet: Sheet, owner: np.ndarray, begin: FirstDepths, most: SheetSettings
) -> tuple[Sheet, np.ndarray]:
    """The sheet with one depth for each hill that shows, and whose each pixel is; as it was if that explains less."""
    hills = owners(sheet, most)
    if hills is None or np.array_equal(hills, owner):
        return sheet, owner
    again = fit.fit(sheet.support, sheet.insulation, _depths_of_hills(sheet, owner, hills, begin)[hills], hills)
    return (again, hills) if again.cost[-1] < sheet.cost[-1] else (sheet, owner)


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
        return np.array([self._of(core) for core in _cores(weight, owner)])

    def _of(self, core: np.ndarray) -> float:
        insulation, depth = self._columns(core)
        return depth if insulation >= STRONG else float(np.exp((core * self._shown).sum() / core.sum()))

    def insulations(self, weight: np.ndarray, owner: np.ndarray) -> list[np.ndarray]:
        """To begin with, each (y, x): none, and, if there are strong regions, that of columns in their cores.

        The curvature of a weak sheet is that of a strong one only near it: from nothing the fit may go astray.

        Args:
            weight: that tells the cores, (y, x).
            owner: the region of each pixel, (y, x).
        """
        strong = np.zeros(weight.shape)
        for core in _cores(weight, owner):
            insulation, _ = self._columns(core)
            strong[core > FAINTEST] = insulation if insulation >= STRONG else 0.0
        return [np.zeros(weight.shape), strong] if strong.any() else [strong]


def _depths_of_hills(sheet: Sheet, owner: np.ndarray, hills: np.ndarray, begin: FirstDepths) -> np.ndarray:
    """Where the depth of each hill begins, (hill,): as fitted, or from its own core if it shared one with others."""
    tops = [np.unravel_index(np.where(hills == h, sheet.insulation, -1.0).argmax(), hills.shape) for h in _names(hills)]
    shared = np.bincount([owner[top] for top in tops])
    fitted = np.array([sheet.depth[top] for top in tops])
    alone = np.array([shared[owner[top]] == 1 for top in tops])
    return np.where(alone, fitted, begin(sheet.insulation, hills))


def _cores(weight: np.ndarray, owner: np.ndarray) -> list[np.ndarray]:
    """The weights (y, x) of each region's core, next to nothing elsewhere."""
    own = [np.where(owner == name, np.maximum(weight, 0.0), 0.0) for name in _names(owner)]
    return [np.where(w >= CORE * w.max(), w, 0.0) + FAINTEST for w in own]


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
