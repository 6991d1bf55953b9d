"""What a method found in a part against what is in it: one rule for all methods.

An indication is of a defect if its centre lies over the defect, or within one pixel of it, or if the two masks have an
intersection over union of 0.2 or more. A defect is found if an indication is of it. An indication that is of no defect,
visible or not, is false. Of several indications of a defect the one with the largest overlap tells its depth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage

from nefty.metrics.volume import mask_iou
from nefty.synth.parts.recorded import TrueDefect, Truth

if TYPE_CHECKING:
    from nefty.data.facts import Window
    from nefty.result.reconstruction import Reconstruction

NEAR = 1  # pixels from a defect within which a centre is of it
OVERLAP = 0.2  # intersection over union
SMALLEST = 4  # pixels of a region of a classical mask; smaller specks are left out, in favour of these methods
#: Thresholds that classical methods are tried at, over their own.
LEVELS = tuple(round(float(level), 3) for level in np.geomspace(0.12, 15, 25))


@dataclass(frozen=True, eq=False)
class Spot:
    """An indication on the pixels of the frame.

    Args:
        mask: its pixels, (y, x).
        centre: (y, x) in pixels from the corner of the frame, 0.5 in the middle of the first.
        depth: to its top, in m, or in the unit of a specimen; NaN if the method has none.
        resistance: as ``Indication.resistance``; NaN if the method has none.
        score: standard deviations by which it stands out; NaN if the method has none.
        pixel: edge length of a pixel of the frame in m, as the user stated it; NaN if that is not known.
    """

    mask: np.ndarray
    centre: tuple[float, float]
    depth: float
    resistance: float = float("nan")
    score: float = float("nan")
    pixel: float = float("nan")


def spots_of(found: Reconstruction, window: Window, shape: tuple[int, int]) -> list[Spot]:
    """Indications of a method as it gives them: regions of its own mask, or what the report lists of its volume.

    Args:
        found: what it recovered.
        window: which pixels of the frames that shows.
        shape: of the frames, (y, x).
    """
    view = found.own_view
    if view is None:
        return spots_of_volume(found, window, shape)
    return spots_of_map(view.mask, view.depth, window, shape)


def spots_of_volume(found: Reconstruction, window: Window, shape: tuple[int, int]) -> list[Spot]:
    """Indications of a reconstruction, as the report lists them.

    Args:
        found: the reconstruction.
        window: which pixels of the frames it shows.
        shape: of the frames, (y, x).
    """
    pixel = float(np.sqrt(found.grid.spacing[1] * found.grid.spacing[2])) / window.bin
    spots = []
    for one in found.indications():
        rows, columns = (c / d for c, d in zip(one.centre[1:], found.grid.spacing[1:], strict=True))
        centre = (window.top + rows * window.bin, window.left + columns * window.bin)
        mask = _mask_of(found, one.label, window, shape)
        spots.append(Spot(mask, centre, float(one.depth_to_top), one.resistance, one.evidence, pixel))
    return spots


def _mask_of(found: Reconstruction, label: int, window: Window, shape: tuple[int, int]) -> np.ndarray:
    """Pixels (y, x) of the frame that an indication has; its edges may lie within those that were joined."""
    shown = found.frame_evidence
    if shown is None or not shown.of_sheets:
        return on_frame((found.segmentation().labels == label).any(axis=0), window, shape)
    fine = shown.finer_footprint(shown.called[label - 1], window.bin)
    return on_frame(fine, dataclasses.replace(window, bin=1), shape)


def spots_of_map(mask: np.ndarray, depth: np.ndarray, window: Window, shape: tuple[int, int]) -> list[Spot]:
    """Connected regions of a classical method's mask, each with the median depth over it; see ``SMALLEST``."""
    whole, deep = on_frame(mask, window, shape), on_frame(depth, window, shape, np.nan)
    found: Any = ndimage.label(whole, structure=np.ones((3, 3)))
    spots = []
    for label in range(1, int(found[1]) + 1):
        own = np.asarray(found[0] == label)
        if own.sum() < SMALLEST:
            continue
        known = deep[own & np.isfinite(deep)]
        y, x = (float(np.mean(at)) + 0.5 for at in np.nonzero(own))
        spots.append(Spot(own, (y, x), float(np.median(known)) if known.size else float("nan")))
    return spots


def on_frame(image: np.ndarray, window: Window, shape: tuple[int, int], beyond: Any = 0) -> np.ndarray:
    """An image of a window's pixels on those of the frame; ``beyond`` where it does not reach."""
    whole = np.full(shape, beyond, dtype=image.dtype)
    large = image.repeat(window.bin, axis=0).repeat(window.bin, axis=1)
    part = whole[window.top : window.top + large.shape[0], window.left : window.left + large.shape[1]]
    part[...] = large[: part.shape[0], : part.shape[1]]
    return whole


def is_of(spot: Spot, mask: np.ndarray) -> bool:
    """Whether an indication is of the defect with this mask."""
    y, x = (min(max(int(c), 0), n - 1) for c, n in zip(spot.centre, mask.shape, strict=True))
    near = ndimage.binary_dilation(mask, np.ones((3, 3)), iterations=NEAR)
    return bool(np.asarray(near)[y, x]) or mask_iou(spot.mask, mask) >= OVERLAP


def trial_facts(spots: Sequence[Spot], truth: Truth) -> dict[str, Any]:
    """How a part was judged, as plain values.

    Returns:
        ``defects``: of each its kind, depth, width over depth, visibility, whether it was found, and what the
        indication says of it (diameters of discs of equal area and distances of centres in pixels);
        ``indications`` and ``false``: how many; ``false_scores``: of each false one, ``None`` if it has none; ``iou``:
        of the mask of all indications with that of all visible defects, pixels over others left out, ``None`` if
        nothing is visible.
    """
    masks = [truth.labels == defect.label for defect in truth.defects]
    of = [[is_of(spot, mask) for spot in spots] for mask in masks]
    defects = [
        _of_defect(defect, mask, [spot for spot, own in zip(spots, row, strict=True) if own])
        for defect, mask, row in zip(truth.defects, masks, of, strict=True)
    ]
    false = [_finite(spot.score) for i, spot in enumerate(spots) if not any(row[i] for row in of)]
    counts = {"indications": len(spots), "false": len(false), "false_scores": false}
    return {"defects": defects, **counts, "iou": _iou(spots, truth)}


def _of_defect(defect: TrueDefect, mask: np.ndarray, own: Sequence[Spot]) -> dict[str, Any]:
    best = max(own, key=lambda spot: np.count_nonzero(spot.mask & mask), default=None)
    depth = None if best is None or not np.isfinite(best.depth) else best.depth
    return {
        "kind": defect.kind,
        "depth": defect.depth,
        "aspect": defect.width_over_depth,
        "visibility": _finite(defect.visibility),
        "visible": defect.visible,
        "found": best is not None,
        "found_depth": depth,
        "resistance": _finite(defect.resistance),
        "diameter": _diameter(mask),
        **({} if best is None else _said_of(best, mask)),
        "highest_score": max((spot.score for spot in own if np.isfinite(spot.score)), default=None),
    }


def _said_of(spot: Spot, mask: np.ndarray) -> dict[str, Any]:
    """What an indication says of the defect with this mask, besides its depth."""
    middle = [float(np.mean(at)) + 0.5 for at in np.nonzero(mask)]
    return {
        "found_resistance": _finite(spot.resistance),
        "found_diameter": _diameter(spot.mask),
        "offset": float(np.hypot(spot.centre[0] - middle[0], spot.centre[1] - middle[1])),
        "score": _finite(spot.score),
        "pixel": _finite(spot.pixel),
    }


def _diameter(mask: np.ndarray) -> float:
    """Of the disc with that area, in pixels."""
    return float(np.sqrt(4 / np.pi * np.count_nonzero(mask)))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _iou(spots: Sequence[Spot], truth: Truth) -> float | None:
    visible = truth.mask(visible=True)
    if not visible.any():
        return None
    counted = visible | ~truth.mask()
    found = np.any([spot.mask for spot in spots], axis=0) if spots else np.zeros_like(visible)
    return mask_iou(found & counted, visible)
