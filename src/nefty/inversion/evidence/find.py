"""From the contrast of a recording to what is in the part: look, fit a sheet, and ask of each region if it stays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy import ndimage
from skimage.morphology import h_maxima
from skimage.segmentation import watershed

from nefty.inversion.evidence.bank import bank
from nefty.inversion.evidence.columns import by_columns
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.matched_filter import MatchedFilter
from nefty.inversion.evidence.null import threshold
from nefty.inversion.evidence.search import Looks, look
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence

SHALLOW, DEEP = 0.06, 0.93  # of the thickness, between which depths begin
SMOOTH = 2.0  # pixels over which first depths are smoothed
EVEN = 0.7  # depths over which the first insulation is smoothed: what is sharper is for the fit to find
ELSEWHERE, FIRST = 0.02, 0.4  # insulation to begin with, at least and at most
NEAR = 7  # pixels, the side of the square around a place in which what is unexplained matters
FEWEST = 10  # frames of a fit
FEWEST_SOUND = 200  # pixels that tell the scatter of sound ones
PRECISE = 0.7  # pixels over which the insulation is smoothed to part its hills
MIDDLE = 0.9  # quantile of a region's insulation that stands for its middle


@dataclass(frozen=True, eq=False)
class SoundPart:
    """What evidence is weighed against.

    Args:
        contrast: of the recording.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
        shallowest: depth above which nothing is said.
    """

    contrast: Contrast
    slab: WeakSheet
    along: tuple[float, float]
    shallowest: float


class Weighing:
    """The scores of regions of one recording.

    Args:
        part: what it is weighed against.
        settings: how.
        sound: pixels (y, x) that tell how much sound places scatter; all if not given.
    """

    def __init__(self, part: SoundPart, settings: EvidenceSettings, sound: np.ndarray | None = None) -> None:
        slab, contrast = part.slab, part.contrast
        along = (slab.alpha * part.along[0], slab.alpha * part.along[1])
        templates = bank(contrast, slab, along, part.shallowest, settings)
        self._filters = MatchedFilter(contrast, templates)
        self._raw, self._settings = self._filters(contrast.values), settings
        self.looks: Looks = look(self._raw, contrast, templates, settings.edge * slab.thickness, sound)
        self.threshold = threshold(settings.false_calls)

    def unexplained(self, explained: np.ndarray) -> np.ndarray:
        """What the templates show of a residual around each place, (template, y, x).

        Args:
            explained: ln(T/T_sound) of all regions, (t, y, x).
        """
        left = np.abs(self._raw - self._filters(explained) - self.looks.scatter.middle)
        return np.asarray(ndimage.maximum_filter(left, (1, NEAR, NEAR)))

    def score(self, mask: np.ndarray, others: np.ndarray, unexplained: np.ndarray) -> float:
        """Of a region: what a template shows over the scatter when all other regions are explained.

        What the others explain is known to a share only, so near a strong one a weak one has to stand out more; and it
        has to explain clearly more than what stays unexplained around it.

        Args:
            mask: its pixels, (y, x).
            others: ln(T/T_sound) of all but this one, (t, y, x).
            unexplained: around each place, (template, y, x).
        """
        about, scatter, settings = self._filters(others), self.looks.scatter, self._settings
        doubt = np.hypot(settings.doubt * about, settings.doubt_left * unexplained)
        score = (self._raw - about - scatter.middle) / np.hypot(scatter.spread, doubt)
        return float(np.where(self._filters.information > 0, score, 0.0)[:, mask].max(initial=0.0))

    def left_over(self, explained: np.ndarray) -> np.ndarray:
        """Scores of what no region explains, (template, y, x).

        Args:
            explained: ln(T/T_sound) of all regions, (t, y, x).
        """
        about, scatter = self._filters(explained), self.looks.scatter
        score = (self._raw - about - scatter.middle) / np.hypot(scatter.spread, self._settings.doubt * about)
        seen = self.looks.scores
        within = np.clip(score, np.minimum(seen, 0.0), np.maximum(seen, 0.0))  # not more than the frames show
        return np.where(self._filters.information > 0, within, 0.0)

    def strength(self, which: int, mask: np.ndarray) -> float:
        """R/(thickness/alpha) of a template's disc where it stands out most in a mask (y, x), to first order."""
        known = self._filters.information[which]
        strength = np.divide(self._raw[which], known, out=np.zeros_like(known), where=known > 0)
        return max(float(strength[mask].max(initial=0.0)), 0.0)

    def evidence(
        self, labels: np.ndarray, regions: list[RegionEvidence], left_over: np.ndarray | None = None
    ) -> FrameEvidence:
        """As a result keeps it.

        Args:
            labels: numbers of the regions.
            regions: in the order of their numbers.
            left_over: scores of what none of them explains, (template, y, x); all if not given.
        """
        coldest = self.looks.coldest if left_over is None else float(-left_over.min())
        rate = self._settings.false_calls
        return FrameEvidence(labels, tuple(regions), self.threshold, rate, self.looks.map, coldest)


def find(part: SoundPart, settings: EvidenceSettings) -> tuple[FrameEvidence, np.ndarray, np.ndarray]:
    """What the frames show, as sheets.

    Returns:
        evidence; resistance R (time/length) and depth of the whole sheet, (y, x), what is called and what is not.
    """
    whole = part.contrast
    part = dataclasses.replace(part, contrast=whole.evened(whole.counted))
    weighing = Weighing(part, settings)
    least = weighing.threshold - settings.nearly
    nothing = np.zeros(part.contrast.weight.shape)
    if weighing.looks.map.max() < least:
        return weighing.evidence(np.zeros(nothing.shape, dtype=np.int32), []), nothing, nothing
    support = _standing_out(weighing, part, least, settings)
    sound = part.contrast.counted & ~support
    if sound.sum() >= FEWEST_SOUND:  # what stands out tells nothing of the rest
        part = dataclasses.replace(part, contrast=whole.evened(sound))
        weighing = Weighing(part, settings, sound)
        support |= _standing_out(weighing, part, least, settings)
    contrast, slab = part.contrast, part.slab
    window = _window(support, contrast.pixel, settings.sheet.around * slab.thickness)
    last = max(settings.sheet.latest * slab.thickness**2 / slab.alpha, contrast.times[:FEWEST][-1])
    fit = SheetFit(contrast.part(contrast.times <= last, window), slab, part.along, settings.sheet)
    insulation, _ = by_columns(fit.contrast, slab, settings.sheet.layers)
    depth = _first_depths(weighing.looks, least, slab.thickness)[window]
    over = float(np.median(depth[support[window]]))
    insulation = ndimage.gaussian_filter(insulation, [EVEN * over / d for d in contrast.pixel])
    sheet = fit.fit(support[window], np.clip(insulation, ELSEWHERE, FIRST) * support[window], depth)
    if (owner := _owners(sheet, settings.sheet)) is not None:
        sheet = fit.fit(sheet.support, sheet.insulation, _even_depths(sheet, owner), owner)
    every = contrast.part(np.ones(len(contrast.times), dtype=bool), window)
    labels, regions, left_over = _weighed(
        sheet, SheetFit(every, slab, part.along, settings.sheet), weighing, window, settings.sheet
    )
    if all(region.score < weighing.threshold for region in regions):  # beside a clear one, what is left over is its
        _add_unfitted(labels, regions, weighing, left_over, support, slab)
    evidence = weighing.evidence(labels, regions, left_over)
    resistance, depth = nothing.copy(), nothing.copy()
    resistance[window], depth[window] = sheet.resistance * slab.thickness / slab.alpha, sheet.depth
    return evidence, resistance, depth


def _standing_out(weighing: Weighing, part: SoundPart, least: float, settings: EvidenceSettings) -> np.ndarray:
    """Pixels (y, x) where a template stands out, and those around them."""
    grown = ndimage.binary_dilation(weighing.looks.map >= least, iterations=settings.sheet.grown)
    return np.asarray(grown) & part.contrast.counted


def _window(support: np.ndarray, pixel: tuple[float, float], around: float) -> tuple[slice, slice]:
    """The rectangle around the support, as wide beside it as heat spreads."""
    slices = []
    for axis, step in enumerate(pixel):
        hit = np.flatnonzero(support.any(axis=1 - axis))
        more = int(np.ceil(around / step))
        slices.append(slice(max(int(hit[0]) - more, 0), min(int(hit[-1]) + more + 1, support.shape[axis])))
    return slices[0], slices[1]


def _first_depths(looks: Looks, least: float, thickness: float) -> np.ndarray:
    """Depth of the template that fits best, smoothed by how clearly it does, (y, x); of the nearest where none does."""
    depth = np.array([t.depth for t in looks.templates])[looks.scores.argmax(axis=0)]
    clear = np.where(looks.map >= least, looks.map, 0.0) ** 2
    weight = np.asarray(ndimage.gaussian_filter(clear, SMOOTH))
    mean = np.asarray(ndimage.gaussian_filter(clear * np.log(depth), SMOOTH)) / np.maximum(weight, 1e-30)
    unknown = weight <= 1e-12 * weight.max()
    nearest = ndimage.distance_transform_edt(unknown, return_distances=False, return_indices=True)
    return np.clip(np.exp(mean[tuple(np.asarray(nearest))]), SHALLOW * thickness, DEEP * thickness)


def _weighed(
    sheet: Sheet, fit: SheetFit, weighing: Weighing, window: tuple[slice, slice], settings: SheetSettings
) -> tuple[np.ndarray, list[RegionEvidence], np.ndarray]:
    """Pixels that insulate, within the contour of each hill, and how clearly each stands out.

    Returns:
        numbers of the regions (y, x); the regions; scores of what none of them explains, (template, y, x).
    """
    shape = weighing.looks.map.shape
    explained = np.zeros((len(fit.contrast.times), *shape))
    explained[(slice(None), *window)] = fit.explained(sheet)
    unexplained = weighing.unexplained(explained)
    labels, regions = np.zeros(shape, dtype=np.int32), []
    for mask in _masks(sheet, settings):
        own = np.asarray(ndimage.binary_dilation(mask, iterations=settings.grown), dtype=bool)
        others = np.zeros((len(fit.contrast.times), *shape))
        others[(slice(None), *window)] = fit.explained(sheet, ~own)
        whole = np.zeros(shape, dtype=bool)
        whole[window] = mask
        weight = np.where(mask, sheet.insulation, 0.0)
        slab = fit.slab
        regions.append(
            RegionEvidence(
                score=weighing.score(whole, others, unexplained),
                depth=float((weight * sheet.depth).sum() / weight.sum()),
                resistance=float(np.median(sheet.resistance[mask])) * slab.thickness / slab.alpha,
                insulation=float(np.quantile(sheet.insulation[mask], MIDDLE)),
            )
        )
        labels[whole] = len(regions)
    return labels, regions, weighing.left_over(explained)


def _add_unfitted(
    labels: np.ndarray,
    regions: list[RegionEvidence],
    weighing: Weighing,
    left_over: np.ndarray,
    support: np.ndarray,
    slab: WeakSheet,
) -> None:
    """Add patches of what stands out that have no sheet at all: too weak for it. They are told by their template.

    Args:
        labels: numbers of the regions, (y, x); changed in place.
        regions: added to.
        weighing: of this recording.
        left_over: scores of what no region explains, (template, y, x).
        support: pixels (y, x) that stand out, and those around them.
        slab: the sound part.
    """
    found: Any = ndimage.label(support)
    for name in range(1, int(found[1]) + 1):
        own = np.asarray(found[0] == name)
        if (labels[own] > 0).any():
            continue
        which = int(left_over[:, own].max(axis=1).argmax())
        depth = weighing.looks.templates[which].depth
        resistance = weighing.strength(which, own) * slab.thickness / slab.alpha
        insulation = resistance / (resistance + depth / slab.alpha)
        regions.append(RegionEvidence(float(left_over[which][own].max()), depth, resistance, min(insulation, 0.5)))
        labels[own] = len(regions)


def _owners(sheet: Sheet, settings: SheetSettings) -> np.ndarray | None:
    """To which region each pixel belongs, from 0, (y, x): the nearest; ``None`` if there is none."""
    labels = np.zeros(sheet.support.shape, dtype=np.int64)
    for number, mask in enumerate(_masks(sheet, settings), 1):
        labels[mask] = number
    if not labels.any():
        return None
    nearest = ndimage.distance_transform_edt(labels == 0, return_distances=False, return_indices=True)
    return labels[tuple(np.asarray(nearest))] - 1


def _even_depths(sheet: Sheet, owner: np.ndarray) -> np.ndarray:
    """The mean depth of each region, weighted by its insulation, (y, x)."""
    weight = np.where(sheet.support, sheet.insulation, 0.0).ravel() + 1e-9
    total = np.bincount(owner.ravel(), weight * sheet.depth.ravel())
    return (total / np.bincount(owner.ravel(), weight))[owner]


def _masks(sheet: Sheet, settings: SheetSettings) -> list[np.ndarray]:
    """Pixels (y, x) of each hill of the insulation, within its contour; saddles between two lie far below them."""
    smooth = np.asarray(ndimage.gaussian_filter(sheet.insulation, PRECISE))
    logarithm = np.log(np.maximum(smooth, settings.faint / 2))
    tops: Any = ndimage.label(h_maxima(logarithm, -log(settings.saddle)))
    hills = watershed(-logarithm, np.asarray(tops[0]), mask=sheet.insulation > settings.faint)
    found = []
    for name in range(1, int(hills.max(initial=0)) + 1):
        own = hills == name
        if not own.any():
            continue
        mask = own & (sheet.insulation > settings.contour * np.quantile(sheet.insulation[own], MIDDLE))
        if mask.sum() >= settings.smallest:
            found.append(mask)
    return found
