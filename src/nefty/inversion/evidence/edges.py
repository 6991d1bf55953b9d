"""Where a region ends: the outline within which an even sheet explains the frames best.

The fit of a sheet pays for edges, so of a deep region, which heat blurs, it makes one that is wide and weak. An even
sheet inside one of its contours has two unknowns instead, the contour and the insulation. Where it explains the frames
better than what was fitted pixel by pixel, with all the freedom that had, its outline is the better one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from nefty.inversion.evidence.bank import RANK
from nefty.inversion.evidence.hills import MIDDLE, around, hills_of, outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import MOST, Sheet, SheetFit

CONTOURS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of a hill's insulation
STRONGER = 5.0  # times what was fitted, that an even sheet may insulate
TRIES = 6  # values of the insulation in one outline
PRECISE = 0.02  # of the insulation that was fitted


def sharpened(fit: SheetFit, sheet: Sheet, settings: SheetSettings) -> Sheet:
    """The sheet with each hill replaced by an even one where that explains the frames better.

    Args:
        fit: of the window that the sheet lies in.
        sheet: as fitted.
        settings: numbers of the fit.
    """
    hills = hills_of(sheet, settings)
    for mask in outlines(sheet, settings):
        own = hills == np.bincount(hills[mask]).argmax()
        even = _even(fit, sheet, own, settings)
        if even is not None:
            insulation = np.where(own, even, sheet.insulation)
            resistance = sheet.reference / fit.slab.thickness * insulation / (1 - insulation)
            sheet = dataclasses.replace(sheet, insulation=insulation, resistance=resistance)
    return sheet


def _even(fit: SheetFit, sheet: Sheet, own: np.ndarray, settings: SheetSettings) -> np.ndarray | None:
    """The insulation (y, x) of the best even sheet in place of a hill, or ``None`` if what was fitted is better."""
    window = around(own, fit.contrast.pixel, settings.around * fit.slab.thickness)
    near, part = fit.cut(window), sheet.cut(window)
    best = best_even(near, part, own[window], settings, CONTOURS)
    freedom = own.sum() / (RANK * own[window].size)
    if best.misfit * (1 - freedom) >= near.misfit(part):
        return None
    whole = sheet.insulation.copy()
    whole[window] = best.insulation
    return whole


@dataclass(frozen=True, eq=False)
class Even:
    """An even sheet in place of a hill.

    Args:
        misfit: of all of the window.
        contour: that it fills.
        insulation: of the window with it, (y, x).
    """

    misfit: float
    contour: float
    insulation: np.ndarray


def best_even(
    fit: SheetFit, sheet: Sheet, hill: np.ndarray, settings: SheetSettings, contours: Sequence[float]
) -> Even:
    """The even sheet that explains the frames best.

    Args:
        fit: of a window around the hill.
        sheet: of that window.
        hill: its pixels, (y, x).
        settings: numbers of the fit.
        contours: to try.
    """
    top = float(np.quantile(sheet.insulation[hill], MIDDLE))

    def inside(contour: float) -> Even:
        mask = hill & (sheet.insulation > contour * top)
        if mask.sum() < settings.smallest:
            return Even(np.inf, contour, sheet.insulation)

        def even(c: float) -> np.ndarray:
            return np.where(hill, np.where(mask, c, 0.0), sheet.insulation)

        found: Any = minimize_scalar(
            lambda c: fit.misfit(dataclasses.replace(sheet, insulation=even(c))),
            bounds=(0.0, min(STRONGER * top, MOST)),
            method="bounded",
            options={"maxiter": TRIES, "xatol": PRECISE * top},
        )
        return Even(float(found.fun), contour, even(float(found.x)))

    return min((inside(contour) for contour in contours), key=lambda one: one.misfit)
