"""Whether the edges of the defects are sharp and in place (paper, appendices E.2 and G)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from nefty.core.checks import count, number
from nefty.core.errors import InputError
from nefty.core.grid import AXES
from nefty.metrics.volume import THRESHOLD, checked_pair, mask_dice

LEVEL = 0.5
DILATION = 2
PER_CELL = (1.0, 1.0, 1.0)


def edge_f1(
    alpha: Any,
    truth: Any,
    *,
    threshold: float = THRESHOLD,
    level: float = LEVEL,
    dilation: int = DILATION,
    spacing: tuple[float, float, float] = PER_CELL,
) -> float:
    """Defect Edge F1: harmonic mean of precision and recall of the edge cells near the true defects' boundary.

    A cell is on an edge where |grad alpha|, by central differences, reaches ``level`` times the largest |grad| of the
    truth. Only cells within ``dilation`` cells of the true boundary count; there a cell matches itself and no other.
    If the truth has no boundary (all sound, or all defect): 1 if the reconstruction has none either, else 0.

    Args:
        alpha: the volume.
        truth: the true one.
        threshold: diffusivity below which a cell is defect.
        level: share of the truth's largest gradient.
        dilation: in cells, diagonal steps included.
        spacing: distance (z, y, x) of neighbours in the gradient. By default the gradient is per cell: per length,
            flat cells would leave nothing but the horizontal faces above the level.
    """
    alpha, truth = checked_pair(alpha, truth)
    threshold, level = number("threshold", threshold), number("level", level, above=0)
    dilation, spacing = count("dilation", dilation, at_least=0), _spacing(spacing)
    boundary = _boundary(truth < threshold)
    if not boundary.any():
        return 0.0 if _boundary(alpha < threshold).any() else 1.0
    width = 2 * dilation + 1
    band = ndimage.maximum_filter(boundary, size=width, mode="constant")
    true = _gradient(truth, spacing)
    least = level * true.max()
    # The harmonic mean of precision and recall is the Dice coefficient.
    return mask_dice(band & (_gradient(alpha, spacing) >= least), band & (true >= least))


def _boundary(defect: np.ndarray) -> np.ndarray:
    """Defect cells with a sound neighbour across a face; the sides of the volume are no boundary."""
    return defect & ~np.asarray(ndimage.binary_erosion(defect, border_value=1), dtype=bool)


def _gradient(values: np.ndarray, spacing: tuple[float, float, float]) -> np.ndarray:
    """|grad| by central differences, one-sided at the ends; an axis of one cell has no slope."""
    squares = [np.gradient(values, d, axis=a) ** 2 for a, d in enumerate(spacing) if values.shape[a] > 1]
    return np.sqrt(sum(squares, start=np.zeros_like(values)))


def _spacing(given: Any) -> tuple[float, float, float]:
    try:
        z, y, x = given
    except (TypeError, ValueError):
        raise InputError(f"spacing={given!r} must be three distances, (z, y, x), such as grid.spacing.") from None
    z, y, x = (number(f"spacing along {a}", d, above=0) for a, d in zip(AXES, (z, y, x), strict=True))
    return z, y, x
