"""What stands out once the clear regions are explained: a weak defect among strong ones.

Strong regions move what is typical of a frame, and a weak one beside them does not stand out from that. So the frames
are looked at once more, less what was fitted. The place that stands out most becomes a disc as its template has it,
is fitted as a shape, and the next one is looked for. Whether any of them is called is for the judge to say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.hills import outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.shapes import ShapeFit, near
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.inversion.evidence.weighing import Weighing
from nefty.result.frame_evidence import CLEAR

MOST = 8  # regions that a second look may add
WEAK = 0.1  # insulation that a disc begins with


def second_look(
    fit: SheetFit,
    sheet: Sheet,
    weighing: Weighing,
    shown: Callable[[Sheet], np.ndarray],
    window: tuple[slice, slice],
    settings: SheetSettings,
) -> Sheet:
    """The sheet with what stands out clearly beside it.

    Args:
        fit: of the window.
        sheet: as fitted so far, of the window.
        weighing: of the recording.
        shown: ln(T/T_sound) that a sheet explains, of the whole frame, (t, y, x).
        window: rows and columns of the frame.
        settings: numbers of the fit.
    """
    depths = [template.depth for template in weighing.looks.templates]
    diameters = [template.diameter for template in weighing.looks.templates]
    taken = [(mask, float(sheet.depth[mask].mean())) for mask in outlines(sheet, settings)]
    for _ in range(MOST):
        left = weighing.after(shown(sheet)).left_over(weighing.looks)[(slice(None), *window)]
        beside = np.zeros(sheet.support.shape, dtype=bool)
        for mask, depth in taken:
            beside |= _blurred(mask, depth, fit, settings.grown)
        left = np.where(beside, 0.0, left)
        which, row, column = (int(i) for i in np.unravel_index(left.argmax(), left.shape))
        if left[which, row, column] < CLEAR * weighing.threshold:
            break
        disc = _disc((row, column), diameters[which], fit, beside)
        one, place = _fitted(fit, sheet, disc, depths[which], settings, beside)
        before, sheet = sheet, sheet.pasted(place, one)
        taken.append((disc | (sheet.insulation != before.insulation), depths[which]))
    return sheet


def _blurred(mask: np.ndarray, depth: float, fit: SheetFit, least: int) -> np.ndarray:
    """Pixels (y, x) of a region and around it where what it shows is blurred: a small error of its outline stands out.

    Heat that comes from a depth spreads as far sideways, times the root of the ratio along that way.

    Args:
        mask: of the region, (y, x).
        depth: of it.
        fit: of the window.
        least: pixels around it, at least.
    """
    apart = [width / np.sqrt(ratio) for width, ratio in zip(fit.contrast.pixel, fit.along, strict=True)]
    far = np.asarray(ndimage.distance_transform_edt(~mask, sampling=apart))
    return (far <= depth) | np.asarray(ndimage.binary_dilation(mask, iterations=least), dtype=bool)


def _disc(place: tuple[int, int], diameter: float, fit: SheetFit, beside: np.ndarray) -> np.ndarray:
    """Pixels (y, x) of a disc around a place, without those that other regions have."""
    offsets = np.indices(beside.shape) - np.array(place)[:, None, None]
    distance = np.hypot(offsets[0] * fit.contrast.pixel[0], offsets[1] * fit.contrast.pixel[1])
    return (distance <= max(diameter / 2, *fit.contrast.pixel)) & ~beside


def _fitted(
    fit: SheetFit, sheet: Sheet, disc: np.ndarray, depth: float, settings: SheetSettings, beside: np.ndarray
) -> tuple[Sheet, tuple[slice, slice]]:
    """The sheet of a window around a disc, with the shape that explains the frames best in its place, apart from what
    other regions have.
    """
    window = near(disc, fit, settings)
    part, own = sheet.cut(window), disc[window]
    insulation = np.where(own, WEAK, part.insulation)
    at, reference = (np.where(own, depth, values) for values in (part.depth, part.reference))
    resistance = reference / fit.slab.thickness * insulation / (1 - insulation)
    begun = Sheet(part.support | own, insulation, at, reference, resistance, part.cost, np.where(own, 0.0, part.hole))
    one = ShapeFit(fit.cut(window), begun, own, settings, barred=beside[window])
    return one.sheet(one.best()), window
