"""The sound part: its diffusivity at each depth, and the strength of the flash, from the typical decay.

The model of a part without defects has few unknowns: a diffusivity per layer, and the flash's amplitude and depth.
They are fitted by Gauss-Newton with the exact Jacobian of the solver. Pixels over defects do not fit, and count the
less the worse they do; a total-variation penalty along z keeps layers equal that the data cannot tell apart.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.inversion.coarsening import blocks, mean_of_counted, wider_cells, wider_pixels
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel
from nefty.physics.linearization import Linearization
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

STEPS = 8  # at most, first with one diffusivity for all layers, then with one for each
SETTLED = 2e-3  # a step of a logarithm that is not worth another
LARGEST_STEP = 0.3  # of a logarithm
STEP_ROUNDING = 1e-2  # of log alpha between layers, below which the penalty on steps is quadratic
FAINT = 0.1  # pixels below this share of the brightest say little
QUIET = 0.25  # the share of pixels that is taken to be sound at least
GUESSES = 25
PROBE = 0.02  # relative change of the flash's depth for its derivative


@dataclass(frozen=True, eq=False)
class Calibration:
    """The fitted sound part.

    Args:
        background: diffusivity of each layer, (z,).
        bulk: the one diffusivity that fits best if all layers have the same.
        excitation: the flash with its fitted amplitude and depth.
        residual: root mean square misfit of the quietest quarter of the pixels, in the unit of the frames: what the
            model cannot explain even where there seems to be no defect.
    """

    background: np.ndarray
    bulk: float
    excitation: Any
    residual: float


def calibrate(
    model: HeatModel, seen: Observation, start: float, *, layered: bool, flash: bool, smoothness: float
) -> Calibration:
    """Fit the sound part to a recording.

    Args:
        model: of the part.
        seen: the recording.
        start: a first guess of the diffusivity.
        layered: let each layer have its own.
        flash: fit the flash's amplitude, and its depth if it has one.
        smoothness: weight of sum |log alpha_k+1 - log alpha_k| against the misfit.
    """
    seen = wider_pixels(seen) or seen
    log_alpha = np.full(seen.grid.shape[0], np.log(start))
    log_flash = np.zeros(2 if _has_depth(model.initial) else 1)
    residual, bulk = np.inf, start
    for together in (True, False) if layered else (True,):
        for _ in range(STEPS):
            predicted, by_alpha, by_flash = _sensitivities(model, seen.grid, log_alpha, log_flash, together, flash)
            misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
            weight, residual = _trust(misfit, predicted, seen)
            jacobian = np.concatenate([by_alpha.reshape(-1, misfit.size), by_flash.reshape(len(by_flash), misfit.size)])
            w = (weight * seen.counted).ravel() * seen.scale
            normal, right = (jacobian * w) @ jacobian.T, (jacobian * w) @ misfit.ravel()
            n = len(by_alpha)
            if not together:
                penalty = _step_penalty(log_alpha, smoothness)
                normal[:n, :n] += penalty
                right[:n] -= penalty @ log_alpha
            normal += 1e-12 * np.trace(normal) * np.eye(len(normal))
            move = np.clip(np.linalg.solve(normal, right), -LARGEST_STEP, LARGEST_STEP)
            log_alpha = log_alpha + move[:n]
            log_flash = log_flash + (move[n:] if flash else 0.0)
            if not np.isfinite(move).all():
                raise NeftyError(
                    f"the fit of the sound part failed after {np.exp(log_alpha[0]):g}; check times, size and flash, or "
                    "give a better first guess of the bulk diffusivity."
                )
            if np.abs(move).max() < SETTLED:
                break
        bulk = float(np.exp(log_alpha[0])) if together else bulk
    return Calibration(np.exp(log_alpha), bulk, _scaled(model.initial, log_flash), residual)


def first_guess(model: HeatModel, seen: Observation) -> float:
    """A constant diffusivity to start from: the best of a few, by the median relative misfit of the pixels.

    They are spread over Fourier numbers alpha t/H^2 of the whole recording from 0.01 to 100.
    """
    seen = wider_pixels(seen) or seen
    flash = np.zeros(2 if _has_depth(model.initial) else 1)
    part = _with_flash(model, flash, seen.grid)
    unit = model.grid.size[0] ** 2 / model.times[-1]
    best, found = np.inf, unit
    for fourier in np.geomspace(0.01, 100, GUESSES):
        predicted = part(np.full(seen.grid.shape, fourier * unit)).double().numpy()
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        level = np.sqrt(np.sum(misfit**2, axis=-3)) / np.maximum(np.abs(predicted).max(axis=-3), 1e-12 * seen.peak)
        middle = float(np.median(level[seen.counted.any(axis=-3)]))
        if middle < best:
            best, found = middle, fourier * unit
    return float(found)


def refine_background(
    model: HeatModel, alpha: np.ndarray, background: np.ndarray, seen: Observation, *, smoothness: float, steps: int
) -> np.ndarray:
    """Fit the diffusivity of the layers again, under the defects found so far: Gauss-Newton for a factor per layer.

    The misfit is exact; the Jacobian is that of cells twice as wide, a quarter of the work.

    Args:
        model: of the part.
        alpha: the present volume (z, y, x).
        background: its background (z,).
        seen: the recording.
        smoothness: as for ``calibrate``.
        steps: how many.
    """
    pixels = wider_pixels(seen)
    wide = pixels is not None
    part, pixels = (wider_cells(model), pixels) if wide else (model, seen)
    log_alpha = blocks(np.log(alpha)) if wide else np.log(alpha)
    log_background, log_factor = np.log(background), np.zeros(len(background))
    for _ in range(steps):
        predicted = model(alpha * np.exp(log_factor)[:, None, None]).double().numpy()
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        misfit = mean_of_counted(misfit, seen.counted)[0] if wide else misfit
        level = np.sqrt(np.mean(misfit**2, axis=-3, keepdims=True))
        typical = max(float(np.median(level[pixels.counted.any(axis=-3, keepdims=True)])), 1e-12 * seen.peak)
        w = (pixels.counted / (1 + (level / (2 * typical)) ** 2)).ravel() * pixels.scale
        jacobian = by_layers(part.linearize(np.exp(log_alpha + log_factor[:, None, None])))
        jacobian = jacobian.reshape(len(background), -1)
        penalty = _step_penalty(log_background + log_factor, smoothness)
        normal, right = (jacobian * w) @ jacobian.T, (jacobian * w) @ misfit.ravel()
        normal += penalty + 1e-12 * np.trace(normal) * np.eye(len(normal))
        move = np.linalg.solve(normal, right - penalty @ (log_background + log_factor))
        log_factor += np.clip(move, -LARGEST_STEP, LARGEST_STEP)
    return background * np.exp(log_factor)


def by_layers(linearization: Linearization) -> np.ndarray:
    """Derivative of the frames by log alpha of each layer, (z, ..., t, y, x)."""
    alpha = linearization.point["alpha"]
    columns = []
    for layer in range(alpha.shape[0]):
        move = torch.zeros_like(alpha)
        move[layer] = alpha[layer]
        columns.append(linearization.jvp(move).double().numpy())
    return np.stack(columns)


def _sensitivities(
    model: HeatModel, grid: Grid, log_alpha: np.ndarray, log_flash: np.ndarray, together: bool, flash: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames of the sound part, and their derivatives by log alpha, of each layer or of all ``together``, and by the
    logarithms of the flash.
    """
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None, None], grid.shape).copy()
    linearization = _with_flash(model, log_flash, grid).linearize(alpha)
    frames = linearization.frames.double().numpy()
    columns = [frames]  # frames are proportional to the amplitude
    if flash and len(log_flash) > 1:
        deeper = _with_flash(model, log_flash + np.array([0.0, PROBE]), grid)
        columns.append((deeper(alpha).double().numpy() - frames) / PROBE)
    by_flash = np.stack(columns) if flash else np.empty((0, *frames.shape))
    if together:
        return frames, linearization.jvp(alpha).double().numpy()[None], by_flash
    return frames, by_layers(linearization), by_flash


def _trust(misfit: np.ndarray, predicted: np.ndarray, seen: Observation) -> tuple[np.ndarray, float]:
    """Weight of each pixel, (..., 1, y, x), and the root mean square residual of those that fit best.

    Cauchy-like, squared: a pixel whose relative misfit is far above that of the quietest quarter hardly counts.
    """
    values = np.maximum(seen.counted.sum(axis=-3, keepdims=True), 1)
    bright = np.abs(predicted).max(axis=-3, keepdims=True)
    level = np.sqrt(np.sum(misfit**2, axis=-3, keepdims=True) / values)
    usable = seen.counted.any(axis=-3, keepdims=True)
    usable &= bright > FAINT * bright[usable].max()
    relative = level / np.maximum(bright, 1e-12 * bright.max())
    quiet = max(float(np.quantile(relative[usable], QUIET)), seen.noise / (2 * float(bright.max())), 1e-9)
    weight = usable / (1 + (relative / (1.5 * quiet)) ** 2) ** 2
    chosen = usable & (relative <= quiet)
    residual = float(np.sqrt(np.mean(level[chosen] ** 2))) if chosen.any() else seen.noise
    return weight, residual


def _step_penalty(log_alpha: np.ndarray, smoothness: float) -> np.ndarray:
    """Matrix of the quadratic that touches smoothness * sum sqrt(step^2 + eps^2) / 2 at ``log_alpha``."""
    difference = np.diff(np.eye(len(log_alpha)), axis=0)
    slope = 1 / np.sqrt((difference @ log_alpha) ** 2 + STEP_ROUNDING**2)
    return smoothness / 2 * difference.T @ (slope[:, None] * difference)


def _with_flash(model: HeatModel, log_flash: np.ndarray, grid: Grid) -> HeatModel:
    """The model with amplitude and depth of the flash times exp(log_flash), on its own cells or twice as wide ones."""
    changed = model.replaced(initial=_scaled(model.initial, log_flash))
    return changed if grid == model.grid else wider_cells(changed)


def _scaled(initial: Any, log_flash: np.ndarray) -> Any:
    """The excitation with amplitude and depth times exp(log_flash)."""
    factor = [float(f) for f in np.exp(log_flash)]
    if _has_depth(initial):
        return dataclasses.replace(initial, amplitude=initial.amplitude * factor[0], depth=initial.depth * factor[1])
    if isinstance(initial, TopHatPulse):
        return dataclasses.replace(initial, amplitude=initial.amplitude * factor[0])
    return np.asarray(initial, dtype=np.float64) * factor[0]


def _has_depth(initial: Any) -> bool:
    return isinstance(initial, (GaussianFlash, UniformFlash))
