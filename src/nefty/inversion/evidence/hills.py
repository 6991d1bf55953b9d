"""The hills of a picture, and the outline of each: how a sheet falls into regions."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from scipy import ndimage
from skimage.morphology import h_maxima
from skimage.segmentation import watershed

from nefty.inversion.evidence.settings import SheetSettings
from nefty.inversion.evidence.sheets import Sheet

PRECISE = 0.7  # pixels over which a picture is smoothed to part its hills
TINY = 1e-6  # insulation that nothing shows
MIDDLE = 0.9  # quantile of a region's insulation that stands for its middle


def owners(sheet: Sheet, settings: SheetSettings) -> np.ndarray | None:
    """To which region each pixel belongs, from 0, (y, x): the nearest; ``None`` if there is none."""
    labels = np.zeros(sheet.support.shape, dtype=np.int64)
    for number, mask in enumerate(outlines(sheet, settings), 1):
        labels[mask] = number
    return nearest(labels) if labels.any() else None


def nearest(labels: np.ndarray) -> np.ndarray:
    """The number, from 0, of the region nearest to each pixel, (y, x)."""
    places = ndimage.distance_transform_edt(labels == 0, return_distances=False, return_indices=True)
    return labels[tuple(np.asarray(places))] - 1


def nearer(mask: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Pixels (y, x) that are nearer to some than to others; all if there are no others."""
    if not others.any():
        return np.ones(mask.shape, dtype=bool)
    to_mask, to_others = (np.asarray(ndimage.distance_transform_edt(~one)) for one in (mask, others))
    return to_mask < to_others


def around(mask: np.ndarray, pixel: tuple[float, float], reach: float) -> tuple[slice, slice]:
    """Rows and columns of the rectangle around pixels (y, x) that reaches so far beyond them.

    Args:
        mask: the pixels.
        pixel: edge lengths along y and x.
        reach: in the same unit.
    """
    slices = []
    for axis, step in enumerate(pixel):
        hit = np.flatnonzero(mask.any(axis=1 - axis))
        more = int(np.ceil(reach / step))
        slices.append(slice(max(int(hit[0]) - more, 0), min(int(hit[-1]) + more + 1, mask.shape[axis])))
    return slices[0], slices[1]


def parted(values: np.ndarray, within: np.ndarray, faint: np.ndarray | float, saddle: float) -> np.ndarray:
    """Numbers of the hills of a picture (y, x), from 1: the saddles between two lie far below both tops.

    Args:
        values: the picture.
        within: pixels (y, x) that belong to a hill.
        faint: values below half of it are all alike; one, or of each pixel (y, x).
        saddle: share of the lower of two tops below which the saddle between them parts them.
    """
    smooth = np.asarray(ndimage.gaussian_filter(values, PRECISE))
    logarithm = np.log(np.maximum(smooth, faint / 2))
    tops: Any = ndimage.label(h_maxima(logarithm, -log(saddle)))
    return np.asarray(watershed(-logarithm, np.asarray(tops[0]), mask=within))


def hills_of(sheet: Sheet, settings: SheetSettings) -> np.ndarray:
    """Numbers of the hills of the insulation, (y, x), from 1; 0 where there is none.

    What is fainter than ``settings.faint`` is none, but for a patch of the support that has nothing else: it stands out
    by its frames, however little it insulates.
    """
    patches: Any = ndimage.label(sheet.support)
    tops = np.asarray(ndimage.maximum(sheet.insulation, patches[0], np.arange(patches[1] + 1)))
    faint = np.minimum(settings.faint, settings.contour * tops)[patches[0]]
    return parted(
        sheet.insulation, sheet.support & (sheet.insulation > faint), np.maximum(faint, TINY), settings.saddle
    )


def outlines(sheet: Sheet, settings: SheetSettings) -> list[np.ndarray]:
    """Pixels (y, x) of each hill of the insulation, within its contour; saddles between two lie far below them."""
    hills, found = hills_of(sheet, settings), []
    for name in range(1, int(hills.max(initial=0)) + 1):
        own = hills == name
        if not own.any():
            continue
        mask = own & (sheet.insulation > settings.contour * np.quantile(sheet.insulation[own], MIDDLE))
        if mask.sum() >= settings.smallest:
            found.append(mask)
    return found
