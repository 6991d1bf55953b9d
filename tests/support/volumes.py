"""Volumes with known defects, as an inversion would leave them."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from nefty.core.grid import Grid
from nefty.synth.specimen import Defect, Specimen

BLUR = 0.8  # cells


def blurred(truth: np.ndarray, background: np.ndarray, cells: float = BLUR) -> np.ndarray:
    """What an inversion makes of sharp edges: log(alpha/background) smoothed over ``cells``."""
    log_ratio = np.log(truth / background[:, None, None])
    return np.exp(ndimage.gaussian_filter(log_ratio, cells)) * background[:, None, None]


def cell_means(defects: tuple[Defect, ...], grid: Grid, bulk: float, finer: int = 8) -> np.ndarray:
    """Diffusivity with partly filled cells, by geometric means over ``finer``^3 points each."""
    fine = grid.refined(finer)
    alpha = Specimen(grid.size, (), (bulk,), defects).alpha(fine)
    nz, ny, nx = grid.shape
    return np.exp(np.log(alpha).reshape(nz, finer, ny, finer, nx, finer).mean(axis=(1, 3, 5)))
