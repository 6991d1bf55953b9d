"""Insulation and depth of a sheet from what its pixels show in the mean, as if heat flowed only through the thickness.

In the middle of a wide defect that is right, however strong it is; of a narrow one it is a place to begin.
"""

from __future__ import annotations

import numpy as np
import torch

from nefty.core.grid import Grid
from nefty.inversion.evidence.contrast import Contrast
from nefty.physics.boundary import Boundary
from nefty.physics.heat_model import HeatModel
from nefty.physics.slab.weak_sheet import WeakSheet

INSULATIONS = np.array([0.03, 0.06, 0.1, 0.16, 0.24, 0.34, 0.46, 0.6, 0.75, 0.9])
APART = 1e3  # thicknesses between two columns, so that no heat flows between them


class Columns:
    """Sheets of all depths and insulations under columns between which no heat flows.

    Args:
        contrast: of the recording.
        slab: the sound part.
        layers: cells along z; sheets lie between two of them.
    """

    def __init__(self, contrast: Contrast, slab: WeakSheet, layers: int) -> None:
        faces = np.arange(1, layers)
        self._depths = np.repeat(faces * slab.thickness / layers, len(INSULATIONS))
        self._insulations = np.tile(INSULATIONS, len(faces))
        self._curves = contrast.whitened(_curves(contrast, slab, layers, faces))
        self._seen = contrast.whitened(contrast.values)

    def __call__(self, weight: np.ndarray) -> tuple[float, float]:
        """Insulation and depth that explain best what the pixels show in the mean, by those weights (y, x)."""
        mean = (self._seen * weight).sum(axis=(1, 2)) / weight.sum()
        distance = (self._curves**2).sum(axis=0) - 2 * mean @ self._curves  # and the square of the mean
        best = distance.argmin()
        return float(self._insulations[best]), float(self._depths[best])


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
