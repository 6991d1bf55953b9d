"""Which stated fact, if it were a little different, would explain what sound places leave.

The volume of a reconstruction and its sixteen free layers absorb much of a wrong fact, so what the volume leaves says
little of the cause. A sound part has few materials. So a part of few strata is fitted to the pixels away from what was
found: once with all facts as stated, and once for each fact with that one free. A fact is named if its part leaves
clearly less. What was called may be a defect, or come from the wrong fact: the frames are taken both less what it
explains and as they are, and the better fit counts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage
from scipy.stats import chi2

from nefty.inversion.calibration.coarsening import blocks, wider_cells, wider_pixels
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.calibration.settings import CalibrationSettings
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import Recipe
from nefty.inversion.suspects.sound_fit import SoundFit
from nefty.inversion.suspects.stated import stated_facts
from nefty.physics.heat_model import HeatModel
from nefty.physics.layered import LayeredModel
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.suspect import SuspectFact

#: Share of the pixels that must be left beside what was found; else all of them are looked at.
LEAST_SOUND = 0.1


def suspect_facts(
    known: LayeredCalibration,
    volume: np.ndarray,
    shown: FrameEvidence | None,
    recipe: Recipe,
) -> tuple[SuspectFact, ...]:
    """The facts that may be wrong, the most suspect first; none if all are as they should be.

    Args:
        known: the part and the recording.
        volume: as it was reconstructed, (z, y, x).
        shown: what of it was called.
        recipe: of the reconstruction.
    """
    model, seen, settings, doubt = known.model, known.observation, recipe.suspects, recipe.evidence.doubt
    if not model.plain_cells:
        return ()
    start = float(np.median(np.log(known.background)))
    called = _called(volume.shape, shown)
    fit = _sound_fit(model, seen, _sound_pixels(model, called, settings.beside), start, recipe)
    fits, explained = [fit], 0.0
    if called.any():
        of_called = _explained(known, volume, called, fit)
        fits = [replace(fit, frames=fit.frames - of_called), fit]
        explained = float((fit.weights * of_called**2).sum())
    number = int((fit.weights > 0).sum())
    facts = stated_facts(model, float(np.exp(start)), flash=not recipe.calibration.flash)
    # The model's own error, and that of what was called, are no noise: at worst all of them look like the fact.
    unlikely = float(chi2.isf(settings.error_rate / len(facts), 1))
    own = float(fit.weights.sum()) * (recipe.noise.floor * seen.peak) ** 2
    errors = own + doubt**2 * explained
    as_stated, fit = min(((one.fit(), one) for one in fits), key=lambda one: one[0].misfit)
    if max(as_stated.misfit - fit.nearby(as_stated, fact) for fact in facts) < unlikely + errors:
        return ()
    tried = [(min((one.fit(fact) for one in fits), key=lambda one: one.misfit), fact) for fact in facts]
    found, likeliest = min(tried, key=lambda one: one[0].misfit)
    best = found.misfit
    if abs(found.value - likeliest.stated) < likeliest.least:
        return ()
    # A fit of strata may end in one of several places: what the best fact found is open to the stated facts too.
    as_stated = min(as_stated, *(one.fit_from(found.log_alpha) for one in fits), key=lambda one: one.misfit)
    scatter = unlikely * max(best / number, 1.0)
    if as_stated.misfit - best < max(scatter + errors, settings.most * (as_stated.misfit - number)):
        return ()
    alike = best + scatter + own + (settings.as_good - 1) * max(best - number, 0.0)
    named = sorted(((one, fact) for one, fact in tried if one.misfit <= alike), key=lambda one: one[0].misfit)
    gains = [as_stated.misfit - one.misfit for one, _ in named]
    return tuple(
        SuspectFact(fact.name, fact.stated, float(one.value), gain, fact.quantity)
        for (one, fact), gain in zip(named, gains, strict=True)
    )


def _called(shape: tuple[int, ...], shown: FrameEvidence | None) -> np.ndarray:
    """Cells (z, y, x) of what was called."""
    nowhere = np.zeros(shape, dtype=bool)
    return nowhere if shown is None or not shown.called else nowhere | np.isin(shown.labels, shown.called)


def _explained(known: LayeredCalibration, volume: np.ndarray, called: np.ndarray, fit: SoundFit) -> np.ndarray:
    """What the called cells of a volume add to the frames that are fitted, of their shape."""
    sound = np.broadcast_to(known.background[:, None, None], volume.shape).copy()
    added = (known.model(np.where(called, volume, sound)) - known.model(sound)).double().numpy()
    added = added[..., fit.chosen, :, :]
    return blocks(added) if fit.wide else added


def _sound_pixels(model: HeatModel, called: np.ndarray, beside: float) -> np.ndarray:
    """Pixels (y, x) away from what was called, by so many thicknesses; all if hardly any are."""
    everywhere = np.ones(model.grid.shape[1:], dtype=bool)
    if not called.any():
        return everywhere
    thickness, (_, dy, dx) = model.grid.size[0], model.grid.spacing
    far = np.asarray(ndimage.distance_transform_edt(~called.any(axis=0), sampling=(dy, dx))) > beside * thickness
    return far if far.mean() >= LEAST_SOUND else everywhere


def _sound_fit(
    model: HeatModel,
    seen: Observation,
    sound: np.ndarray,
    start: float,
    recipe: Recipe,
) -> SoundFit:
    """What is fitted, on pixels twice as wide where that can be."""
    calibration, settings = recipe.calibration, recipe.suspects
    chosen = _frames(len(seen.times), calibration)
    few = seen.of_frames(chosen)
    wide = wider_pixels(few)
    pixels = few if wide is None else wide
    frames = pixels.frames
    if wide is not None:
        sound = blocks(sound.astype(np.float64)) == 1
        flat = np.full(model.grid.shape[0], np.exp(start))
        fine = blocks(LayeredModel(model, chosen).linearize(flat)[0])
        frames = frames - fine + LayeredModel(wider_cells(model), chosen).linearize(flat)[0]  # the wide cells' error
    weights = np.where(pixels.counted & sound, 1 / np.broadcast_to(pixels.variance, frames.shape), 0.0)
    strata = calibration.most_strata
    return SoundFit(model, wide is not None, chosen, frames, weights, start, strata, calibration.layered, settings)


def _frames(count: int, calibration: CalibrationSettings) -> np.ndarray:
    """Indices of the frames that are looked at: those that tell strata apart, dense at first."""
    dense = calibration.layered.dense_frames
    spread = (np.geomspace(1, 1 + count / dense, calibration.layered.frames) - 1) * dense
    return np.unique(np.round(spread).astype(int).clip(0, count - 1))
