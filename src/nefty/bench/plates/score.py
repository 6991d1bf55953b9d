"""Marks of a mask and a depth map against the label of a plate with flat-bottom holes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import ndimage

from nefty.metrics.projection import Projection, depth_score
from nefty.metrics.volume import mask_dice, mask_iou

#: Holes at least so many times as wide as deep are ``wide``: heat flows around narrower ones before they show.
WIDE = 1.5
FOUND = 0.5  # share of a hole's pixels that make it a found one


@dataclass(frozen=True, eq=False)
class LabelledHole:
    """A hole of the label.

    Args:
        mask: its pixels, (y, x).
        depth: in m.
        width: in m, the smaller one.
    """

    mask: np.ndarray
    depth: float
    width: float

    @property
    def aspect(self) -> float:
        """How many times as wide as deep."""
        return self.width / self.depth


def holes_of(depth: np.ndarray, pixel: float, listed: Sequence[Mapping[str, Any]] | None = None) -> list[LabelledHole]:
    """The holes of a label: connected pixels of one depth.

    Args:
        depth: (y, x) in m, NaN where the plate is sound.
        pixel: edge length in m.
        listed: centre (y, x) in pixels and width (y, x) in m of holes, where they are known; else the width is the
            diameter of the largest disc that fits.
    """
    found = []
    for level in np.unique(depth[np.isfinite(depth)]):
        labelled: Any = ndimage.label(depth == level, structure=np.ones((3, 3)))
        for name in range(1, labelled[1] + 1):
            mask = np.asarray(labelled[0] == name)
            disc = 2 * float(np.asarray(ndimage.distance_transform_edt(np.pad(mask, 1))).max()) - 1  # of pixel centres
            found.append(LabelledHole(mask, float(level), _listed_width(mask, listed or ()) or max(disc, 1.0) * pixel))
    return found


def plate_scores(view: Projection, depth: np.ndarray, holes: Sequence[LabelledHole], pixel: float) -> dict[str, Any]:
    """``iou``, ``dice``, ``precision``, ``recall`` and ``false_regions`` of the mask and ``depth_...`` of the depths,
    over all pixels; and with ``wide_`` before them over those without narrow holes. A false region touches no hole.

    Pixels over a narrow hole, and next to it within its depth, over which heat blurs, count neither for nor against a
    method there.

    Args:
        view: found, on the label's pixels.
        depth: true depth (y, x) in m.
        holes: of the label.
        pixel: edge length in m.
    """
    aside = np.zeros(depth.shape, dtype=bool)
    for hole in holes:
        if hole.aspect < WIDE:
            aside |= np.asarray(ndimage.distance_transform_edt(~hole.mask)) * pixel <= hole.depth
    for hole in holes:
        if hole.aspect >= WIDE:
            aside &= ~hole.mask
    wide = any(hole.aspect >= WIDE for hole in holes)
    narrow = {f"wide_{k}": v if wide else None for k, v in _scores(view, depth, ~aside).items()}
    return {**_scores(view, depth, np.ones(depth.shape, dtype=bool)), **narrow}


def hole_facts(view: Projection, holes: Sequence[LabelledHole]) -> list[dict[str, float | None]]:
    """Of every hole: ``depth`` and ``width`` in m, ``aspect``, ``share`` of its pixels that were found, and the
    ``found_depth``, the median over these.
    """
    facts = []
    for hole in holes:
        depths = view.depth[hole.mask & view.mask & np.isfinite(view.depth)]
        facts.append(
            {
                "depth": hole.depth,
                "width": hole.width,
                "aspect": hole.aspect,
                "share": float(view.mask[hole.mask].mean()),
                "found_depth": float(np.median(depths)) if depths.size else None,
            }
        )
    return facts


def resized(image: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """An image (y, x) on other pixels of the same rectangle: the value of the one under each centre."""
    rows, columns = (((np.arange(n) + 0.5) * old / n).astype(int) for n, old in zip(shape, image.shape, strict=True))
    return image[np.ix_(rows, columns)]


def _scores(view: Projection, depth: np.ndarray, counted: np.ndarray) -> dict[str, float | None]:
    found, true = view.mask & counted, np.isfinite(depth) & counted
    both, marked, known = (int(np.count_nonzero(m)) for m in (found & true, found, true))
    depths = depth_score(np.where(found, view.depth, np.nan), np.where(counted, depth, np.nan))
    return {
        "iou": mask_iou(found, true),
        "dice": mask_dice(found, true),
        "precision": both / marked if marked else None,
        "recall": both / known if known else None,
        "false_regions": float(_apart_from(found, np.isfinite(depth))),
        **{f"depth_{name}": value for name, value in asdict(depths).items()},
    }


def _apart_from(found: np.ndarray, true: np.ndarray) -> int:
    """How many connected regions of a mask (y, x) touch nothing of another."""
    labels: Any = ndimage.label(found, structure=np.ones((3, 3)))
    return int(labels[1]) - len(np.setdiff1d(labels[0][true], 0))


def _listed_width(mask: np.ndarray, listed: Sequence[Mapping[str, Any]]) -> float | None:
    """The smaller width of the listed hole whose centre lies in the mask."""
    for hole in listed:
        y, x = (round(c) for c in hole["centre"])
        if 0 <= y < mask.shape[0] and 0 <= x < mask.shape[1] and mask[y, x]:
            return float(min(hole["width"]))
    return None
