"""The sheet that explains best what stands out of a recording: which regions, how deep, how insulating."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from nefty.inversion.evidence.columns import Columns
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.hills import around, nearest, owners, parted
from nefty.inversion.evidence.second_look import second_look
from nefty.inversion.evidence.settings import EvidenceSettings, SheetSettings
from nefty.inversion.evidence.shapes import refined_ratios, shaped
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weighing import SoundPart, Weighing

SMOOTHER = 3.0  # factor of the weight of the variation in the first fit
CORE = 0.5  # of a region's highest score or insulation: places that tell its first depth
FAINTEST = 1e-12  # weight of a pixel outside of a core
STRONG = 0.3  # insulation from which on a sheet shows clearly less than in proportion
EVENED = 2  # fits of a sheet with rows and columns evened over what the one before explains
NEARBY = 5  # runs of the heat model in a fit that begins near its end
FEWEST = 10  # frames of a fit


@dataclass(frozen=True, eq=False)
class FittedSheet:
    """What was fitted, and what its regions are weighed by.

    Args:
        sheet: of the window.
        window: rows and columns of the frame.
        part: what it is weighed against, rows and columns evened over what the sheet explains.
        weighing: of that part.
        fit: of all frames of the window, that tells what a sheet explains.
        spreads: factor by which heat spreads faster along y and x than stated.
    """

    sheet: Sheet
    window: tuple[slice, slice]
    part: SoundPart
    weighing: Weighing
    fit: SheetFit
    spreads: tuple[float, float]


def fit_sheet(
    part: SoundPart,
    whole: Contrast,
    support: np.ndarray,
    sound: np.ndarray | None,
    weighing: Weighing,
    settings: EvidenceSettings,
) -> FittedSheet:
    """Fit a sheet to what stands out.

    What rows and columns have in common is first told by the pixels that do not stand out, which heat of a defect may
    reach nevertheless; then, twice, by all pixels less what the sheet explains.

    Args:
        part: what it is weighed against, evened by its sound pixels.
        whole: its contrast, not evened.
        support: pixels (y, x) that stand out, and those around them.
        sound: pixels (y, x) that tell the scatter of sound ones; all if not given.
        weighing: of the part.
        settings: how.
    """
    contrast, slab, most = part.contrast, part.slab, settings.sheet
    window = around(support, contrast.pixel, most.around * slab.thickness)
    last = max(most.latest * slab.thickness**2 / slab.alpha, contrast.times[:FEWEST][-1])
    early, every = contrast.times <= last, np.ones(len(contrast.times), dtype=bool)
    fit = SheetFit(contrast.part(early, window), slab, part.along, most)
    begin = FirstDepths(fit, weighing.looks.depth[window], most.layers)
    sheet, owner = _fitted(fit, support[window], weighing.looks.map[window], begin, most)

    def shown(sheet: Sheet) -> np.ndarray:
        """What a sheet explains, ln(T/T_sound), (t, y, x)."""
        explained = SheetFit(contrast.part(every, window), slab, along, most).explained(sheet)
        return placed(explained, window, contrast.counted.shape)

    def over(sheet: Sheet) -> SoundPart:
        """The part with rows and columns evened over what a sheet explains."""
        return dataclasses.replace(part, contrast=whole.evened(contrast.counted, shown(sheet)))

    along = part.along
    for _ in range(EVENED):
        fit = SheetFit(over(sheet).contrast.part(early, window), slab, along, most)
        sheet = fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=NEARBY)
    along = refined_ratios(fit, sheet, most)
    if along != part.along:
        fit = fit.spreading(along)
        sheet = fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=NEARBY)
    now = weighing.again(over(sheet), sound)

    def stands_out(rest: Sheet, pixels: np.ndarray) -> bool:
        """Whether pixels (y, x) of the window stand out, or nearly, from what the rest of the sheet explains."""
        left = now.after(shown(rest)).left_over(now.looks)[(slice(None), *window)]
        return float(left[:, pixels].max()) >= now.threshold - settings.nearly

    sheet = shaped(fit, sheet, most, stands_out)
    sheet = second_look(fit, sheet, weighing.again(over(sheet), sound), shown, window, most)
    part_now = over(sheet)
    fit = SheetFit(part_now.contrast.part(every, window), slab, along, most)
    spreads = along[0] / part.along[0], along[1] / part.along[1]
    return FittedSheet(sheet, window, part_now, weighing.again(part_now, sound), fit, spreads)


def placed(values: np.ndarray, window: tuple[slice, slice], shape: tuple[int, ...]) -> np.ndarray:
    """Values (..., y, x) of a window in the whole frame, 0 elsewhere."""
    whole = np.zeros((*values.shape[:-2], *shape), dtype=values.dtype)
    whole[(..., *window)] = values
    return whole


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
