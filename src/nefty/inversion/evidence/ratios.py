"""How fast heat spreads along the part: the user's ratios are a prior, and the edges of what was found say more.

A sheet was fitted with the ratios of the material. How they should change follows from the slope of the misfit by the
logarithm of each ratio: at the best sheet that is the slope with the sheet held (the sheet's own change is of second
order). Two such steps, each with the sheet fitted again, give what the frames say. It counts by how well they say it,

    share = KNOWN^2 / (KNOWN^2 + SHOWN^2 + noise),

of the way from the user's ratio, in logarithms.
"""

from __future__ import annotations

import numpy as np

from nefty.inversion.evidence.sheets import Sheet, SheetFit

KNOWN = 0.2  # standard deviation of the logarithm of a user's ratio
SHOWN = 0.15  # of one that the edges show; 0.09 on nine parts whose ratio is 1 (decision 024)
NEAR = 0.05  # of the logarithm, over which slopes are taken
STEPS = 1  # that take the sheet along
AGAIN = 5  # runs of the heat model in a fit that begins near its end
REACH = 0.4  # of the logarithm in one step


def refined(fit: SheetFit, sheet: Sheet, owner: np.ndarray) -> tuple[tuple[float, float], Sheet]:
    """Ratios along y and x, and the sheet that goes with them; unchanged where the material is alike in all directions.

    Args:
        fit: with the user's ratios.
        sheet: fitted with them.
        owner: number, from 0, of the region that a pixel (y, x) belongs to.
    """
    if fit.along == (1.0, 1.0):
        return fit.along, sheet
    user = np.log(fit.along)
    moved, slopes, curve = np.zeros(2), *_slopes(fit, sheet)
    now = sheet
    for _ in range(STEPS):
        step = np.clip(-slopes / curve, -REACH, REACH)
        moved = moved + step
        other = fit.spreading(_ratios(user + moved))
        now = _again(other, now, owner)
        before, (slopes, curve) = slopes, _slopes(other, now)
        secant = np.divide(slopes - before, step, out=curve.copy(), where=np.abs(step) > NEAR / 10)
        curve = np.where(secant > 0, np.minimum(secant, curve), curve)
    moved = moved + np.clip(-slopes / curve, -REACH, REACH)
    noise = 2 * fit.misfit(sheet) / fit.contrast.values.size / curve
    best = fit.spreading(_ratios(user + moved * KNOWN**2 / (KNOWN**2 + SHOWN**2 + noise)))
    return best.along, _again(best, now, owner)


def _again(fit: SheetFit, sheet: Sheet, owner: np.ndarray) -> Sheet:
    """A sheet fitted again from where it is."""
    return fit.fit(sheet.support, sheet.insulation, sheet.depth, owner, steps=AGAIN)


def _ratios(logarithms: np.ndarray) -> tuple[float, float]:
    along = np.exp(logarithms)
    return float(along[0]), float(along[1])


def _slopes(fit: SheetFit, sheet: Sheet) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative of the misfit by the logarithm of each ratio, the sheet held; (y, x) each."""
    middle, first, second = fit.misfit(sheet), np.zeros(2), np.zeros(2)
    for axis in range(2):
        less, more = (fit.spreading(_shifted(fit.along, axis, by)).misfit(sheet) for by in (-NEAR, NEAR))
        first[axis] = (more - less) / (2 * NEAR)
        second[axis] = (more - 2 * middle + less) / NEAR**2
    return first, np.maximum(second, np.abs(first) / REACH + 1e-9)


def _shifted(along: tuple[float, float], axis: int, by: float) -> tuple[float, float]:
    return _ratios(np.log(along) + by * (np.arange(2) == axis))
