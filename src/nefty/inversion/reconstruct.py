"""From a recording to a reconstruction, in one call."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nefty.core.configuration import dotted
from nefty.core.errors import InputError
from nefty.core.hdf5 import digest
from nefty.core.provenance import provenance
from nefty.core.run_folder import RunFolder
from nefty.core.stopping import StopReason
from nefty.data.dead_pixels import dead_pixels
from nefty.data.facts import Heating, Note, NoteKind
from nefty.data.noise import estimate_noise
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model, with_excitation
from nefty.inversion.calibration import Calibration, calibrate, first_guess
from nefty.inversion.loop import Optimisation, State, history_of
from nefty.inversion.observation import Observation, peak_of
from nefty.inversion.real_part import RealPart
from nefty.inversion.recipe import Recipe, default_recipe, load_recipe
from nefty.physics.heat_model import HeatModel
from nefty.physics.pulses import TopHatPulse
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction

FREE = ("stop", "summary")  # may differ when a run goes on
QUIET_WEIGHT, NOISE_WEIGHT = 2.0, 25.0  # first weight of the total variation: 2 + 25 * 100 sigma/peak
REAL_NOISE_WEIGHT = 5.0  # of real parts, whose noise is compared with each value instead: 2 + 5 * 100 sigma/T


@dataclasses.dataclass(frozen=True)
class Watch:
    """Who is told what happens.

    Args:
        stage: called with a name when a new part of the work begins.
        progress: called with (stage, iterations done, iterations in all, misfit over the noise floor).
    """

    stage: Callable[[str], object] = lambda name: None
    progress: Callable[[str, int, int, float], object] = lambda stage, done, total, misfit: None


def reconstruct(
    sequence: Sequence,
    model: HeatModel | None = None,
    recipe: str | Path | Mapping[str, Any] | Recipe | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    start: np.ndarray | None = None,
    run: str | os.PathLike[str] | None = None,
    fresh: bool = False,
    watch: Watch | None = None,
) -> Reconstruction:
    """Recover the diffusivity inside a part from a recording of its surface.

    Args:
        sequence: the recording.
        model: of the part; built from what the recording says about itself if not given.
        recipe: a name (``"fast"``, ``"neural"``, ``"paper"``, ``"real"``, ``"warm"``), a .toml file, a mapping; if not
            given, ``"warm"`` with ``start``, ``"real"`` for a recording in metres, else ``"fast"``.
        overrides: dotted keys of the recipe and their values, such as ``{"stop.seconds": 20}``.
        start: diffusivity (z, y, x) to begin with, such as a trained network's; the recipe ``"warm"`` is made for it.
        run: a folder for checkpoints, the log and the result. The same call goes on with a run that was interrupted
            and returns the result of one that is finished.
        fresh: start over, whatever the folder holds.
        watch: told about progress.

    Returns:
        the result; after Ctrl-C the best so far.
    """
    if not isinstance(sequence, Sequence):
        raise InputError(f"a recording must be a nefty.Sequence, got {type(sequence).__name__}; see nefty.load.")
    if recipe is None:
        recipe = default_recipe(in_metres=sequence.facts.units.in_metres, started=start is not None)
    chosen, watch = load_recipe(recipe, overrides), watch or Watch()
    if run is None:
        return _reconstruct(sequence, model, chosen, start, None, watch)
    config = {"recipe": chosen.model_dump(mode="json"), "model": None if model is None else _describe(model)}
    if start is not None:
        config["start"] = digest(np.asarray(start, dtype=np.float64))
    free = [f"recipe.{key}" for key in dotted({k: config["recipe"][k] for k in FREE})]
    with RunFolder.open(run, config, sequence.digest(), free=free, fresh=fresh) as folder:
        if folder.finished:
            return Reconstruction.load(folder.path)
        found = _reconstruct(sequence, model, chosen, start, folder, watch)
        found.save(folder.path)
        if found.stopped.reason is StopReason.FINISHED:
            folder.finish(stopped=found.stopped.text)
        else:
            folder.log("paused", stopped=found.stopped.text)
        return found


def _reconstruct(
    sequence: Sequence,
    model: HeatModel | None,
    recipe: Recipe,
    start: np.ndarray | None,
    folder: RunFolder | None,
    watch: Watch,
) -> Reconstruction:
    began = time.perf_counter()
    torch.manual_seed(recipe.seed)
    watch.stage("Prepare the recording")
    sequence = sequence.after_flash()
    model = model or build_model(sequence, recipe)
    seen, notes = observe(sequence, model, recipe)
    if start is not None:
        start = _checked_start(start, model)

    watch.stage("Calibrate the sound part")
    background, part = None, None
    if recipe.calibration.background == "part":
        part = RealPart(
            model, seen.frames, seen.counted, _noise_of_frames(seen), recipe, _first_alpha(sequence, recipe)
        )
        background = part.background
    elif (calibration := _calibrate(model, seen, recipe)) is not None:
        background = calibration.background
        model = with_excitation(model, calibration.excitation)
    if part is not None:
        model, seen = part.model(), part.observation()

    state = State(first_weight(recipe, seen), np.empty(0) if background is None else background)
    if folder is not None and (kept := folder.load_checkpoint()) is not None:
        state = State(**kept)
        if part is not None and state.part:
            part.restore(state.part)
            model, seen = part.model(), part.observation()
    prepared = time.perf_counter() - began

    watch.stage("Optimise")
    work = Optimisation(recipe, model, seen, state, spent=prepared, part=part, start=start)
    save = (lambda s: folder.checkpoint(dataclasses.asdict(s))) if folder is not None else (lambda s: None)
    stopped = work.run(save, watch.progress)

    watch.stage("Predict the frames")
    model, volume = work.model, work.volume()
    profile = state.background if len(state.background) else np.median(volume, axis=(1, 2))
    facts = {
        "recipe": recipe.name,
        "seed": recipe.seed,
        "input": sequence.digest(),
    }
    known = sequence.facts.noted(*notes)
    compared = _compared(seen, model, volume) if part is None else _compared_part(part, work, volume)
    if part is not None:
        known = known.noted(*part.notes()).replaced(
            calibration=part.summary(), gain=work.pixel_factors()[0], heating=_heating(sequence)
        )
    return Reconstruction(
        grid=model.grid,
        alpha=volume,
        background=profile,
        times=model.times,
        **compared,
        history=history_of(state),
        recipe=recipe.model_dump(mode="json"),
        provenance={**facts, **provenance()},
        stopped=stopped,
        effort=Effort(prepared, state.seconds, state.evaluations, work.field.unknowns),
        bulk=None if background is None else float(np.exp(np.mean(np.log(profile)))),
        truth=sequence.truth_on(model.grid.shape),
        lateral=model.boundary.lateral,
        facts=known,
    )


def _checked_start(start: Any, model: HeatModel) -> np.ndarray:
    """A volume to begin with, (z, y, x), or an error that says what it is instead."""
    volume = np.asarray(start, dtype=np.float64)
    if volume.shape != model.grid.shape:
        raise InputError(f"start has shape {volume.shape}, the cells are {model.grid.shape} (z, y, x); resample it.")
    if not (np.isfinite(volume) & (volume > 0)).all():
        raise InputError("start holds values that are no diffusivities; they must be finite and positive.")
    return volume


def _compared(seen: Observation, model: HeatModel, volume: np.ndarray) -> dict[str, Any]:
    """Recorded frames, those of the volume, and the noise."""
    noise = seen.noise if np.ndim(seen.noise) == 0 else np.ravel(seen.noise)
    measured = np.where(seen.counted, seen.frames, np.nan)
    return {"measured": measured, "fitted": model(volume).double().numpy(), "noise": noise}


def _compared_part(part: RealPart, work: Optimisation, volume: np.ndarray) -> dict[str, Any]:
    """The same of a real part: what the camera showed, and what it would show of the volume."""
    fitted = work.model(volume).double().numpy() * part.factor() * work.pixel_factors()[1]
    return {"measured": part.measured, "fitted": fitted, "noise": part.decay.noise[part.used]}


def _noise_of_frames(seen: Observation) -> np.ndarray:
    return np.broadcast_to(np.ravel(np.asarray(seen.noise, dtype=np.float64)), seen.times.shape)


def _first_alpha(sequence: Sequence, recipe: Recipe) -> float:
    """A first guess of the diffusivity through the thickness."""
    if recipe.calibration.start is not None:
        return recipe.calibration.start
    if sequence.facts.material is not None:
        return sequence.facts.material.alpha_z
    raise InputError(
        "the material of the part is not known; give --material or --alpha (material= or alpha= of nefty.load), "
        "Sequence(facts=nefty.Facts(material=...)), or calibration.start in the unit of the recording."
    )


def _heating(sequence: Sequence) -> Heating:
    pulse = sequence.excitation
    return Heating(type(pulse).__name__, pulse.duration if isinstance(pulse, TopHatPulse) else None)


def observe(sequence: Sequence, model: HeatModel, recipe: Recipe) -> tuple[Observation, list[Note]]:
    """What of a recording is compared with the model, and in words what was left out."""
    frames, counted = sequence.frames, sequence.weights()
    expected = ((2,) if model.observe == "both" else ()) + (len(model.times), *model.grid.shape[1:])
    if frames.shape != expected:
        raise InputError(
            f"the frames have shape {frames.shape}, the model predicts {expected}; build the model for this recording, "
            "or let nefty build it (model=None)."
        )
    if not np.allclose(sequence.times, model.times, rtol=1e-5, atol=0):
        raise InputError(
            f"the frames have the times {sequence.times[0]:g}..{sequence.times[-1]:g}, the model "
            f"{model.times[0]:g}..{model.times[-1]:g}; build the model for the frames after the flash."
        )
    notes: list[Note] = []
    missing = int((~np.isfinite(frames)).sum())
    if missing:
        notes.append(Note(NoteKind.LEFT_OUT, f"{missing} missing values do not count."))
    dead = dead_pixels(frames, counted)
    if dead.any():
        counted = counted & ~dead
        text = f"{int(dead.sum())} dead pixels were found and do not count."
        notes.append(Note(NoteKind.LEFT_OUT, text))
    sigma = sequence.noise if recipe.noise.sigma is None else recipe.noise.sigma
    if sigma is None:
        sigma = estimate_noise(frames, counted)
    clean = np.where(counted, frames, 0.0)
    noise = np.hypot(sigma, recipe.noise.floor * peak_of(clean, counted))
    if not np.all(noise > 0):
        raise InputError("the noise is 0 and so is noise.floor; give noise.floor a small value such as 3e-5.")
    raw = recipe.weight.units == "raw"
    noise = float(noise) if np.ndim(noise) == 0 else noise[:, None, None]
    return Observation(model.grid, model.times, clean, counted, noise, raw=raw), notes


def first_weight(recipe: Recipe, seen: Observation) -> float:
    """The weight of the total variation at the start: given, or from the noise."""
    if recipe.weight.tv != "auto":
        return recipe.weight.tv
    if recipe.calibration.background == "part":
        return QUIET_WEIGHT + REAL_NOISE_WEIGHT * 100 * seen.relative_noise
    return QUIET_WEIGHT + NOISE_WEIGHT * 100 * seen.typical_noise / seen.peak


def _calibrate(model: HeatModel, seen: Observation, recipe: Recipe) -> Calibration | None:
    choice = recipe.calibration
    if choice.background == "none":
        return None
    start = choice.start or first_guess(model, seen)
    return calibrate(
        model,
        seen,
        start,
        strata=choice.strata if choice.background == "layered" else 1,
        flash=choice.flash,
    )


def _describe(model: HeatModel) -> dict[str, Any]:
    """What of a given model decides the result, as text."""
    names = ("grid", "boundary", "face_mean", "anisotropy", "observe", "integrator", "dtype")
    arrays = {"times": model.times, "initial": model.initial}
    hashes = {n: digest(np.asarray(a) if isinstance(a, torch.Tensor) else a) for n, a in arrays.items()}
    return {name: str(getattr(model, name)) for name in names} | hashes
