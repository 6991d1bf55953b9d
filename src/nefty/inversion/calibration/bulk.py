"""The one diffusivity of a part, and its flash, from the typical decay, by Gauss-Newton with exact Jacobians."""

from __future__ import annotations

from math import exp, log

import numpy as np

from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.inversion.calibration.coarsening import wider_pixels
from nefty.inversion.calibration.flash import has_depth, with_flash
from nefty.inversion.calibration.robust_fit import quadratic_form, trust
from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel

PROBE = 0.02  # relative change of the flash's depth for its derivative: small against the depth, large against rounding


def first_guess(model: HeatModel, seen: Observation, settings: LayeredSettings | None = None) -> float:
    """A constant diffusivity to start from: the best of a few, by the median relative misfit of the pixels.

    They are spread over Fourier numbers alpha t/H^2 of the whole recording.
    """
    settings = settings or LayeredSettings()
    seen = wider_pixels(seen) or seen
    flash = np.zeros(2 if has_depth(model.initial) else 1)
    part = with_flash(model, flash, seen.grid)
    unit = model.grid.size[0] ** 2 / model.times[-1]
    best, found = np.inf, unit
    for fourier in np.geomspace(settings.guessed_from, settings.guessed_to, settings.guesses):
        predicted = part(np.full(seen.grid.shape, fourier * unit)).double().numpy()
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        level = np.sqrt(np.sum(misfit**2, axis=-3)) / np.maximum(np.abs(predicted).max(axis=-3), 1e-12 * seen.peak)
        middle = float(np.median(level[seen.counted.any(axis=-3)]))
        if middle < best:
            best, found = middle, fourier * unit
    return float(found)


def fit_bulk(
    model: HeatModel, seen: Observation, start: float, *, flash: bool, settings: LayeredSettings
) -> tuple[np.ndarray, np.ndarray]:
    """log alpha of each layer, (z,), all equal; and the logarithms of the factors on the flash's amplitude and depth.

    Args:
        model: of the part.
        seen: the recording, on the cells of the model or twice as wide ones.
        start: a first guess of the diffusivity.
        flash: fit the flash's amplitude, and its depth if it has one.
        settings: numbers of the fit.
    """
    log_alpha, log_flash = np.full(seen.grid.shape[0], log(start)), np.zeros(2 if has_depth(model.initial) else 1)
    for _ in range(settings.steps):
        predicted, by_alpha, by_flash = _sensitivities(model, seen.grid, log_alpha, log_flash, flash)
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        weight, _ = trust(misfit, predicted, seen, settings)
        normal, right, _ = quadratic_form(np.concatenate([by_alpha[None], by_flash]), weight * seen.weights, misfit)
        if not np.trace(normal) > 0:
            raise NeftyError(
                f"the frames of a part without defects do not depend on its diffusivity at {exp(log_alpha[0]):g}; "
                "check times, size, flash and the number of layers (model.layers)."
            )
        normal += 1e-12 * np.trace(normal) * np.eye(len(normal))
        move = np.clip(np.linalg.solve(normal, right), -settings.largest_step, settings.largest_step)
        if not np.isfinite(move).all():
            raise NeftyError(
                f"the fit of the background failed after {exp(log_alpha[0]):g}; check times, size and flash, or "
                "give a better first guess of the bulk diffusivity."
            )
        log_alpha = log_alpha + move[0]
        log_flash = log_flash + (move[1:] if flash else 0.0)
        if np.abs(move).max() < settings.settled:
            break
    return log_alpha, log_flash


def _sensitivities(
    model: HeatModel, grid: Grid, log_alpha: np.ndarray, log_flash: np.ndarray, flash: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames of the background, and their derivatives by log alpha of all layers together and by the logarithms of
    the flash.
    """
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None, None], grid.shape).copy()
    linearization = with_flash(model, log_flash, grid).linearize(alpha)
    frames = linearization.frames.double().numpy()
    columns = [frames]  # frames are proportional to the amplitude
    if flash and len(log_flash) > 1:
        deeper = with_flash(model, log_flash + np.array([0.0, PROBE]), grid)
        columns.append((deeper(alpha).double().numpy() - frames) / PROBE)
    by_flash = np.stack(columns) if flash else np.empty((0, *frames.shape))
    return frames, linearization.jvp(alpha).double().numpy(), by_flash
