"""How fast heat spreads along the part: the user's ratios are a prior, and the edges of what was found say more.

The clearest region is replaced by even sheets (``edges``), whose contour and insulation are found again for ratios that
are smaller and larger than stated. Even sheets have sharp edges, so what makes an edge soft in the frames is the heat
that spreads; a sheet that is fitted pixel by pixel, and pays for edges, would put it down to itself. The misfit is a
parabola of the logarithm of the ratios. Its lowest point counts by how well it is known,

    share = KNOWN^2 / (KNOWN^2 + SHOWN^2 + noise),

of the way from the user's ratios, both by the same factor.
"""

from __future__ import annotations

import numpy as np

from nefty.inversion.evidence.edges import CONTOURS, best_even
from nefty.inversion.evidence.hills import around, hills_of, outlines
from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import Sheet, SheetFit

KNOWN = 0.2  # standard deviation of the logarithm of a user's ratio
SHOWN = 0.2  # of one that the edges show, by twelve parts whose ratio is 1 (decision 024)
TRIED = (-0.4, -0.2, 0.0, 0.2, 0.4)  # logarithms of the factor
BESIDE = 1  # contours beside the best one that are tried with other ratios
REACH = 0.7  # of the logarithm


def refined(fit: SheetFit, sheet: Sheet, settings: SheetSettings) -> tuple[float, float]:
    """Ratios along y and x; those of the user where the material is alike in all directions or nothing was found.

    Args:
        fit: with the user's ratios.
        sheet: fitted with them.
        settings: numbers of the fit.
    """
    masks = outlines(sheet, settings)
    if fit.along == (1.0, 1.0) or not masks:
        return fit.along
    clearest, hills = max(masks, key=lambda mask: float(sheet.insulation[mask].sum())), hills_of(sheet, settings)
    own = hills == np.bincount(hills[clearest]).argmax()
    window = around(own, fit.contrast.pixel, settings.around * fit.slab.thickness)
    near, part, hill = fit.cut(window), sheet.cut(window), own[window]
    first = best_even(near, part, hill, settings, CONTOURS)
    place = CONTOURS.index(first.contour)
    contours = CONTOURS[max(place - BESIDE, 0) : place + BESIDE + 1]
    misfits = [best_even(_spreading(near, by), part, hill, settings, contours).misfit for by in TRIED]
    curve, slope, _ = np.polyfit(TRIED, misfits, 2)
    if curve <= 0:
        return fit.along
    noise = 2 * min(misfits) / near.contrast.values.size / (2 * curve)
    moved = float(np.clip(-slope / (2 * curve), -REACH, REACH)) * KNOWN**2 / (KNOWN**2 + SHOWN**2 + noise)
    return _spreading(fit, moved).along


def _spreading(fit: SheetFit, by: float) -> SheetFit:
    """The fit with ratios that differ by the factor exp(by)."""
    return fit.spreading((fit.along[0] * float(np.exp(by)), fit.along[1] * float(np.exp(by))))
