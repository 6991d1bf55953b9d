"""Size of a defect seen in a map: full width at half maximum along its two principal axes, and area.

The map is anything that stands out where the defect is: a thermal contrast, a phase, or ``deficit_map`` of a volume.
Everything is measured against the local sound level, at half of the peak above (or below) it. Maps are not periodic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage
from skimage.measure import find_contours

from nefty.core.checks import number
from nefty.core.errors import InputError

#: Points per pixel along a profile; between them the crossing is interpolated.
FINENESS = 4


@dataclass(frozen=True)
class DefectSize:
    """One defect in a map. Lengths are in the unit of the spacing; NaN where the half maximum lies outside of the map.

    Args:
        centre: (y, x), mean position of what is above half maximum, from the outer corner of the first pixel.
        fwhm: full width at half maximum along the longer and the shorter principal axis, through the centre.
        angle: of the longer axis, in degrees from x towards y, above -90 and up to 90.
        area: within the contour at half maximum, holes included.
        diameter: of the disc with that area.
        peak: the map's value at the peak.
        sound: the local sound level.
    """

    centre: tuple[float, float]
    fwhm: tuple[float, float]
    angle: float
    area: float
    diameter: float
    peak: float
    sound: float


def deficit_map(alpha: Any, background: Any) -> np.ndarray:
    """Mean over depth of 1 - alpha/background, (y, x): 0 where sound, towards 1 for a thick insulator.

    Args:
        alpha: diffusivity, (z, y, x).
        background: diffusivity without defects, (z,).
    """
    alpha, background = np.asarray(alpha, dtype=np.float64), np.asarray(background, dtype=np.float64)
    if alpha.ndim != 3 or background.shape != alpha.shape[:1]:
        raise InputError(
            f"alpha has shape {alpha.shape} and background {background.shape}; give (z, y, x) and one value per layer."
        )
    return 1 - (alpha / background[:, None, None]).mean(axis=0)


def size_of_mask(mask: np.ndarray, spacing: tuple[float, float]) -> DefectSize:
    """Size of a defect whose pixels are known: axes of the ellipse with its area and its ratio of second moments.

    Args:
        mask: its pixels, (y, x).
        spacing: edge lengths (dy, dx) of a pixel.
    """
    dy, dx = spacing
    centre, axes = _principal(mask.astype(np.float64), spacing)
    area = float(mask.sum()) * dy * dx
    offsets = (np.argwhere(mask) - centre) * np.array(spacing)
    # A pixel has an extent of its own, which keeps a line of them from having no width.
    wide, narrow = (
        math.sqrt(float(np.square(offsets @ axis).mean()) + float(np.square(axis * spacing).sum()) / 12)
        for axis in axes
    )
    scale = math.sqrt(4 * area / math.pi / (wide * narrow))
    return DefectSize(
        centre=(float((centre[0] + 0.5) * dy), float((centre[1] + 0.5) * dx)),
        fwhm=(scale * wide, scale * narrow),
        angle=_angle(axes[0]),
        area=area,
        diameter=math.sqrt(4 * area / math.pi),
        peak=1.0,
        sound=0.0,
    )


def size_defects(
    values: Any, labels: Any, spacing: tuple[float, float], *, sound: float | None = None
) -> list[DefectSize]:
    """Size every defect of a map; the others do not count as sound.

    Args:
        values: the map, (y, x).
        labels: (y, x), 0 where sound, and the number of the defect elsewhere.
        spacing: edge lengths (dy, dx) of a pixel, such as ``grid.spacing[1:]``.
        sound: see ``size_defect``.
    """
    labels = np.asarray(labels)
    if not np.issubdtype(labels.dtype, np.integer):
        raise InputError(f"labels must be whole numbers, got {labels.dtype}; number the defects from 1.")
    names = np.unique(labels[labels > 0])
    return [size_defect(values, labels == n, spacing, sound=sound, others=labels > 0) for n in names]


def size_defect(
    values: Any,
    mask: Any,
    spacing: tuple[float, float],
    *,
    sound: float | None = None,
    peak: float | None = None,
    others: Any = None,
) -> DefectSize:
    """Size a defect of a map.

    Args:
        values: the map, (y, x); NaN where it is not known.
        mask: (y, x), roughly where the defect is: its peak lies in it.
        spacing: edge lengths (dy, dx) of a pixel.
        sound: the sound level; if not given, the median of a ring around the mask, one to two of its diameters away.
        peak: the defect's value, if not that of the pixel that is furthest from sound; of use where noise has peaks of
            its own.
        others: (y, x), pixels that are not sound, such as other defects.
    """
    values, mask, others = _checked(values, mask, others)
    dy, dx = (number(f"spacing along {axis}", d, above=0) for axis, d in zip("yx", spacing, strict=True))
    sound = _ring_level(values, mask, others, (dy, dx)) if sound is None else number("sound", sound)
    rise = values - sound
    inside = np.flatnonzero(mask & np.isfinite(values))
    summit = int(inside[np.argmax(np.abs(rise.flat[inside]))])
    height = float(rise.flat[summit]) if peak is None else number("peak", peak) - sound
    if height == 0 or rise.flat[summit] / height < 0.5:
        raise InputError(
            f"no pixel of the defect reaches half way from the sound level {sound:g} to the peak {sound + height:g}; "
            "check the mask, the sound level and the peak."
        )
    share = rise / height  # 0 where sound, 1 at the peak, whatever the sign
    region = _region(share, np.unravel_index(summit, share.shape))
    centre, axes = _principal(np.where(region, share - 0.5, 0), (dy, dx))
    area = _contour_area(share, region) * dy * dx
    widths = [_width(share, centre, axis / np.array([dy, dx])) for axis in axes]
    return DefectSize(
        centre=(float((centre[0] + 0.5) * dy), float((centre[1] + 0.5) * dx)),
        fwhm=(widths[0], widths[1]),
        angle=_angle(axes[0]),
        area=area,
        diameter=math.sqrt(4 * area / math.pi),
        peak=sound + height,
        sound=sound,
    )


def _checked(values: Any, mask: Any, others: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values, mask = np.asarray(values, dtype=np.float64), np.asarray(mask)
    others = np.zeros(mask.shape, dtype=bool) if others is None else np.asarray(others)
    if values.ndim != 2:
        raise InputError(f"the map has shape {values.shape}; give one value per pixel, (y, x).")
    for what, given in (("mask", mask), ("others", others)):
        if given.dtype != bool or given.shape != values.shape:
            raise InputError(
                f"{what} has shape {given.shape} and type {given.dtype}; give booleans of the shape {values.shape}."
            )
    if np.isinf(values).any():
        raise InputError("the map holds infinity; mark unknown pixels with NaN.")
    if not np.isfinite(values[mask]).any():
        raise InputError(f"the mask holds {mask.sum()} pixels and none with a value; there is no defect to size.")
    return values, mask, others


def sound_ring(mask: np.ndarray, spacing: tuple[float, float]) -> np.ndarray:
    """Pixels (y, x) that are one to two diameters of the mask away from it, where the sound level is looked for."""
    diameter = _diameter(mask, spacing)
    distance = np.asarray(ndimage.distance_transform_edt(~mask, sampling=spacing))
    return (distance >= diameter) & (distance <= 2 * diameter)


def _diameter(mask: np.ndarray, spacing: tuple[float, float]) -> float:
    return math.sqrt(4 * mask.sum() * spacing[0] * spacing[1] / math.pi)


def _ring_level(values: np.ndarray, mask: np.ndarray, others: np.ndarray, spacing: tuple[float, float]) -> float:
    """Median of the sound pixels in the ring around the mask."""
    ring = sound_ring(mask, spacing) & ~others & np.isfinite(values)
    if not ring.any():
        diameter = _diameter(mask, spacing)
        raise InputError(
            f"there is no sound pixel between {diameter:.3g} and {2 * diameter:.3g} away from the defect; give its "
            "sound level as sound=, or a smaller mask."
        )
    return float(np.median(values[ring]))


def _region(share: np.ndarray, summit: tuple[Any, ...]) -> np.ndarray:
    """The pixels at half maximum or above that hang together with the peak, by their edges."""
    labels, _ = ndimage.label(share >= 0.5)  # pyright: ignore[reportGeneralTypeIssues]
    return labels == labels[summit]


def _principal(weights: np.ndarray, spacing: tuple[float, float]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Centre of mass in pixels, and unit vectors (y, x) along the longer and the shorter axis, in length units."""
    rows, columns = np.nonzero(weights > 0)
    if len(rows) == 0:  # all of it exactly at half maximum
        rows, columns = np.nonzero(weights == weights.max())
    mass = np.maximum(weights[rows, columns], 1e-300)
    points = np.stack([rows, columns]).astype(np.float64)
    centre = points @ mass / mass.sum()
    offsets = (points - centre[:, None]) * np.array(spacing)[:, None]
    _, vectors = np.linalg.eigh((offsets * mass) @ offsets.T / mass.sum())
    return centre, [vectors[:, 1], vectors[:, 0]]


def _angle(axis: np.ndarray) -> float:
    """Of an axis (y, x), in degrees from x towards y, above -90 and up to 90."""
    return 90 - (90 - math.degrees(math.atan2(axis[0], axis[1]))) % 180


def _width(share: np.ndarray, centre: np.ndarray, step: np.ndarray) -> float:
    """Distance between the half-maximum crossings on both sides of the centre; NaN if one is not in the map.

    Args:
        share: the map.
        centre: (y, x) in pixels.
        step: pixels (y, x) per unit of length along the axis.
    """
    fine = 1 / (FINENESS * float(np.linalg.norm(step)))  # length of a step of a quarter of a pixel
    along = np.arange(FINENESS * (math.ceil(math.hypot(*share.shape)) + 1)) * fine
    total = 0.0
    for way in (1, -1):
        points = centre[:, None] + way * step[:, None] * along
        profile = ndimage.map_coordinates(share, points, order=1, mode="constant", cval=math.nan)
        low = np.flatnonzero(~(profile >= 0.5))  # below half maximum, or unknown
        last = int(low[0]) if len(low) else 0
        if last == 0 or math.isnan(profile[last]):
            return math.nan
        high, under = profile[last - 1], profile[last]
        total += float(along[last - 1] + fine * (high - 0.5) / (high - under))
    return total


def _contour_area(share: np.ndarray, region: np.ndarray) -> float:
    """Area in pixels within the contour at half maximum around the region; NaN if it is not closed."""
    if region[[0, -1]].any() or region[:, [0, -1]].any():
        return math.nan
    unknown = ndimage.binary_dilation(region, np.ones((3, 3))) & np.isnan(share)
    if unknown.any():
        return math.nan
    alone = np.where(region | ~(share >= 0.5), share, 0)  # other regions do not join across a corner
    contours = find_contours(np.where(np.isnan(alone), 0, alone), 0.5)
    return max((_polygon(contour) for contour in contours), default=math.nan)  # those of holes are smaller


def _polygon(points: np.ndarray) -> float:
    """Area within a closed polygon, (points, 2)."""
    y, x = points.T
    return 0.5 * abs(float(y[:-1] @ x[1:] - y[1:] @ x[:-1]))
