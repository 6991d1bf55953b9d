"""A part without defects, fitted to what sound places show, with one of its facts free or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nefty.inversion.calibration.coarsening import wider_cells
from nefty.inversion.calibration.robust_fit import Quadratic, quadratic_form
from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.calibration.strata import Cut, best_cut
from nefty.inversion.suspects.settings import SuspectSettings
from nefty.inversion.suspects.stated import StatedFact
from nefty.physics.heat_model import HeatModel
from nefty.physics.layered import LayeredModel


class Fitted(NamedTuple):
    """The best part of few strata.

    Args:
        misfit: chi^2, the sum of squares of what it leaves over the noise.
        log_alpha: of its layers, (z,).
        value: of the fact that was free; NaN if none was.
    """

    misfit: float
    log_alpha: np.ndarray
    value: float


@dataclass(frozen=True, eq=False)
class SoundFit:
    """What sound places show, and how a part is fitted to it.

    Args:
        model: of the part, as stated.
        wide: whether the frames have pixels twice as wide as the model's.
        chosen: indices of the frames, (t,).
        frames: (..., t, y, x).
        weights: 1/variance, of the same shape; 0 where nothing counts.
        start: a first guess of the logarithm of the diffusivity.
        strata: how many the part may have.
        layered: numbers of the fit of strata.
        settings: of the fit of the fact.
    """

    model: HeatModel
    wide: bool
    chosen: np.ndarray
    frames: np.ndarray
    weights: np.ndarray
    start: float
    strata: int
    layered: LayeredSettings
    settings: SuspectSettings

    def fit(self, fact: StatedFact | None = None) -> Fitted:
        """The part, first of one stratum and then of up to ``strata``, and the fact, by Gauss-Newton."""
        flat = np.full(self.model.grid.shape[0], self.start)
        one = self._descend(Fitted(np.inf, flat, np.nan if fact is None else fact.stated), 1, fact)
        return one if self.strata == 1 else self._descend(one._replace(misfit=np.inf), self.strata, fact)

    def fit_from(self, log_alpha: np.ndarray) -> Fitted:
        """The part with all facts as stated, from the logarithms of its layers, (z,)."""
        return self._descend(Fitted(np.inf, log_alpha, np.nan), self.strata, None)

    def nearby(self, at: Fitted, fact: StatedFact) -> float:
        """The misfit that a fact leaves by one step from a part that was fitted without it, to first order."""
        return self._step(at.log_alpha, fact.stated, self.strata, fact)[1].misfit

    def _descend(self, at: Fitted, strata: int, fact: StatedFact | None) -> Fitted:
        """Steps over all ways to cut the part into so many strata; the best of all places that were reached."""
        numbers, best, log_alpha, value = self.layered, at, at.log_alpha, at.value
        for _ in range(self.settings.steps + 1):
            total, cut, further = self._step(log_alpha, value, strata, fact)
            if total < best.misfit:
                best = Fitted(total, log_alpha, value)
            longest = numbers.largest_step if strata == 1 else numbers.reach
            move = np.clip(cut.log_alpha - log_alpha, -longest, longest)
            log_alpha, before = log_alpha + move, value
            change = 0.0
            if fact is not None:
                value = further
                change = (value - before) / fact.scale
            if max(float(np.abs(move).max()), abs(change)) < self.settings.settled:
                break
        return best

    def _step(
        self, log_alpha: np.ndarray, value: float, strata: int, fact: StatedFact | None
    ) -> tuple[float, Cut, float]:
        """The misfit of a part; the best cut near it, with the misfit that leaves; and the value of the fact then."""
        alpha, reach = np.exp(log_alpha), self.layered.reach
        predicted, jacobian = self._part(fact, value).linearize(alpha)
        residual = np.where(self.weights > 0, self.frames - predicted, 0.0)
        near = quadratic_form(jacobian, self.weights, residual)
        if fact is None:
            return near.total, best_cut(*near, log_alpha, strata, reach), value
        small = self.settings.step * fact.scale
        slope = (self._part(fact, value + small).linearize(alpha)[0] - predicted) / small
        own = (self.weights * slope).ravel()
        bent, pull = jacobian.reshape(len(alpha), -1) @ own, float(own @ residual.ravel())
        curved = float(own @ slope.ravel())
        if not curved > 0:
            return near.total, best_cut(*near, log_alpha, strata, reach), value
        # The fact takes its best value for each move of the layers, so the form is one in the layers alone.
        alone = Quadratic(
            near.normal - np.outer(bent, bent) / curved,
            near.right - bent * pull / curved,
            near.total - pull**2 / curved,
        )
        cut = best_cut(*alone, log_alpha, strata, reach)
        longest = self.settings.largest_step * fact.scale
        change = float(np.clip((pull - bent @ (cut.log_alpha - log_alpha)) / curved, -longest, longest))
        return near.total, cut, fact.within(value + change)

    def _part(self, fact: StatedFact | None, value: float) -> LayeredModel:
        model = self.model if fact is None else fact.model(value)
        return LayeredModel(wider_cells(model) if self.wide else model, self.chosen)
