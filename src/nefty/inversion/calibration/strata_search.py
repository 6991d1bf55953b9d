"""The search for strata: which cut of a part into few materials explains the quiet pixels best."""

from __future__ import annotations

import dataclasses
from math import exp, log

import numpy as np

from nefty.inversion.calibration.robust_fit import quadratic_form, trust
from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.calibration.strata import best_cut, count_strata
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel
from nefty.physics.layered import LayeredModel


class StrataSearch:
    """The cut of a part without defects into few strata that explains the quiet pixels best.

    Args:
        model: on the cells of ``seen``.
        seen: the recording.
        bulk: the diffusivity if there is one stratum.
        settings: numbers of the fit.
    """

    def __init__(self, model: HeatModel, seen: Observation, bulk: float, settings: LayeredSettings) -> None:
        chosen = _frames(len(seen.times), settings)
        self._settings, self._part = settings, LayeredModel(model, chosen)
        self._seen = dataclasses.replace(seen.of_frames(chosen), relative=settings.relative)
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
        worth, least = self._settings.worth, 1e-12 * self._seen.peak
        best = min(self._found, key=lambda k: 2 * log(max(self._found[k][0], least)) + worth * k)
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
        seen, settings, reach = self._seen, self._settings, self._settings.reach
        for _ in range(settings.steps + 1):
            predicted, jacobian = self._part.linearize(np.exp(log_alpha))
            misfit = np.where(seen.counted, seen.frames - predicted, 0.0)
            weight, residual = trust(misfit, predicted, seen, settings, self._warmer if each else None)
            if count_strata(log_alpha) <= strata and residual < self._found.get(strata, (np.inf,))[0]:
                self._found[strata] = residual, log_alpha
            quadratic = quadratic_form(jacobian, weight * seen.weights, misfit)
            cut = best_cut(*quadratic, log_alpha, strata, reach)
            # The reach bounds the step; all steps together stay as near to the bulk.
            before, log_alpha = log_alpha, np.clip(cut.log_alpha, self._middle - reach, self._middle + reach)
            if np.abs(log_alpha - before).max() < settings.settled:
                break


def _frames(count: int, settings: LayeredSettings) -> np.ndarray:
    """Indices of the frames that tell strata apart, dense at first."""
    dense = settings.dense_frames
    spread = (np.geomspace(1, 1 + count / dense, settings.frames) - 1) * dense
    return np.unique(np.round(spread).astype(int).clip(0, count - 1))
