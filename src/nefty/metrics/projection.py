"""A volume seen from the front: which pixels have a defect under them, and how deep (paper, appendices E.2 and H.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.metrics.volume import checked, mask_dice, mask_iou
from nefty.result.indications.depth_map import depth_map
from nefty.result.indications.segmentation import Absolute, Paper2D, Relative, Rule, segment

#: Depths of a defect, and the rule whose depth map is measured so.
DEPTHS: dict[str, Rule] = {"top": Relative(), "median": Paper2D()}
RATIO = 1.25


@dataclass(frozen=True, eq=False)
class Projection:
    """Pixels with a defect under them, and its depth.

    Args:
        mask: (y, x), whether there is one.
        depth: (y, x) in length units; NaN where there is none.
    """

    mask: np.ndarray
    depth: np.ndarray

    @staticmethod
    def of_depth(depth: Any) -> Projection:
        """From a given map (y, x) in length units, such as a measured one; NaN where the part is sound."""
        depth = _depths("depth", depth)
        return Projection(np.isfinite(depth), depth)


@dataclass(frozen=True)
class DepthScore:
    """Errors of a depth map, over the pixels that have a depth in both maps; ``None`` where there is no such pixel.

    Args:
        mae: mean |d - d*|.
        rmse: root of the mean of (d - d*)^2.
        abs_rel: mean |d - d*| / d*, over those with d* > 0.
        delta1: share of the same with max(d/d*, d*/d) < 1.25.
        delta2: with 1.25^2.
        delta3: with 1.25^3.
        recall: share of the pixels with a true depth that were found; ``None`` if there are none.
    """

    mae: float | None = None
    rmse: float | None = None
    abs_rel: float | None = None
    delta1: float | None = None
    delta2: float | None = None
    delta3: float | None = None
    recall: float | None = None


@dataclass(frozen=True)
class ProjectionScore:
    """How close two projections are.

    Args:
        iou: of the masks; 1 if both are empty, 0 if one is.
        dice: likewise.
        depth: of the pixels in both.
    """

    iou: float
    dice: float
    depth: DepthScore

    def as_dict(self) -> dict[str, float | None]:
        """All numbers by name, those of the depth with ``depth_`` before it."""
        return {"iou": self.iou, "dice": self.dice, **{f"depth_{k}": v for k, v in asdict(self.depth).items()}}


def project(
    alpha: Any,
    grid: Grid,
    background: Any = None,
    *,
    rule: Rule | str | float = "default",
    depth: str = "top",
    lateral: str = "adiabatic",
) -> Projection:
    """Mask and depth of the defects in a volume.

    Args:
        alpha: diffusivity, (z, y, x).
        grid: the cells.
        background: diffusivity without defects, (z,); if not given, the 90th percentile of each layer, which is right
            for a truth whose defects cover less than a tenth.
        rule: ``"default"``, ``"paper-2d"``, a rule of ``indications.segmentation``, or the diffusivity below which a
            cell is defect.
        depth: ``"top"``, the depth to the upper side of the uppermost defect, or ``"median"``, the median depth of the
            defect's cells under the pixel (paper, appendix H.3).
        lateral: ``"periodic"`` joins defects across the sides.
    """
    alpha = checked(alpha, "volume")
    if not (alpha > 0).all():
        raise InputError(f"the volume holds {alpha.min():g}; diffusivities are positive.")
    if alpha.shape != grid.shape:
        raise InputError(f"the volume has shape {alpha.shape}, the grid {grid.shape} (z, y, x).")
    background = np.asarray(
        np.percentile(alpha, 90, axis=(1, 2)) if background is None else background, dtype=np.float64
    )
    if background.shape != alpha.shape[:1]:
        raise InputError(f"the background has shape {background.shape}; give one value per layer, {alpha.shape[:1]}.")
    if not (np.isfinite(background) & (background > 0)).all():
        raise InputError(f"the background holds {background.min():g}; diffusivities are positive.")
    rule = Absolute(float(rule)) if isinstance(rule, (int, float)) else rule
    measured_as = DEPTHS[one_of("depth", depth, DEPTHS)]
    found = segment(alpha, background, grid, rule, lateral)
    return Projection(found.footprint, depth_map(alpha, background, grid, replace(found, rule=measured_as)))


def projection_score(found: Projection, true: Projection) -> ProjectionScore:
    """Overlap of the masks and errors of the depth, where both have one."""
    return ProjectionScore(
        mask_iou(found.mask, true.mask), mask_dice(found.mask, true.mask), depth_score(found.depth, true.depth)
    )


def depth_score(found: Any, true: Any) -> DepthScore:
    """Errors of a depth map (y, x) against the true one; NaN where a map has no defect."""
    found, true = _depths("depth map", found), _depths("true depth map", true)
    if found.shape != true.shape:
        raise InputError(f"the depth map has shape {found.shape}, the true one {true.shape}; resample one of them.")
    known = np.isfinite(true)
    both = known & np.isfinite(found)
    recall = float(both.sum() / known.sum()) if known.any() else None
    if not both.any():
        return DepthScore(recall=recall)
    error = found[both] - true[both]
    mae, rmse = float(np.mean(np.abs(error))), float(np.sqrt(np.mean(error**2)))
    below = true[both] > 0
    if not below.any():
        return DepthScore(mae, rmse, recall=recall)
    d, d_true = found[both][below], true[both][below]
    # max(d/d*, d*/d) < r, without dividing by a depth of 0.
    delta1, delta2, delta3 = (float(np.mean((d < RATIO**k * d_true) & (d_true < RATIO**k * d))) for k in (1, 2, 3))
    abs_rel = float(np.mean(np.abs(d - d_true) / d_true))
    return DepthScore(mae, rmse, abs_rel, delta1, delta2, delta3, recall)


def _depths(what: str, given: Any) -> np.ndarray:
    """``given`` as float64 (y, x), nowhere negative."""
    depth = np.asarray(given, dtype=np.float64)
    if depth.ndim != 2:
        raise InputError(f"the {what} has shape {depth.shape}; give one depth per pixel, (y, x).")
    if (depth < 0).any() or np.isinf(depth).any():
        raise InputError(f"the {what} holds negative or infinite depths; mark sound pixels with NaN.")
    return depth
