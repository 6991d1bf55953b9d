"""The strata, fitted again under the defects found."""

from __future__ import annotations

import dataclasses
from math import log

import numpy as np
import torch

from nefty.inversion.calibration.coarsening import blocks, mean_of_counted, wider_cells, wider_pixels
from nefty.inversion.calibration.robust_fit import quadratic_form
from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.calibration.strata import best_cuts
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel
from nefty.physics.linearization import Linearization


def refine_strata(
    model: HeatModel,
    alpha: np.ndarray,
    background: np.ndarray,
    seen: Observation,
    *,
    strata: int,
    steps: int,
    settings: LayeredSettings,
) -> np.ndarray:
    """Fit the diffusivity of the strata again, under the defects found so far.

    The misfit is exact; the Jacobian is that of cells twice as wide, a quarter of the work.

    Args:
        model: of the part.
        alpha: the present volume (z, y, x).
        background: its background (z,).
        seen: the recording.
        strata: how many to aim at, at most; a long step that is cut short may leave more.
        steps: of Gauss-Newton.
        settings: numbers of the fit.
    """
    worth, longest = settings.worth_later, settings.largest_step
    pixels = wider_pixels(seen)
    wide = pixels is not None
    part, pixels = (wider_cells(model), pixels) if wide else (model, seen)
    pixels = dataclasses.replace(pixels, relative=settings.relative)
    log_alpha = blocks(np.log(alpha)) if wide else np.log(alpha)
    log_background, log_factor = np.log(background), np.zeros(len(background))
    bright = np.abs(pixels.frames).max(axis=-3, keepdims=True)
    usable = pixels.counted.any(axis=-3, keepdims=True)
    values = np.maximum(pixels.counted.sum(axis=-3, keepdims=True), 1)
    for _ in range(steps):
        predicted = model(alpha * np.exp(log_factor)[:, None, None]).double().numpy()
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        misfit = mean_of_counted(misfit, seen.counted)[0] if wide else misfit
        level = np.sqrt(np.sum(misfit**2, axis=-3, keepdims=True) / values) / np.maximum(
            bright, settings.faint**2 * seen.peak
        )
        typical = max(float(np.median(level[usable])), 1e-12)
        weights = pixels.weights / (1 + (level / (settings.doubtful_later * typical)) ** 2)
        jacobian = by_layers(part.linearize(np.exp(log_alpha + log_factor[:, None, None])))
        normal, right, total = quadratic_form(jacobian, weights, misfit)
        if total == 0:
            break
        cuts = best_cuts(normal, right, total, log_background + log_factor, strata, settings.reach)
        best = min(cuts, key=lambda cut: log(max(cut.misfit, 1e-6 * total)) + worth * cut.strata)
        log_factor += np.clip(best.log_alpha - log_background - log_factor, -longest, longest)
    return background * np.exp(log_factor)


def curvature_by_layers(model: HeatModel, alpha: np.ndarray, seen: Observation) -> np.ndarray:
    """The Gauss-Newton matrix 2 J^T W J of the misfit by log alpha of each layer as a whole, (z, z), on cells twice as
    wide.

    Args:
        model: of the part.
        alpha: where the Jacobian is taken, (z, y, x).
        seen: the recording, for the weights W of its values.
    """
    pixels = wider_pixels(seen)
    part, pixels, log_alpha = (
        (model, seen, np.log(alpha)) if pixels is None else (wider_cells(model), pixels, blocks(np.log(alpha)))
    )
    jacobian = by_layers(part.linearize(np.exp(log_alpha)))
    return 2 * quadratic_form(jacobian, pixels.weights, np.zeros(pixels.frames.shape)).normal


def by_layers(linearization: Linearization) -> np.ndarray:
    """Derivative of the frames by log alpha of each layer, (z, ..., t, y, x)."""
    alpha = linearization.point["alpha"]
    moves = []
    for layer in range(alpha.shape[0]):
        move = torch.zeros_like(alpha)
        move[layer] = alpha[layer]
        moves.append({"alpha": move})
    return np.stack([moved.double().numpy() for moved in linearization.jvps(moves)])
