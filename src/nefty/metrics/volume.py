"""How close a volume is to the true one, cell by cell (paper, appendix E.2).

Volumes are diffusivities (z, y, x), numpy arrays or torch tensors. Everything is computed in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from skimage.metrics import structural_similarity

from nefty.core.checks import count, number
from nefty.core.errors import InputError

THRESHOLD = 0.03
BOUNDS = (0.003, 0.25)
WINDOW = 7


def mse(alpha: Any, truth: Any) -> float:
    """Mean of the squared differences."""
    alpha, truth = checked_pair(alpha, truth)
    return float(np.mean((alpha - truth) ** 2))


def psnr(alpha: Any, truth: Any, *, bounds: tuple[float, float] = BOUNDS) -> float:
    """Peak signal-to-noise ratio in decibels, 10 log10((high - low)^2 / MSE); infinite for equal volumes.

    Args:
        alpha: the volume.
        truth: the true one.
        bounds: (low, high), the range of diffusivities.
    """
    error, span = mse(alpha, truth), _span(bounds)
    return math.inf if error == 0 else 10 * math.log10(span**2 / error)


def ssim(alpha: Any, truth: Any, *, bounds: tuple[float, float] = BOUNDS, window: int = WINDOW) -> float:
    """Structural similarity (Wang 2004) of the slices at each depth, averaged over z.

    scikit-image's, with a uniform window of 7 x 7 pixels, sample covariances, K1 = 0.01 and K2 = 0.03.

    Args:
        alpha: the volume.
        truth: the true one.
        bounds: (low, high); their difference is the data range.
        window: pixels along each side of the window, odd.
    """
    alpha, truth = checked_pair(alpha, truth)
    span, window = _span(bounds), count("window", window, at_least=3)
    if window % 2 == 0 or window > min(alpha.shape[1:]):
        raise InputError(
            f"window={window} must be odd and fit into slices of {alpha.shape[1]} x {alpha.shape[2]} pixels (y, x); "
            "give a smaller one."
        )
    return float(
        np.mean(
            [structural_similarity(a, b, data_range=span, win_size=window) for a, b in zip(alpha, truth, strict=True)]
        )
    )


def iou(alpha: Any, truth: Any, *, threshold: float = THRESHOLD) -> float:
    """Intersection over union of the defects, the cells below ``threshold``; see ``mask_iou``."""
    return mask_iou(*_defects(alpha, truth, threshold))


def dice(alpha: Any, truth: Any, *, threshold: float = THRESHOLD) -> float:
    """Dice coefficient of the defects, the cells below ``threshold``; see ``mask_dice``."""
    return mask_dice(*_defects(alpha, truth, threshold))


def mask_iou(found: np.ndarray, true: np.ndarray) -> float:
    """|A and B| / |A or B| of two masks of any shape; 1 if both are empty, 0 if one is."""
    both, either = _overlap(found, true)
    return both / either if either else 1.0


def mask_dice(found: np.ndarray, true: np.ndarray) -> float:
    """2 |A and B| / (|A| + |B|) of two masks of any shape; 1 if both are empty, 0 if one is."""
    both, either = _overlap(found, true)
    return 2 * both / (both + either) if either else 1.0


def depth_to_top(alpha: Any, thickness: float, *, threshold: float = THRESHOLD) -> np.ndarray:
    """Depth of the upper face of the first cell below ``threshold`` under each pixel, (y, x); NaN where none is.

    Args:
        alpha: the volume.
        thickness: of the part; depths are in its unit.
        threshold: of a defect.
    """
    defect = checked(alpha) < number("threshold", threshold)
    depth = np.argmax(defect, axis=0) * (number("thickness", thickness, above=0) / defect.shape[0])
    return np.where(defect.any(axis=0), depth, np.nan)


def checked_pair(alpha: Any, truth: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both volumes as float64, of one shape and finite."""
    alpha, truth = checked(alpha), checked(truth, "truth")
    if alpha.shape != truth.shape:
        raise InputError(
            f"the reconstruction has shape {alpha.shape}, the truth {truth.shape} (z, y, x); "
            "reconstruct on the grid of the truth, or put the truth on that of the reconstruction."
        )
    return alpha, truth


def checked(given: Any, what: str = "reconstruction") -> np.ndarray:
    """``given`` as a finite float64 array (z, y, x)."""
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the {what} must be an array of numbers (z, y, x), got {type(given).__name__}.") from None
    if array.ndim != 3 or array.size == 0:
        raise InputError(f"the {what} has shape {array.shape}; give a volume (z, y, x).")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"the {what} holds {array[where]} at cell {where} (z, y, x); it cannot be scored.")
    return array


def _defects(alpha: Any, truth: Any, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    alpha, truth = checked_pair(alpha, truth)
    threshold = number("threshold", threshold)
    return alpha < threshold, truth < threshold


def _overlap(found: np.ndarray, true: np.ndarray) -> tuple[int, int]:
    """Cells in both masks and in either."""
    found, true = np.asarray(found), np.asarray(true)
    if found.dtype != bool or true.dtype != bool:
        raise InputError(f"masks must be boolean, got {found.dtype} and {true.dtype}; compare with a threshold.")
    if found.shape != true.shape:
        raise InputError(f"the mask has shape {found.shape}, the true one {true.shape}; resample one of them.")
    return int(np.count_nonzero(found & true)), int(np.count_nonzero(found | true))


def _span(bounds: tuple[float, float]) -> float:
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise InputError(f"bounds={bounds!r} must be two numbers, (low, high).") from None
    low, high = number("lower bound", low), number("upper bound", high)
    if high <= low:
        raise InputError(f"bounds={bounds!r} must be (low, high) with high above low.")
    return high - low
