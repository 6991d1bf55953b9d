"""How much the frames say about each cell."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from nefty.inversion.observation import Observation
from nefty.inversion.recipe_sections import SensitivitySettings
from nefty.physics.heat_model import HeatModel


def sensitivity(
    model: HeatModel, alpha: np.ndarray, seen: Observation, seed: int, settings: SensitivitySettings
) -> np.ndarray:
    """The diagonal of the Gauss-Newton matrix 2 J^T W J by log alpha, (z, y, x), by random probes.

    For signs c drawn at random, (J^T W^(1/2) c)_i^2 has the mean (J^T W J)_ii: one backward sweep tells about
    all cells at once.

    Args:
        model: of the part.
        alpha: where the Jacobian is taken.
        seen: the recording, for the weights W of its values.
        seed: of the signs.
        settings: how many probes, and how smooth.
    """
    linearization = model.linearize(alpha)
    random = np.random.default_rng(seed)
    root = np.sqrt(seen.weights).astype(np.float32)
    total = np.zeros(model.grid.shape)
    signs = np.array([-1.0, 1.0], dtype=np.float32)
    probes = [random.choice(signs, size=seen.frames.shape) * root for _ in range(settings.probes)]
    for found in linearization.vjps(probes):
        total += (found.double().numpy() * alpha) ** 2
    sides = "wrap" if model.boundary.lateral == "periodic" else "nearest"
    return gaussian_filter(2 * total / settings.probes, settings.smoothing, mode=sides, axes=(1, 2))


def step_scale(curvature: np.ndarray, regular: float) -> np.ndarray:
    """Scale of the unknowns in which a step of one size changes the objective equally.

    (curvature + regular)^(-1/2), over its mean.
    """
    scale = (curvature + regular) ** -0.5
    return scale / scale.mean()
