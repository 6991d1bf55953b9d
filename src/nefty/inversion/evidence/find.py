"""From the contrast of a recording to what is in the part: look, fit a sheet, and ask of each region whether it stays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.inversion.evidence.bank import Template
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.matched_filter import matched_filter
from nefty.inversion.evidence.search import Looks, look
from nefty.inversion.evidence.sheets import Sheet, SheetFit
from nefty.physics.slab.weak_sheet import WeakSheet

DOUBT = 0.1  # share of the contrast of a sheet that its fit may err by, around it
LEAST = 4.0  # scores from which on pixels may have a sheet under them
SHALLOW, DEEP = 0.06, 0.93  # of the thickness, between which depths begin
CONTOUR = 0.5  # of the insulation in the middle of a region, where its edge lies
FAINT = 0.05  # insulation that is none
SMALLEST = 3  # pixels of a region
LATEST = 1.2  # Fourier number until which a sheet is fitted
AROUND = 2.0  # thicknesses beside the support that are fitted along


@dataclass(frozen=True, eq=False)
class Region:
    """A connected sheet of resistance.

    Args:
        mask: its pixels, (y, x).
        depth: of its middle.
        resistance: R/(thickness/alpha), of its middle.
        insulation: of its middle.
        score: how many standard deviations it stands out, with all other regions explained.
    """

    mask: np.ndarray
    depth: float
    resistance: float
    insulation: float
    score: float


@dataclass(frozen=True, eq=False)
class Found:
    """Args:
    looks: of the recording as it is.
    regions: the clearest first, whether they stand out enough or not.
    sheet: that was fitted; ``None`` where nothing stands out.
    """

    looks: Looks
    regions: list[Region]
    sheet: Sheet | None


def find(contrast: Contrast, templates: list[Template], slab: WeakSheet, along: tuple[float, float]) -> Found:
    """What the frames show.

    Args:
        contrast: of the recording.
        templates: of the bank.
        slab: the sound part.
        along: diffusivity along y and x over that through the thickness.
    """
    looks = look(contrast, templates, slab.thickness)
    if looks.map.max() < LEAST:
        return Found(looks, [], None)
    support = np.asarray(ndimage.binary_dilation(looks.map >= LEAST, iterations=2)) & contrast.counted
    window = _window(support, contrast.pixel, AROUND * slab.thickness)
    early = contrast.times <= max(
        LATEST * slab.thickness**2 / slab.alpha, contrast.times[min(9, len(contrast.times) - 1)]
    )
    fit = SheetFit(contrast.part(early, window), slab, along)
    insulation, depth = _start(looks, support, slab.thickness)
    sheet = fit.fit(support[window], insulation[window], depth[window])
    whole = SheetFit(contrast.part(np.ones(len(contrast.times), bool), window), slab, along)
    regions = _regions(sheet)
    regions = [_scored(region, regions, sheet, whole, contrast, looks, window) for region in regions]
    return Found(looks, sorted(regions, key=lambda r: -r.score), sheet)


def _window(support: np.ndarray, pixel: tuple[float, float], around: float) -> tuple[slice, slice]:
    """The rectangle around the support, as wide beside it as heat spreads."""
    slices = []
    for axis, step in enumerate(pixel):
        hit = np.flatnonzero(support.any(axis=1 - axis))
        more = int(np.ceil(around / step))
        slices.append(slice(max(int(hit[0]) - more, 0), min(int(hit[-1]) + more + 1, support.shape[axis])))
    return slices[0], slices[1]


def _start(looks: Looks, support: np.ndarray, thickness: float) -> tuple[np.ndarray, np.ndarray]:
    """Insulation and depth to begin with: of the template that fits best, smoothed by how clearly it does."""
    scores = looks.map
    depth = np.array([t.depth for t in looks.templates])[looks.scores.argmax(axis=0)]
    clear = np.where(scores >= LEAST, scores, 0.0) ** 2
    weight = ndimage.gaussian_filter(clear, 2.0)
    smooth = np.exp(ndimage.gaussian_filter(clear * np.log(depth), 2.0) / np.maximum(weight, 1e-30))
    nearest = ndimage.distance_transform_edt(
        weight <= 1e-12 * weight.max(), return_distances=False, return_indices=True
    )
    smooth = smooth[tuple(np.asarray(nearest))]
    insulation = np.where(scores > 0.3 * ndimage.maximum_filter(scores, 9), 0.3, 0.02) * support
    return insulation, np.clip(smooth, SHALLOW * thickness, DEEP * thickness)


def _regions(sheet: Sheet) -> list[Region]:
    """Connected pixels that insulate, within the contour of each."""
    parts, number = ndimage.label(sheet.insulation > FAINT)
    found = []
    for name in range(1, int(number) + 1):
        own = np.asarray(parts) == name
        middle = float(np.quantile(sheet.insulation[own], 0.9))
        mask = own & (sheet.insulation > CONTOUR * middle)
        if mask.sum() < SMALLEST:
            continue
        weight = np.where(mask, sheet.insulation, 0.0)
        depth = float((weight * sheet.depth).sum() / weight.sum())
        found.append(Region(mask, depth, float(np.median(sheet.resistance[mask])), middle, 0.0))
    return found


def _scored(
    region: Region,
    regions: list[Region],
    sheet: Sheet,
    fit: SheetFit,
    contrast: Contrast,
    looks: Looks,
    window: tuple[slice, slice],
) -> Region:
    """With its score: what its template shows over the scatter, when all other regions are explained.

    What the others explain is known to a share only, so near a strong one a weak one has to stand out more.
    """
    own = ndimage.binary_dilation(region.mask, iterations=2)
    others = np.zeros(contrast.values.shape)
    if len(regions) > 1:
        others[(slice(None), *window)] = fit.explained(sheet, ~np.asarray(own))
    left, _ = matched_filter(
        dataclasses.replace(contrast, values=(contrast.values - others) * contrast.counted), looks.templates
    )
    about, _ = matched_filter(dataclasses.replace(contrast, values=others * contrast.counted), looks.templates)
    scatter = looks.scatter
    score = (left - scatter.middle) / np.hypot(scatter.spread, DOUBT * about)
    mask = np.zeros(contrast.counted.shape, dtype=bool)
    mask[window] = region.mask
    return dataclasses.replace(region, mask=mask, score=float(score[:, mask].max()))
