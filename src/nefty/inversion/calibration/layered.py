"""A background of few strata, each of one diffusivity, under a flash of known or fitted strength; one: constant.

The model of a part without defects has few unknowns: a diffusivity for each of a few strata, and the flash's amplitude
and depth. They are fitted by Gauss-Newton with exact Jacobians. Pixels over defects do not fit, and count the less the
worse they do. How many strata there are, and where one ends, is found by trying all ways to cut the part
(``strata``); a stratum more must fit the quiet pixels better by a clear factor.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np

from nefty.inversion.calibration.bulk import first_guess, fit_bulk
from nefty.inversion.calibration.coarsening import wider_pixels
from nefty.inversion.calibration.flash import scaled, with_flash
from nefty.inversion.calibration.interface import UnchangedRecording
from nefty.inversion.calibration.refinement import refine_strata
from nefty.inversion.calibration.settings import CalibrationSettings, LayeredSettings
from nefty.inversion.calibration.strata_search import StrataSearch
from nefty.inversion.observation import Observation
from nefty.physics.heat_model import HeatModel


@dataclass(frozen=True, eq=False)
class LayeredFit:
    """A fitted background.

    Args:
        background: diffusivity of each layer, (z,).
        bulk: the one diffusivity that fits best if all layers have the same.
        excitation: the flash with its fitted amplitude and depth.
    """

    background: np.ndarray
    bulk: float
    excitation: Any


def fit_layers(
    model: HeatModel,
    seen: Observation,
    start: float,
    *,
    strata: int,
    flash: bool,
    settings: LayeredSettings | None = None,
) -> LayeredFit:
    """Fit a background of strata to a recording.

    Args:
        model: of the part.
        seen: the recording.
        start: a first guess of the diffusivity.
        strata: how many the part may have at most.
        flash: fit the flash's amplitude, and its depth if it has one.
        settings: numbers of the fit.
    """
    settings = settings or LayeredSettings()
    seen = wider_pixels(seen) or seen
    log_alpha, log_flash = fit_bulk(model, seen, start, flash=flash, settings=settings)
    bulk = exp(log_alpha[0])
    if strata > 1:
        search = StrataSearch(with_flash(model, log_flash, seen.grid), seen, bulk, settings)
        log_alpha = search.run(strata)
        bulk = search.bulk
    return LayeredFit(np.exp(log_alpha), bulk, scaled(model.initial, log_flash))


class LayeredCalibration(UnchangedRecording):
    """A background of strata; the recording stays as it is.

    Args:
        model: of the part, under the fitted flash.
        seen: the recording.
        background: diffusivity of each layer, (z,).
        settings: how it is fitted again.
    """

    def __init__(
        self, model: HeatModel, seen: Observation, background: np.ndarray, settings: CalibrationSettings
    ) -> None:
        super().__init__(model, seen)
        self._background, self._settings = background, settings

    @classmethod
    def fitted(cls, model: HeatModel, seen: Observation, settings: CalibrationSettings) -> LayeredCalibration:
        """Fit the strata to a recording, and the flash if asked to."""
        numbers = settings.layered
        start = settings.start or first_guess(model, seen, numbers)
        found = fit_layers(model, seen, start, strata=settings.most_strata, flash=settings.flash, settings=numbers)
        return cls(_with_excitation(model, found.excitation), seen, found.background, settings)

    @property
    def background(self) -> np.ndarray:
        """Diffusivity of the layers without defects, (z,)."""
        return self._background

    def refine(self, volume: np.ndarray, steps: int, *, searched: bool) -> int:
        """Fit the strata again, under the defects of the volume, found or given."""
        if not steps:
            return 0
        self._background = refine_strata(
            self._model,
            volume,
            self._background,
            self._seen,
            strata=self._settings.most_strata,
            steps=steps,
            settings=self._settings.layered,
        )
        return steps * (1 + len(self._background) // 2)

    def adopt(self, background: np.ndarray) -> None:
        """Take the background that was optimised along with the defects."""
        self._background = background

    def state(self) -> dict[str, Any]:
        """The background; the flash is fitted once, from the recording alone."""
        return {"background": self._background}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self._background = state["background"]


def _with_excitation(model: HeatModel, excitation: object) -> HeatModel:
    """The model with the calibrated flash."""
    same = dataclasses.is_dataclass(excitation) and excitation == model.initial
    return model if same else model.replaced(initial=excitation)
