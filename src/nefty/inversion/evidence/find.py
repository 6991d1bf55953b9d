"""From the contrast of a recording to what is in the part: look, fit a sheet, and ask of each region if it stays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.bank import bank
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
FIRST, ELSEWHERE = 0.3, 0.02  # insulation to begin with, where a template stands out most, and beside
FEWEST = 10  # frames of a fit
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
    """

    def __init__(self, part: SoundPart, settings: EvidenceSettings) -> None:
        slab, contrast = part.slab, part.contrast
        along = (slab.alpha * part.along[0], slab.alpha * part.along[1])
        templates = bank(contrast, slab, along, part.shallowest, settings)
        self._filters = MatchedFilter(contrast, templates)
        self._raw, self._settings = self._filters(contrast.values), settings
        self.looks: Looks = look(self._raw, contrast, templates, settings.edge * slab.thickness)
        self.threshold = threshold(settings.false_calls)

    def score(self, mask: np.ndarray, others: np.ndarray) -> float:
        """Of a region: what a template shows over the scatter when all other regions are explained.

        What the others explain is known to a share only, so near a strong one a weak one has to stand out more.

        Args:
            mask: its pixels, (y, x).
            others: ln(T/T_sound) of all but this one, (t, y, x).
        """
        about, scatter = self._filters(others), self.looks.scatter
        score = (self._raw - about - scatter.middle) / np.hypot(scatter.spread, self._settings.doubt * about)
        return float(np.where(self._filters.information > 0, score, 0.0)[:, mask].max(initial=0.0))

    def evidence(self, labels: np.ndarray, regions: list[RegionEvidence]) -> FrameEvidence:
        """As a result keeps it; regions are numbered as in ``labels``."""
        looks = self.looks
        return FrameEvidence(
            labels, tuple(regions), self.threshold, self._settings.false_calls, looks.map, looks.coldest
        )


def find(part: SoundPart, settings: EvidenceSettings) -> tuple[FrameEvidence, np.ndarray, np.ndarray]:
    """What the frames show, as sheets.

    Returns:
        evidence; resistance R (time/length) and depth of the whole sheet, (y, x), what is called and what is not.
    """
    contrast, slab = part.contrast, part.slab
    weighing = Weighing(part, settings)
    looks, least = weighing.looks, weighing.threshold - settings.nearly
    nothing = np.zeros(contrast.weight.shape)
    if looks.map.max() < least:
        return weighing.evidence(np.zeros(nothing.shape, dtype=np.int32), []), nothing, nothing
    grown = ndimage.binary_dilation(looks.map >= least, iterations=settings.sheet.grown)
    support = np.asarray(grown) & contrast.counted
    window = _window(support, contrast.pixel, settings.sheet.around * slab.thickness)
    last = max(settings.sheet.latest * slab.thickness**2 / slab.alpha, contrast.times[:FEWEST][-1])
    fit = SheetFit(contrast.part(contrast.times <= last, window), slab, part.along, settings.sheet)
    insulation, depth = _start(looks, support, least, slab.thickness)
    sheet = fit.fit(support[window], insulation[window], depth[window])
    every = contrast.part(np.ones(len(contrast.times), dtype=bool), window)
    evidence = _weighed(sheet, SheetFit(every, slab, part.along, settings.sheet), weighing, window, settings.sheet)
    resistance, depth = nothing.copy(), nothing.copy()
    resistance[window], depth[window] = sheet.resistance * slab.thickness / slab.alpha, sheet.depth
    return evidence, resistance, depth


def _window(support: np.ndarray, pixel: tuple[float, float], around: float) -> tuple[slice, slice]:
    """The rectangle around the support, as wide beside it as heat spreads."""
    slices = []
    for axis, step in enumerate(pixel):
        hit = np.flatnonzero(support.any(axis=1 - axis))
        more = int(np.ceil(around / step))
        slices.append(slice(max(int(hit[0]) - more, 0), min(int(hit[-1]) + more + 1, support.shape[axis])))
    return slices[0], slices[1]


def _start(looks: Looks, support: np.ndarray, least: float, thickness: float) -> tuple[np.ndarray, np.ndarray]:
    """Insulation and depth to begin with: of the template that fits best, smoothed by how clearly it does."""
    scores = looks.map
    depth = np.array([t.depth for t in looks.templates])[looks.scores.argmax(axis=0)]
    clear = np.where(scores >= least, scores, 0.0) ** 2
    weight = np.asarray(ndimage.gaussian_filter(clear, SMOOTH))
    smooth = np.exp(np.asarray(ndimage.gaussian_filter(clear * np.log(depth), SMOOTH)) / np.maximum(weight, 1e-30))
    unknown = weight <= 1e-12 * weight.max()
    nearest = ndimage.distance_transform_edt(unknown, return_distances=False, return_indices=True)
    smooth = smooth[tuple(np.asarray(nearest))]
    peaks = scores > FIRST * np.asarray(ndimage.maximum_filter(scores, 9))
    insulation = np.where(peaks, FIRST, ELSEWHERE) * support
    return insulation, np.clip(smooth, SHALLOW * thickness, DEEP * thickness)


def _weighed(
    sheet: Sheet, fit: SheetFit, weighing: Weighing, window: tuple[slice, slice], settings: SheetSettings
) -> FrameEvidence:
    """Connected pixels that insulate, within the contour of each, and how clearly each stands out."""
    shape = weighing.looks.map.shape
    labels, regions = np.zeros(shape, dtype=np.int32), []
    for mask in _masks(sheet, settings):
        own = np.asarray(ndimage.binary_dilation(mask, iterations=settings.grown))
        others = np.zeros((len(fit.contrast.times), *shape))
        others[(slice(None), *window)] = fit.explained(sheet, ~own)
        whole = np.zeros(shape, dtype=bool)
        whole[window] = mask
        weight = np.where(mask, sheet.insulation, 0.0)
        slab = fit.slab
        regions.append(
            RegionEvidence(
                score=weighing.score(whole, others),
                depth=float((weight * sheet.depth).sum() / weight.sum()),
                resistance=float(np.median(sheet.resistance[mask])) * slab.thickness / slab.alpha,
                insulation=float(np.quantile(sheet.insulation[mask], MIDDLE)),
            )
        )
        labels[whole] = len(regions)
    return weighing.evidence(labels, regions)


def _masks(sheet: Sheet, settings: SheetSettings) -> list[np.ndarray]:
    parts, number = ndimage.label(sheet.insulation > settings.faint)
    found = []
    for name in range(1, int(number) + 1):
        own = np.asarray(parts) == name
        mask = own & (sheet.insulation > settings.contour * np.quantile(sheet.insulation[own], MIDDLE))
        if mask.sum() >= settings.smallest:
            found.append(mask)
    return found
