"""Fits in which pixels over defects count little: trust in pixels and values, and Gauss-Newton's quadratic form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.observation import Observation


class Quadratic(NamedTuple):
    """The misfit near a point, total - 2 right.x + x.normal x, by a move x of the unknowns."""

    normal: np.ndarray
    right: np.ndarray
    total: float


def quadratic_form(jacobian: np.ndarray, weights: np.ndarray, misfit: np.ndarray) -> Quadratic:
    """J^T W J, J^T W r and r^T W r, which make the misfit a quadratic form (Gauss-Newton).

    Args:
        jacobian: derivatives of the frames, (unknown, ..., t, y, x).
        weights: W, of the shape of the frames.
        misfit: r, measured - predicted.
    """
    j, w, r = jacobian.reshape(len(jacobian), -1), weights.ravel(), misfit.ravel()
    weighted = j * w
    return Quadratic(weighted @ j.T, weighted @ r, float(w @ r**2))


def trust(
    misfit: np.ndarray,
    predicted: np.ndarray,
    seen: Observation,
    settings: LayeredSettings,
    warmer: np.ndarray | float | None = None,
) -> tuple[np.ndarray, float]:
    """Weight of each pixel, (..., 1, y, x), or value, and the root mean square residual of the pixels that fit best.

    Cauchy-like, squared: what has a relative misfit far above the quiet ones' hardly counts.

    Args:
        misfit: measured - predicted.
        predicted: by a part without defects.
        seen: the recording.
        settings: which pixels are quiet, and what is doubtful.
        warmer: weigh each value by itself, since the trace of a deep defect comes late and spoils nothing before; 1
            where defects make a face warmer, -1 where cooler.
    """
    values = np.maximum(seen.counted.sum(axis=-3, keepdims=True), 1)
    bright = np.abs(predicted).max(axis=-3, keepdims=True)
    level = np.sqrt(np.sum(misfit**2, axis=-3, keepdims=True) / values)
    usable = seen.counted.any(axis=-3, keepdims=True)
    of_its_face = np.where(usable, bright, 0.0).max(axis=(-2, -1), keepdims=True)
    usable &= bright > settings.faint * of_its_face
    safe = np.maximum(bright, 1e-12 * bright.max())
    relative = level / safe
    least = max(seen.typical_noise / (2 * float(bright.max())), 1e-9)
    quiet = max(float(np.quantile(relative[usable], settings.quiet)), least)
    chosen = usable & (relative <= quiet)
    residual = float(np.sqrt(np.mean(level[chosen] ** 2))) if chosen.any() else seen.typical_noise
    if warmer is not None:
        like_a_defect = np.where(warmer * misfit < 0, settings.unlike_a_defect, 1.0)
        relative, usable = np.abs(misfit) / safe * like_a_defect, usable & seen.counted
        quiet = max(float(np.median(relative[usable])), least)
    return usable / (1 + (relative / (settings.doubtful * quiet)) ** 2) ** 2, residual
