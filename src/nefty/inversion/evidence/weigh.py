"""The evidence of a reconstruction: what the frames show of a real part, or of the regions of a volume."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cache

import numpy as np
from scipy import ndimage

from nefty.data.facts import Facts
from nefty.inversion.calibration.interface import Calibration
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.evidence.contrast import Contrast
from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.limits import references
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.weighing import Explain, SoundPart, Weighing, judged
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.slab.weak_sheet import WeakSheet
from nefty.result.frame_evidence import CLEAR, FrameEvidence, RegionEvidence
from nefty.result.indications.segmentation import segment

FAINT = 0.3  # noise over temperature, beyond which a frame is left out
LOWEST = 0.05  # T/T_sound that is not taken smaller in logarithms
SOONEST = 0.2  # of a frame after the middle of the flash
ENOUGH = 0.8  # share of the frames in which a pixel must count
BESIDE = 2  # pixels around such a region that do not tell how much sound places scatter
LEAST_SOUND = 0.1  # share of the pixels that must be left to tell it
HOLLOW = 0.98  # share of the diffusivity that a hole has lost in the volume that the inversion begins with
DIMMEST = 1e-4  # weight of a pixel below which it is not looked at


def weigh_sheets(
    known: RealPartCalibration, settings: EvidenceSettings, facts: Facts
) -> tuple[FrameEvidence, np.ndarray]:
    """What the frames show of a real part, what they would have shown, and the volume (z, y, x) that has it."""
    part, grid = sound_part(known), known.model.grid
    evidence, resistance, depth = find(part, settings, references(facts), known.decay.gain)
    alpha, dz = part.slab.alpha, grid.spacing[0]
    volume = np.full(grid.shape, alpha)
    layer = np.clip((depth / dz).astype(int), 0, grid.shape[0] - 1)
    layers = np.arange(grid.shape[0])[:, None, None]
    volume[:] = np.where(layers == layer, 1 / (1 / alpha + resistance / dz), volume)
    holes = [number for number, region in enumerate(evidence.regions, 1) if region.open_to_back]
    volume[:] = np.where((layers > layer) & np.isin(evidence.labels, holes), alpha * (1 - HOLLOW), volume)
    return evidence, volume


def weigh_volume(known: Calibration, volume: np.ndarray, settings: EvidenceSettings) -> FrameEvidence | None:
    """How clearly the frames show each region that the rule ``"default"`` finds in a volume, (z, y, x).

    ``None`` where there is no background, or both faces were seen.
    """
    model, background = known.model, known.background
    if background is None or model.observe != "front":
        return None
    part, used = layered_part(known)
    found = segment(volume, background, model.grid, "default", model.boundary.lateral)
    flat = np.broadcast_to(background[:, None, None], volume.shape)
    reference = _log_frames(known, flat.copy(), used)
    masks = [np.asarray((found.labels == name).any(axis=0)) for name in range(1, found.number + 1)]

    @cache
    def explained(kept: tuple[int, ...]) -> np.ndarray:
        dropped = (found.labels > 0) & ~np.isin(found.labels - 1, kept)
        return _log_frames(known, np.where(dropped, flat, volume), used) - reference

    def explain(kept: Sequence[int]) -> np.ndarray:
        return explained(tuple(kept))

    all_pixels = part.contrast.counted
    weighing = Weighing(_evened(part, all_pixels), settings, all_pixels)
    first = _scored(weighing, masks, explain)
    clear = [mask for mask, r in zip(masks, first.regions, strict=True) if r.score >= CLEAR * first.threshold]
    evidence = first
    if clear:  # their pixels do not tell how much sound places scatter
        beside = ~np.asarray(ndimage.binary_dilation(np.any(clear, axis=0), iterations=BESIDE), dtype=bool)
        sound = beside & all_pixels
        if sound.mean() >= LEAST_SOUND:
            evidence = _scored(weighing.again(_evened(part, sound), sound), masks, explain)
    return dataclasses.replace(evidence, labels=found.labels)


def _evened(part: SoundPart, sound: np.ndarray) -> SoundPart:
    """A part without what the rows and columns of its frames have in common, as some pixels (y, x) tell."""
    return dataclasses.replace(part, contrast=part.contrast.evened(sound))


def _scored(weighing: Weighing, masks: list[np.ndarray], explain: Explain) -> FrameEvidence:
    """The evidence of regions whose footprints are given, (y, x), without their labels.

    Args:
        weighing: of the part.
        masks: of the regions.
        explain: ln(T/T_sound) of some regions only, (t, y, x).
    """
    scores, everything = judged(weighing, masks, explain)
    nowhere = np.zeros(weighing.looks.map.shape, dtype=np.int32)
    return weighing.evidence(nowhere, [RegionEvidence(s) for s in scores], everything.left_over(weighing.looks))


def sound_part(known: RealPartCalibration) -> SoundPart:
    """The contrast of a real recording over its calibrated sound part."""
    decay, fit, model = known.decay, known.fit, known.model
    shape = fit.surface(decay)[:, None, None] * fit.surroundings(decay)
    level = decay.amplitude * fit.surface(decay) * decay.common
    sound = decay.amplitude * decay.gain * decay.common[:, None, None] * shape
    spread = np.divide(decay.noise, level, out=np.full(level.shape, np.inf), where=level > 0)
    times, heating = known.clock()
    begun = times > SOONEST * np.diff(times).min()  # a delay may move the first frame to before the flash
    used = (np.arange(len(level)) >= known.first_even) & (spread < FAINT) & begun
    ratio = np.divide(fit.frames, sound, out=np.ones(fit.frames.shape), where=fit.counted & (sound > 0))
    weight = (fit.counted[used].mean(axis=0) > ENOUGH).astype(np.float64)
    values = np.log(np.maximum(ratio, LOWEST))[used] * weight
    contrast = Contrast(times[used], values, weight, spread[used], model.grid.spacing[1:], heating)
    slab = WeakSheet(decay.alpha, model.grid.size[0], decay.h_front, decay.h_back)
    return SoundPart(contrast, slab, model.anisotropy, known.buried * model.grid.spacing[0])


def layered_part(known: Calibration) -> tuple[SoundPart, np.ndarray]:
    """The contrast of a recording over a part of strata; its discs are looked for as in one of their mean diffusivity.

    Pixels in the dim outskirts of a flash weigh less, by the square of their brightness over the noise.

    Returns:
        the part, and which frames are looked at, (t,).
    """
    seen, model, background = known.observation, known.model, known.background
    assert background is not None
    sound = model(np.broadcast_to(background[:, None, None], model.grid.shape).copy()).double().numpy()
    noise = np.broadcast_to(np.sqrt(seen.variance), seen.frames.shape)
    relative = np.divide(noise, sound, out=np.full(sound.shape, np.inf), where=sound > 0)
    spread = relative.min(axis=(1, 2))
    used = spread < FAINT
    typical = np.median(relative[used] / spread[used][:, None, None], axis=0)
    weight = np.where(seen.counted[used].mean(axis=0) > ENOUGH, 1 / typical**2, 0.0)
    weight[weight < DIMMEST] = 0.0
    ratio = np.divide(seen.frames, sound, out=np.ones(sound.shape), where=seen.counted & (sound > 0))
    values = np.log(np.maximum(ratio, LOWEST))[used] * (weight > 0)
    heating = model.initial if isinstance(model.initial, HeatingCurve) else None
    contrast = Contrast(seen.times[used], values, weight, spread[used], model.grid.spacing[1:], heating)
    bulk = float(np.exp(np.mean(np.log(background))))
    slab = WeakSheet(bulk, model.grid.size[0], model.boundary.h_front, model.boundary.h_back)
    return SoundPart(contrast, slab, model.anisotropy, 0.0), used


def _log_frames(known: Calibration, volume: np.ndarray, used: np.ndarray) -> np.ndarray:
    """ln of those frames of a volume, (t, y, x)."""
    frames = known.model(volume).double().numpy()[used]
    return np.log(np.maximum(frames, np.finfo(np.float64).tiny))
