"""Which of background, position, thickness and edge is wrong with a volume."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from nefty.metrics.volume import THRESHOLD

BESIDE = 3  # pixels around a true void that belong to its edge


@dataclass(frozen=True)
class Mistakes:
    """Wrong cells, void in one of two volumes and not in the other, by where they lie.

    Args:
        top: under the outline of a true void, in the upper half of what it has there or above it: its position.
        bottom: the same, in the lower half or below: its thickness.
        edge: in columns beside a true void.
        far: anywhere else.
        background: root mean square of log(background/true) over the layers.
    """

    top: int
    bottom: int
    edge: int
    far: int
    background: float

    @property
    def cells(self) -> int:
        """Wrong ones in all."""
        return self.top + self.bottom + self.edge + self.far


def mistakes(
    alpha: np.ndarray, background: np.ndarray, true_alpha: np.ndarray, true_background: np.ndarray
) -> Mistakes:
    """Tell the wrong cells of a volume (z, y, x) apart, and how wrong its background (z,) is."""
    found, true = alpha < THRESHOLD, true_alpha < THRESHOLD
    wrong, outline = found != true, np.asarray(true.any(axis=0))
    layer = np.arange(len(true))[:, None, None]
    middle = (true * layer).sum(axis=0) / np.maximum(true.sum(axis=0), 1)
    beside = np.asarray(ndimage.binary_dilation(outline, iterations=BESIDE), dtype=bool) & ~outline
    ratio = np.log(np.asarray(background) / np.asarray(true_background))
    return Mistakes(
        top=int((wrong & outline & (layer < middle)).sum()),
        bottom=int((wrong & outline & (layer >= middle)).sum()),
        edge=int((wrong & beside).sum()),
        far=int((wrong & ~outline & ~beside).sum()),
        background=float(np.sqrt(np.mean(ratio**2))),
    )
