"""Where a region ends: the outline within which an even sheet explains the frames best.

The fit of a sheet pays for edges, so of a deep region, which heat blurs, it makes one that is wide and weak. An even
sheet inside one of its contours has two unknowns instead, the contour and the insulation. Where it explains the frames
better than what was fitted pixel by pixel, with all the freedom that had, its outline is the better one.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

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
    """The insulation (y, x) of the best even sheet in place of a hill, or ``None`` if what was fitted is better.

    Args:
        fit: of the whole window.
        sheet: as fitted.
        own: pixels (y, x) of the hill.
        settings: numbers of the fit.
    """
    window = around(own, fit.contrast.pixel, settings.around * fit.slab.thickness)
    near, part, hill = fit.cut(window), sheet.cut(window), own[window]
    top = float(np.quantile(part.insulation[hill], MIDDLE))

    def best(contour: float) -> tuple[float, np.ndarray]:
        """Misfit and insulation of the even sheet inside a contour."""
        inside = hill & (part.insulation > contour * top)
        if inside.sum() < settings.smallest:
            return np.inf, inside.astype(np.float64)

        def even(c: float) -> np.ndarray:
            return np.where(hill, np.where(inside, c, 0.0), part.insulation)

        found: Any = minimize_scalar(
            lambda c: near.misfit(dataclasses.replace(part, insulation=even(c))),
            bounds=(0.0, min(STRONGER * top, MOST)),
            method="bounded",
            options={"maxiter": TRIES, "xatol": PRECISE * top},
        )
        return float(found.fun), even(float(found.x))

    misfit, insulation = min((best(contour) for contour in CONTOURS), key=lambda one: one[0])
    if misfit >= near.misfit(part):
        return None
    whole = sheet.insulation.copy()
    whole[window] = insulation
    return whole
