"""The defects: where, how deep, how large."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.core.grid import Grid
from nefty.result.indications.components import seam
from nefty.result.indications.crossings import extent, first_crossing
from nefty.result.indications.segmentation import Segmentation

#: The core of a footprint: pixels at least this share of the largest distance away from its edge.
CORE = 0.6
#: Cells on each side of a defect within which its lateral edges are looked for.
BESIDE = 8


@dataclass(frozen=True)
class Indication:
    """One connected region of low diffusivity.

    Lengths are in the grid's unit; z counts from the front face, y and x from the outer corner of the first pixel.
    Edges lie where log(alpha/background) is half of what it is in the defect, interpolated between cell centres.

    Args:
        label: its number in ``Segmentation.labels``, from 1; the largest volume first.
        centre: (z, y, x).
        depth_to_top: of its core, the middle of its footprint.
        depth_spread: how much the depth of the top differs within the core: half of the range that holds 68 % of it.
        depth_blur: over which the top of the core is smeared: from a quarter to three quarters of the way down to the
            lowest log(alpha/background).
        depth_to_centre: half way between top and bottom; ``centre[0]``.
        thickness: from top to bottom of its core.
        size_y: extent along y.
        size_x: extent along x.
        diameter: of the disc with the same area.
        area: of its footprint, the pixels that have its cells under them.
        volume: of its cells.
        alpha_mean: mean diffusivity of its cells.
        alpha_min: the lowest of them.
        contrast: mean of 1 - alpha/background over its cells; 1 is a perfect insulator.
        cells: how many.
        reaches_back: it goes on to the back face: a flat-bottom hole, or, under a shallow defect, an artefact
            (paper, appendix G.7).
        evidence: standard deviations by which the frames show it; NaN where that was not weighed.
        resistance: thermal resistance of its middle, the integral of 1/alpha - 1/background through it. Of a result
            in metres it is in m2K/W, and NaN where the material's density and specific heat are not known; of one
            without units, and from ``find_indications``, in time over length. NaN for a hole.
        gap_air: thickness in m of still air that has this resistance.
        gap_polymer: of a polymer film that has it; NaN in a part that conducts no better than that.
    """

    label: int
    centre: tuple[float, float, float]
    depth_to_top: float
    depth_spread: float
    depth_blur: float
    depth_to_centre: float
    thickness: float
    size_y: float
    size_x: float
    diameter: float
    area: float
    volume: float
    alpha_mean: float
    alpha_min: float
    contrast: float
    cells: int
    reaches_back: bool
    evidence: float = math.nan
    resistance: float = math.nan
    gap_air: float = math.nan
    gap_polymer: float = math.nan


def find_indications(alpha: np.ndarray, background: np.ndarray, grid: Grid, found: Segmentation) -> list[Indication]:
    """Measure every defect of a segmentation, the largest first.

    Args:
        alpha: diffusivity, (z, y, x).
        background: diffusivity without defects, (z,).
        grid: the cells.
        found: which cells are defect.
    """
    boxes = ndimage.find_objects(found.labels)
    return [_measure(name, box, alpha, background, grid, found) for name, box in enumerate(boxes, start=1)]


def _measure(
    name: int,
    box: tuple[slice, ...],
    alpha: np.ndarray,
    background: np.ndarray,
    grid: Grid,
    found: Segmentation,
) -> Indication:
    own = found.labels[box] == name
    iy, ix = (_around(box[axis], own, axis, grid.shape[axis], found.periodic) for axis in (1, 2))
    window = np.s_[:, (iy % grid.shape[1])[:, None], ix % grid.shape[2]]
    labels, ratio = found.labels[window], alpha[window] / background[:, None, None]
    region = labels == name
    profile = np.where(region | (labels == 0), np.log(ratio), 0)  # other defects count as background

    (dz, dy, dx), cells = grid.spacing, int(region.sum())
    middle = core(region.any(axis=0), (dy, dx))
    depths = np.where(region | (labels == 0), found.depth_profile(ratio), 0)[:, middle]
    top, bottom = _through_thickness(depths, region[:, middle])
    y, x = (_lateral(profile, region, axis) for axis in (1, 2))
    lacking = np.where(region | (labels == 0), (1 / ratio - 1) / background[:, None, None], 0)
    missing = np.where(region, -profile, 0).clip(min=0).sum(axis=0)
    row, column = ndimage.center_of_mass(missing if missing.any() else region.any(axis=0))  # a sheet may be in no cell
    centre = (
        dz * (top + bottom) / 2,
        dy * float((iy[0] + row + 0.5) % grid.shape[1]),
        dx * float((ix[0] + column + 0.5) % grid.shape[2]),
    )
    area = float(region.any(axis=0).sum()) * dy * dx
    return Indication(
        label=name,
        centre=centre,
        depth_to_top=dz * top,
        depth_spread=dz * _spread(depths, region[:, middle]),
        depth_blur=dz * _blur(depths, region[:, middle]),
        depth_to_centre=centre[0],
        thickness=dz * (bottom - top),
        size_y=dy * (y[1] - y[0]),
        size_x=dx * (x[1] - x[0]),
        diameter=math.sqrt(4 * area / math.pi),
        area=area,
        volume=cells * dz * dy * dx,
        alpha_mean=float(alpha[window][region].mean(dtype=np.float64)),
        alpha_min=float(alpha[window][region].min()),
        contrast=1 - float(ratio[region].mean(dtype=np.float64)),
        cells=cells,
        reaches_back=bottom >= len(profile),
        resistance=math.nan if bottom >= len(profile) else dz * _resistivity(lacking[:, middle]),
    )


def _around(box: slice, own: np.ndarray, axis: int, cells: int, periodic: bool) -> np.ndarray:
    """Indices along ``axis`` of a defect and the cells beside it; on a periodic plate they may lie outside of it."""
    start, length = box.start, box.stop - box.start
    if not periodic:
        return np.arange(max(start - BESIDE, 0), min(start + length + BESIDE, cells))
    if length == cells:
        occupied = np.asarray(own.any(axis=tuple(a for a in range(3) if a != axis)))
        start = seam(occupied)
        length = int(np.flatnonzero(np.roll(occupied, -start))[-1]) + 1
    beside = min(BESIDE, (cells - length) // 2)
    return np.arange(start - beside, start + length + beside)


def core(footprint: np.ndarray, spacing: tuple[float, float]) -> np.ndarray:
    """The pixels (y, x) in the middle of a footprint, which its edges blur least."""
    distance = ndimage.distance_transform_edt(np.pad(footprint, 1), sampling=spacing)[1:-1, 1:-1]  # pyright: ignore
    return np.asarray(distance >= CORE * distance.max())


def _through_thickness(profile: np.ndarray, region: np.ndarray) -> tuple[float, float]:
    """Top and bottom, in cells, of the mean profile of the columns of the core, (cells, columns)."""
    mean, inside = profile.mean(axis=1), np.asarray(region.any(axis=1))
    lowest = mean[inside].min()
    if lowest >= 0:  # scatter that the paper's rule takes for a defect
        return float(np.argmax(inside)), float(len(inside) - np.argmax(inside[::-1]))
    return extent(mean, inside, lowest / 2)


def _resistivity(lacking: np.ndarray) -> float:
    """Sum of 1/alpha - 1/background along z in the median column of the core, (cells, columns)."""
    return float(np.median(lacking.sum(axis=0, dtype=np.float64)))


def _blur(profile: np.ndarray, region: np.ndarray) -> float:
    """Between the first crossings of a quarter and of three quarters of the lowest mean value, in cells."""
    mean, inside = profile.mean(axis=1), np.asarray(region.any(axis=1))
    lowest = min(float(mean[inside].min()), 0.0)
    early, late = (extent(mean, inside, share * lowest)[0] for share in (0.25, 0.75))
    return late - early


def _spread(profile: np.ndarray, region: np.ndarray) -> float:
    """Half of the central 68 % of the tops of the single columns, in cells."""
    lowest = np.where(region, profile, 0).min(axis=0)
    known = lowest < 0
    if not known.any():
        return 0.0
    tops = first_crossing(profile[:, known], region[:, known], lowest[known] / 2)
    low, high = np.percentile(tops, (16, 84))
    return float(high - low) / 2


def _lateral(profile: np.ndarray, region: np.ndarray, axis: int) -> tuple[float, float]:
    """First and last edge along ``axis``, in cells: of the lowest value in each row, half of what is usual inside."""
    others = tuple(a for a in range(3) if a != axis)
    lowest = profile
    for other in others:
        rows = np.flatnonzero(region.any(axis=tuple(a for a in range(3) if a != other)))
        lowest = lowest.take(range(rows[0], rows[-1] + 1), axis=other)
    lowest, inside = lowest.min(axis=others), np.asarray(region.any(axis=others))
    return extent(lowest, inside, float(np.median(lowest[inside])) / 2)
