"""A region of the first fit, moved, stretched and turned until it explains other frames best: one warm run.

The unknowns and their priors are those of ``evidence.shapes``: centre, half axes, angle, insulation, depth, and of the
clearest region the ratio by which heat spreads along the part. The outline is that of the first fit, whatever its
shape. Slopes are taken once, at the first fit, and mended by each step (Broyden), so a refit costs a dozen runs of the
heat model. The prior is drawn too, around the first fit: minimising a misfit to drawn frames and a drawn prior gives
draws of the posterior where the model is linear (Bardsley et al., SIAM J. Sci. Comput. 36, 2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.bank import RANK
from nefty.inversion.evidence.hills import nearer
from nefty.inversion.evidence.shapes import HOLE, RATIO_STEP, SMALLEST, STRONGEST, WEAKEST, prior_widths
from nefty.inversion.evidence.shapes import STEPS as STEPS_OF_SHAPES
from nefty.inversion.evidence.sheets import EMPTY, MOST, Sheet, SheetFit

STEPS = np.append(STEPS_OF_SHAPES, RATIO_STEP)  # of differences
LONGEST = np.array([3.0, 3.0, 0.5, 0.5, 0.8, 1.5, 3.0, 0.4])  # of a step
INSULATION, DEPTH, RATIO = 5, 6, 7  # places of unknowns
ROUNDED = 0.02  # of its spread, to which single precision knows what a value leaves unexplained
HALVINGS = 3.0  # by which a step that explains less is shortened


@dataclass(frozen=True, eq=False)
class Outline:
    """A region of the first fit.

    Args:
        mask: its pixels (y, x) in the window.
        window: rows and columns of the frame in which its heat is felt.
        start: its unknowns: row and column of the centre in pixels of the window, logarithms of the half axes in
            pixels, angle of the first of them from x to y, logit of insulation/``MOST``, depth in cells of the sheet's
            model.
        hole: whether it is open to the back; its insulation is then no unknown.
    """

    mask: np.ndarray
    window: tuple[slice, slice]
    start: np.ndarray
    hole: bool

    @staticmethod
    def of(mask: np.ndarray, window: tuple[slice, slice], insulation: float, cells: float, *, hole: bool) -> Outline:
        """From pixels of the window, with an even insulation, so many cells deep."""
        rows, columns = np.nonzero(mask)
        moments = np.cov(np.stack([columns, rows])) if len(rows) > 2 else np.eye(2)
        size, turned = np.linalg.eigh(moments + np.eye(2) / 12)  # a pixel has an extent of its own
        short, long = 2 * np.sqrt(size)
        c = HOLE if hole else float(np.clip(insulation, 1e-3, 0.98 * MOST))
        angle = np.arctan2(turned[1, 1], turned[0, 1])
        start = [rows.mean() + 0.5, columns.mean() + 0.5, np.log(long), np.log(short), angle]
        return Outline(mask, window, np.array([*start, np.log(c / (MOST - c)), cells]), hole)

    def moved(self, x: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Unknowns that are moved as much from the first fit as ``x`` is from where that came to rest; depths by the
        same share. So members lie around what is reported.
        """
        found = self.start + x - rest
        found[DEPTH] = self.start[DEPTH] * x[DEPTH] / rest[DEPTH]
        return found

    def covered(self, x: np.ndarray) -> np.ndarray:
        """The share of each pixel (y, x) of the window that it covers, with the unknowns ``x``."""
        first, cells = self.start, np.indices(self.mask.shape) + 0.5
        y, across_x = cells[0] - x[0], cells[1] - x[1]
        along = (np.cos(x[4]) * across_x + np.sin(x[4]) * y) * np.exp(first[2] - x[2])
        across = (np.cos(x[4]) * y - np.sin(x[4]) * across_x) * np.exp(first[3] - x[3])
        row = first[0] + np.sin(first[4]) * along + np.cos(first[4]) * across
        column = first[1] + np.cos(first[4]) * along - np.sin(first[4]) * across
        return ndimage.map_coordinates(self.mask.astype(np.float64), [row - 0.5, column - 0.5], order=1)


def insulation_of(x: np.ndarray) -> float:
    """c of unknowns."""
    return MOST / (1 + float(np.exp(-x[INSULATION])))


def with_region(sheet: Sheet, outline: Outline, x: np.ndarray, cell: float, thickness: float) -> Sheet:
    """A sheet of the window with the region in place of what its first outline held.

    Args:
        sheet: of the window.
        outline: of the region.
        x: its unknowns.
        cell: height of a cell of the sheet's model.
        thickness: of the part.
    """
    covered = outline.covered(x)
    own = covered > 0
    insulation = np.where(outline.mask, 0.0, sheet.insulation)
    insulation = np.where(own, np.maximum(covered * insulation_of(x), insulation), insulation)
    near = own | nearer(outline.mask, (sheet.insulation > 0) & ~outline.mask)
    depth, reference = (np.where(near, x[DEPTH] * cell, values) for values in (sheet.depth, sheet.reference))
    resistance = reference / thickness * insulation / (1 - insulation)
    hole = np.where(own, EMPTY * outline.hole * covered, np.where(outline.mask, 0.0, sheet.hole))
    return Sheet(sheet.support | own, insulation, depth, reference, resistance, sheet.cost, hole)


@dataclass(frozen=True, eq=False)
class Refit:
    """What a warm run found: unknowns, and the mean square of what is left over its spread."""

    unknowns: np.ndarray
    misfit: float


def refit(
    fit: SheetFit,
    sheet: Sheet,
    outline: Outline,
    begin: np.ndarray,
    centre: np.ndarray,
    *,
    layers: int,
    trials: int,
    ratio: tuple[float, float] | None = None,
) -> Refit:
    """Let a region explain the frames of a window.

    Args:
        fit: of the window.
        sheet: of the window, with all other regions.
        outline: of the region.
        begin: unknowns to begin with.
        centre: of the prior, (5,).
        layers: cells of the sheet's model along z.
        trials: runs after the slopes.
        ratio: mean and standard deviation of the logarithm of the ratio's factor, where that is an unknown too.
    """
    n = len(begin) + (ratio is not None)
    widths = prior_widths(begin, fit, layers, hole=outline.hole)
    widths = np.append(widths, ratio[1] if ratio is not None else [])
    middle = np.concatenate([centre, begin[INSULATION:7], [ratio[0]] if ratio is not None else []])
    start = np.append(begin, [0.0] if ratio is not None else [])
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    low[2:4], low[5:7], high[5:7] = np.log(SMALLEST), (WEAKEST, 1.0), (STRONGEST, layers - 1.0)
    cell, thickness = fit.slab.thickness / layers, fit.slab.thickness
    start = np.clip(start, low, high)

    def left(x: np.ndarray) -> np.ndarray:
        spreading = fit
        if ratio is not None and x[RATIO] != 0:
            spreading = fit.spreading((fit.along[0] * np.exp(x[RATIO]), fit.along[1] * np.exp(x[RATIO])))
        return spreading.left(with_region(sheet, outline, x, cell, thickness))

    here = left(start)
    contrast = fit.contrast
    patch = thickness**2 / (contrast.pixel[0] * contrast.pixel[1])
    independent = RANK * contrast.counted.sum() / max(patch, 1.0)
    weight = float(np.sqrt(independent / max(float(here @ here), ROUNDED**2 * here.size)))

    def residuals(x: np.ndarray, unexplained: np.ndarray) -> np.ndarray:
        return np.concatenate([weight * unexplained, (x - middle) / widths])

    now, x = residuals(start, here), start
    sides = np.where(x + STEPS[:n] < high, STEPS[:n], -STEPS[:n])
    moved = (x + side * e for side, e in zip(sides, np.eye(n), strict=True))
    slopes = np.stack([(residuals(m, left(m)) - now) / s for m, s in zip(moved, sides, strict=True)], axis=1)
    length = 1.0
    for _ in range(trials):
        step = np.linalg.lstsq(slopes, -now, rcond=None)[0]
        step = length * np.clip(step, -LONGEST[:n], LONGEST[:n])
        trial = np.clip(x + step, low, high)
        step = trial - x
        if not step.any():
            break
        there = residuals(trial, left(trial))
        scaled = step / STEPS[:n] ** 2
        slopes = slopes + np.outer(there - now - slopes @ step, scaled / (scaled @ step))
        if there @ there < now @ now:
            x, now, length = trial, there, 1.0
        else:
            length /= HALVINGS
    values = max(int(contrast.counted.sum()) * len(contrast.times), 1)
    return Refit(x, float(((now[:-n] / weight) ** 2).sum()) / values)
