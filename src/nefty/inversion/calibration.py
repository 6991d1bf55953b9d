"""The sound part: its diffusivity at each depth, and the strength of the flash, from the typical decay.

The model of a part without defects has few unknowns: a diffusivity for each of a few strata, and the flash's amplitude
and depth. They are fitted by Gauss-Newton with exact Jacobians. Pixels over defects do not fit, and count the less the
worse they do. How many strata there are, and where one ends, is found by trying all ways to cut the part
(``strata``); a stratum more must fit the quiet pixels better by a clear factor.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
import torch

from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.inversion.coarsening import blocks, mean_of_counted, wider_cells, wider_pixels
from nefty.inversion.observation import Observation
from nefty.inversion.strata import best_cut, best_cuts, count_strata
from nefty.physics.heat_model import HeatModel
from nefty.physics.layered import LayeredModel
from nefty.physics.linearization import Linearization
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash

STEPS = 8  # of Gauss-Newton, at most
SETTLED = 2e-3  # a step of a logarithm that is not worth another
LARGEST_STEP = 0.3  # of a logarithm
REACH = 1.0  # of log alpha: how far a stratum may be from the mean
FAINT = 0.1  # pixels below this share of the brightest say little
QUIET = 0.25  # the share of pixels that is taken to be sound at least
GUESSES = 25
PROBE = 0.02  # relative change of the flash's depth for its derivative
RELATIVE = 1e-3  # the share of a temperature that a part without defects cannot explain anyway
UNLIKE_A_DEFECT = 0.1  # factor on misfits of the sign that defects do not cause: they are the model's
FRAMES = 24  # that tell the strata apart, dense at first
WORTH = 1.3  # by which the logarithm of the squared residual must fall for a stratum more
WORTH_LATER = 0.4  # the same for the whole misfit, under the defects found


@dataclass(frozen=True, eq=False)
class Calibration:
    """The fitted sound part.

    Args:
        background: diffusivity of each layer, (z,).
        bulk: the one diffusivity that fits best if all layers have the same.
        excitation: the flash with its fitted amplitude and depth.
    """

    background: np.ndarray
    bulk: float
    excitation: Any


def calibrate(model: HeatModel, seen: Observation, start: float, *, strata: int, flash: bool) -> Calibration:
    """Fit the sound part to a recording.

    Args:
        model: of the part.
        seen: the recording.
        start: a first guess of the diffusivity.
        strata: how many the part may have at most.
        flash: fit the flash's amplitude, and its depth if it has one.
    """
    seen = wider_pixels(seen) or seen
    log_alpha, log_flash = np.full(seen.grid.shape[0], log(start)), np.zeros(2 if _has_depth(model.initial) else 1)
    for _ in range(STEPS):
        predicted, by_alpha, by_flash = _sensitivities(model, seen.grid, log_alpha, log_flash, flash)
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        weight, _ = _trust(misfit, predicted, seen)
        normal, right, _ = _quadratic(np.concatenate([by_alpha[None], by_flash]), weight * seen.weights, misfit)
        if not np.trace(normal) > 0:
            raise NeftyError(
                f"the frames of a sound part do not depend on its diffusivity at {exp(log_alpha[0]):g}; check times, "
                "size, flash and the number of layers (model.layers)."
            )
        normal += 1e-12 * np.trace(normal) * np.eye(len(normal))
        move = np.clip(np.linalg.solve(normal, right), -LARGEST_STEP, LARGEST_STEP)
        if not np.isfinite(move).all():
            raise NeftyError(
                f"the fit of the sound part failed after {exp(log_alpha[0]):g}; check times, size and flash, or "
                "give a better first guess of the bulk diffusivity."
            )
        log_alpha = log_alpha + move[0]
        log_flash = log_flash + (move[1:] if flash else 0.0)
        if np.abs(move).max() < SETTLED:
            break
    bulk = exp(log_alpha[0])
    if strata > 1:
        search = _StrataSearch(_with_flash(model, log_flash, seen.grid), seen, bulk)
        log_alpha = search.run(strata)
        bulk = search.bulk
    return Calibration(np.exp(log_alpha), bulk, _scaled(model.initial, log_flash))


class _StrataSearch:
    """The cut of a part without defects into few strata that explains the quiet pixels best.

    Args:
        model: on the cells of ``seen``.
        seen: the recording.
        bulk: the diffusivity if there is one stratum.
    """

    def __init__(self, model: HeatModel, seen: Observation, bulk: float) -> None:
        last = len(seen.times)
        chosen = np.unique(np.round((np.geomspace(1, 1 + last / 6, FRAMES) - 1) * 6).astype(int).clip(0, last - 1))
        self._part = LayeredModel(model, chosen)
        self._seen = dataclasses.replace(seen.of_frames(chosen), relative=RELATIVE)
        self._middle = log(bulk)
        # A defect keeps heat at the front and from the back.
        self._warmer = {"front": 1.0, "back": -1.0}.get(model.observe, np.array([1.0, -1.0])[:, None, None, None])
        self._found: dict[int, tuple[float, np.ndarray]] = {}

    def run(self, most: int) -> np.ndarray:
        """log alpha of the layers.

        Each number of strata is tried from the best cut into one less and one more, with either kind of trust in the
        values: Gauss-Newton steps choose among all cuts, but only near where they stand.
        """
        self._descend(np.full(self._seen.grid.shape[0], self._middle), 1)
        ways = [(k, k - 1) for k in range(2, most + 1)] + [(k, k + 1) for k in range(most - 1, 1, -1)]
        for each in (True, False):
            for strata, begin in ways:
                if begin in self._found:
                    self._descend(self._found[begin][1], strata, each)
        best = min(self._found, key=lambda k: 2 * log(max(self._found[k][0], 1e-12 * self._seen.peak)) + WORTH * k)
        return self._found[best][1]

    @property
    def bulk(self) -> float:
        """The diffusivity that fits best if there is one stratum."""
        return exp(self._found[1][1][0])

    def _descend(self, log_alpha: np.ndarray, strata: int, each: bool = True) -> None:
        """Gauss-Newton over all cuts into so many strata; keeps the best.

        Args:
            log_alpha: where to begin.
            strata: at most.
            each: judge each value by itself, else a pixel as a whole.
        """
        seen = self._seen
        for _ in range(STEPS + 1):
            predicted, jacobian = self._part.linearize(np.exp(log_alpha))
            misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
            weight, residual = _trust(misfit, predicted, seen, self._warmer if each else None)
            if count_strata(log_alpha) <= strata and residual < self._found.get(strata, (np.inf,))[0]:
                self._found[strata] = residual, log_alpha
            quadratic = _quadratic(jacobian, weight * seen.weights, misfit)
            cut = best_cut(*quadratic, log_alpha, strata, REACH)
            # REACH bounds the step; all steps together stay as near to the bulk.
            before, log_alpha = log_alpha, np.clip(cut.log_alpha, self._middle - REACH, self._middle + REACH)
            if np.abs(log_alpha - before).max() < SETTLED:
                break


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
    model: HeatModel, alpha: np.ndarray, background: np.ndarray, seen: Observation, *, strata: int, steps: int
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
    """
    pixels = wider_pixels(seen)
    wide = pixels is not None
    part, pixels = (wider_cells(model), pixels) if wide else (model, seen)
    pixels = dataclasses.replace(pixels, relative=RELATIVE)
    log_alpha = blocks(np.log(alpha)) if wide else np.log(alpha)
    log_background, log_factor = np.log(background), np.zeros(len(background))
    bright = np.abs(pixels.frames).max(axis=-3, keepdims=True)
    usable = pixels.counted.any(axis=-3, keepdims=True)
    values = np.maximum(pixels.counted.sum(axis=-3, keepdims=True), 1)
    for _ in range(steps):
        predicted = model(alpha * np.exp(log_factor)[:, None, None]).double().numpy()
        misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
        misfit = mean_of_counted(misfit, seen.counted)[0] if wide else misfit
        level = np.sqrt(np.sum(misfit**2, axis=-3, keepdims=True) / values) / np.maximum(bright, FAINT**2 * seen.peak)
        typical = max(float(np.median(level[usable])), 1e-12)
        weights = pixels.weights / (1 + (level / (2 * typical)) ** 2)
        jacobian = by_layers(part.linearize(np.exp(log_alpha + log_factor[:, None, None])))
        normal, right, total = _quadratic(jacobian, weights, misfit)
        if total == 0:
            break
        cuts = best_cuts(normal, right, total, log_background + log_factor, strata, REACH)
        best = min(cuts, key=lambda cut: log(max(cut.misfit, 1e-6 * total)) + WORTH_LATER * cut.strata)
        log_factor += np.clip(best.log_alpha - log_background - log_factor, -LARGEST_STEP, LARGEST_STEP)
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


def _quadratic(jacobian: np.ndarray, weights: np.ndarray, misfit: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """J^T W J, J^T W r and r^T W r, which make the misfit a quadratic form (Gauss-Newton).

    Args:
        jacobian: derivatives of the frames, (unknown, ..., t, y, x).
        weights: W, of the shape of the frames.
        misfit: r, measured - predicted.
    """
    j, w, r = jacobian.reshape(len(jacobian), -1), weights.ravel(), misfit.ravel()
    weighted = j * w
    return weighted @ j.T, weighted @ r, float(w @ r**2)


def _sensitivities(
    model: HeatModel, grid: Grid, log_alpha: np.ndarray, log_flash: np.ndarray, flash: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames of the sound part, and their derivatives by log alpha of all layers together and by the logarithms of
    the flash.
    """
    alpha = np.broadcast_to(np.exp(log_alpha)[:, None, None], grid.shape).copy()
    linearization = _with_flash(model, log_flash, grid).linearize(alpha)
    frames = linearization.frames.double().numpy()
    columns = [frames]  # frames are proportional to the amplitude
    if flash and len(log_flash) > 1:
        deeper = _with_flash(model, log_flash + np.array([0.0, PROBE]), grid)
        columns.append((deeper(alpha).double().numpy() - frames) / PROBE)
    by_flash = np.stack(columns) if flash else np.empty((0, *frames.shape))
    return frames, linearization.jvp(alpha).double().numpy(), by_flash


def _trust(
    misfit: np.ndarray, predicted: np.ndarray, seen: Observation, warmer: np.ndarray | float | None = None
) -> tuple[np.ndarray, float]:
    """Weight of each pixel, (..., 1, y, x), or value, and the root mean square residual of the pixels that fit best.

    Cauchy-like, squared: what has a relative misfit far above the quiet ones' hardly counts.

    Args:
        misfit: measured - predicted.
        predicted: by a part without defects.
        seen: the recording.
        warmer: weigh each value by itself, since the trace of a deep defect comes late and spoils nothing before; 1
            where defects make a face warmer, -1 where cooler.
    """
    values = np.maximum(seen.counted.sum(axis=-3, keepdims=True), 1)
    bright = np.abs(predicted).max(axis=-3, keepdims=True)
    level = np.sqrt(np.sum(misfit**2, axis=-3, keepdims=True) / values)
    usable = seen.counted.any(axis=-3, keepdims=True)
    usable &= bright > FAINT * np.where(usable, bright, 0.0).max(axis=(-2, -1), keepdims=True)  # of its own face
    safe = np.maximum(bright, 1e-12 * bright.max())
    relative = level / safe
    least = max(seen.typical_noise / (2 * float(bright.max())), 1e-9)
    quiet = max(float(np.quantile(relative[usable], QUIET)), least)
    chosen = usable & (relative <= quiet)
    residual = float(np.sqrt(np.mean(level[chosen] ** 2))) if chosen.any() else seen.typical_noise
    if warmer is not None:
        like_a_defect = np.where(warmer * misfit < 0, UNLIKE_A_DEFECT, 1.0)
        relative, usable = np.abs(misfit) / safe * like_a_defect, usable & seen.counted
        quiet = max(float(np.median(relative[usable])), least)
    return usable / (1 + (relative / (1.5 * quiet)) ** 2) ** 2, residual


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
