"""Insulation and depth of a sheet under each pixel by itself, as if heat flowed only through the thickness.

In the middle of a wide defect that is right; of a narrow one it is a place to begin.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import ndimage

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet

INSULATIONS = np.array([0.03, 0.06, 0.1, 0.16, 0.24, 0.34, 0.46, 0.6, 0.75, 0.9])
APART = 1e3  # thicknesses between two columns, so that no heat flows between them
SMOOTH = 1.0  # pixels over which the contrast is smoothed


def by_columns(contrast: Contrast, slab: WeakSheet, layers: int) -> tuple[np.ndarray, np.ndarray]:
    """Insulation c = R/(R + z/alpha) and depth z of the sheet that explains each pixel best, each (y, x)."""
    faces = np.arange(1, layers)
    depth, insulation = (g.ravel() for g in np.meshgrid(faces * slab.thickness / layers, INSULATIONS, indexing="ij"))
    curves = contrast.whitened(_curves(contrast, slab, layers, faces))
    seen = ndimage.gaussian_filter(contrast.whitened(contrast.values), (0, SMOOTH, SMOOTH))
    pixels = np.asarray(seen).reshape(len(seen), -1)
    distance = (curves**2).sum(axis=0)[:, None] - 2 * curves.T @ pixels  # and the square of the pixel, the same for all
    best = distance.argmin(axis=0)
    found = np.where(distance.min(axis=0) < 0, insulation[best], 0.0)
    shape = contrast.weight.shape
    return found.reshape(shape), depth[best].reshape(shape)


def _curves(contrast: Contrast, slab: WeakSheet, layers: int, faces: np.ndarray) -> np.ndarray:
    """ln(T/T_sound) of columns with a sheet at each face and of each insulation, (t, face * insulation)."""
    many = len(faces) * len(INSULATIONS)
    shape = (layers, 1, many + 1)
    boundary = Boundary(lateral="adiabatic", front="robin", back="robin", h_front=slab.h_front, h_back=slab.h_back)
    heat = np.zeros(shape)
    heat[0] = layers
    grid = Grid(shape, (slab.thickness, 1.0, (many + 1) * APART * slab.thickness))
    model = HeatModel(grid, contrast.times, contrast.heating or heat, boundary)
    resistance = np.zeros((layers - 1, 1, many + 1))
    for row, face in enumerate(faces):
        at = slice(row * len(INSULATIONS), (row + 1) * len(INSULATIONS))
        resistance[face - 1, 0, at] = face * slab.thickness / layers / slab.alpha * INSULATIONS / (1 - INSULATIONS)
    alpha = torch.full(grid.shape, slab.alpha)
    frames = np.log(model(alpha, resistance=torch.from_numpy(resistance).float()).double().numpy()[:, 0])
    return frames[:, :-1] - frames[:, -1:]
