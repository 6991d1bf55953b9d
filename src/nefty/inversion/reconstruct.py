"""From a recording to a reconstruction, in one call."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nefty import __version__
from nefty.core.code_version import RECONSTRUCTION, code_version_of
from nefty.core.configuration import dotted
from nefty.core.errors import InputError
from nefty.core.provenance import provenance
from nefty.core.stopping import Stopped, StopReason
from nefty.core.storage.hdf5 import digest
from nefty.core.storage.progress_file import ProgressFile
from nefty.core.storage.run_folder import RunFolder
from nefty.core.torch_threads import torch_threads_for
from nefty.data.dead_pixels import dead_pixels
from nefty.data.deciding import deciding_facts
from nefty.data.facts import Heating, Note, NoteKind
from nefty.data.noise import estimate_noise
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.calibration.whole_part import WholePart, whole_part
from nefty.inversion.evidence.weigh import weigh_sheets, weigh_volume
from nefty.inversion.indication_code import code_of_indications
from nefty.inversion.loop import Optimisation, State, history_of
from nefty.inversion.observation import Observation, peak_of
from nefty.inversion.recipe import Recipe, default_recipe, load_recipe
from nefty.inversion.suspects.find import suspect_facts
from nefty.physics.heat_model import HeatModel
from nefty.physics.heating_curve import HeatingCurve
from nefty.physics.pulses import LASTING
from nefty.result.close_up import CloseUp
from nefty.result.effort import Effort
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.reach import Reach
from nefty.result.reconstruction import Reconstruction

FREE = ("stop", "summary")  # may differ when a run goes on
FREE_KEYS = ("recipe.ensemble.members",)  # the same: more members join those that are there


@dataclasses.dataclass(frozen=True)
class Watch:
    """Who is told what happens.

    Args:
        stage: called with a name when a new part of the work begins.
        progress: called with (stage, iterations done, iterations in all, misfit over the noise floor).
    """

    stage: Callable[[str], object] = lambda name: None
    progress: Callable[[str, int, int, float], object] = lambda stage, done, total, misfit: None

    def also(self, file: ProgressFile) -> Watch:
        """The same, and the file is told too."""

        def stage(name: str) -> None:
            file.stage(name)
            self.stage(name)

        def progress(stage: str, done: int, total: int, misfit: float) -> None:
            file.progress(stage, done, total, misfit)
            self.progress(stage, done, total, misfit)

        return Watch(stage, progress)


@dataclasses.dataclass(frozen=True, eq=False)
class Given:
    """What a reconstruction is given besides the recording and the recipe; see ``reconstruct``."""

    model: HeatModel | None = None
    start: np.ndarray | None = None
    whole: WholePart | None = None
    close_up: CloseUp | None = None


NOTHING_GIVEN = Given()


def reconstruct(
    sequence: Sequence,
    model: HeatModel | None = None,
    recipe: str | Path | Mapping[str, Any] | Recipe | None = None,
    *,
    overrides: Mapping[str, Any] | None = None,
    start: np.ndarray | None = None,
    overview: Reconstruction | None = None,
    close_up: CloseUp | None = None,
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
        overview: result of the whole part, of which the recording shows a piece (``nefty.load(..., roi=..., bin=1)`` or
            ``Sequence.region``); its calibration is taken over.
        close_up: which of its indications is looked at; only told.
        run: a folder for checkpoints, the log and the result. The same call goes on with a run that was interrupted
            and returns the result of one that is finished; a call with another fact, recipe or code is refused. Another
            record of the inspection is none of these: it takes the place of the one in the result.
        fresh: start over, whatever the folder holds.
        watch: called with the progress.

    Returns:
        the result; after Ctrl-C the best so far.
    """
    if not isinstance(sequence, Sequence):
        raise InputError(f"a recording must be a nefty.Sequence, got {type(sequence).__name__}; see nefty.load.")
    if recipe is None:
        recipe = default_recipe(in_metres=sequence.facts.units.in_metres, started=start is not None)
    chosen, watch = load_recipe(recipe, overrides), watch or Watch()
    if model is None:
        _check_heating(sequence, chosen)
    whole = None if overview is None else whole_part(overview, sequence)
    given = Given(model, start, whole, close_up)
    if run is None:
        return _sure(_reconstruct(sequence, given, chosen, None, watch), sequence, chosen, given, None, watch)
    config = deciding(sequence, chosen, given)
    free = [f"recipe.{key}" for key in dotted({k: config["recipe"][k] for k in FREE})]
    with RunFolder.open(run, config, sequence.digest(), free=[*free, *FREE_KEYS], fresh=fresh) as folder:
        found, told = _kept(folder), watch.also(ProgressFile(folder.path))
        if found is not None:
            found = with_record(found, sequence, folder)
            if folder.finished and _sure_enough(found, chosen):
                return found
        else:
            found = _reconstruct(sequence, given, chosen, folder, told)
            found.save(folder.path)
        surer = _sure(found, sequence, chosen, given, folder, told)
        if surer is not found:
            found = surer
            found.save(folder.path)
        if found.stopped.reason is StopReason.FINISHED and _sure_enough(found, chosen):
            folder.finish(stopped=found.stopped.text)
        else:
            folder.log("paused", stopped=found.stopped.text)
        return found


def _kept(folder: RunFolder) -> Reconstruction | None:
    """The result that a folder holds, if nothing but refits can be missing."""
    if not folder.resumed or not folder.result.exists():
        return None
    found = Reconstruction.load(folder.path)
    return found if found.stopped.reason is StopReason.FINISHED else None


def _sure_enough(found: Reconstruction, recipe: Recipe) -> bool:
    """Whether a result has all the members that are asked for; those that failed are not asked for again."""
    ensemble = found.ensemble
    have = 0 if ensemble is None else ensemble.members + ensemble.failed
    return have >= recipe.ensemble.members


def _sure(
    found: Reconstruction, sequence: Sequence, recipe: Recipe, given: Given, folder: RunFolder | None, watch: Watch
) -> Reconstruction:
    """A finished result with the ensemble that the recipe asks for."""
    if _sure_enough(found, recipe) or not found.stopped.finished:
        return found
    from nefty.inversion.ensemble.run import ENSEMBLE, with_ensemble  # it runs through this module

    if folder is not None and not folder.resumed:
        shutil.rmtree(folder.path / ENSEMBLE, ignore_errors=True)
    return with_ensemble(found, sequence, recipe, given, watch, folder=None if folder is None else folder.path)


def with_record(found: Reconstruction, sequence: Sequence, folder: RunFolder) -> Reconstruction:
    """A finished result with the record of the inspection that is given now; what was recorded is never dropped."""
    record = sequence.facts.record
    if record is None or record == found.facts.record:
        return found
    found = dataclasses.replace(found, facts=found.facts.replaced(record=record))
    found.save(folder.path)
    folder.log("recorded")
    return found


def _check_heating(sequence: Sequence, recipe: Recipe) -> None:
    """Refuse the heating curve of a real part where the recipe would take its strength, 1 K if unsaid, as known."""
    curve = sequence.excitation
    if isinstance(curve, HeatingCurve) and sequence.facts.units.in_metres and recipe.calibration.background != "part":
        raise InputError(
            f"recipe {recipe.name!r} takes the strength of the heating as known; of a heating curve (here from "
            f"{curve.start:.3g} to {curve.start + curve.duration:.3g} s) only the course is. Use the recipe real, "
            "which calibrates it: --recipe real."
        )


def deciding(sequence: Sequence, recipe: Recipe, given: Given = NOTHING_GIVEN) -> dict[str, Any]:
    """All that decides a result, by name, so that a folder can say which of it is another; arrays as hashes."""
    whole = given.whole
    return {
        "recording": deciding_facts(sequence),
        "recipe": recipe.model_dump(mode="json"),
        "model": None if given.model is None else _describe(given.model),
        "start": None if given.start is None else digest(np.asarray(given.start, dtype=np.float64)),
        "overview": None if whole is None else digest(whole.sound.record(), dataclasses.asdict(whole.piece)),
        "code": {"nefty": __version__, "hash of the deciding code": code_version_of(*RECONSTRUCTION)},
    }


def _reconstruct(
    sequence: Sequence, given: Given, recipe: Recipe, folder: RunFolder | None, watch: Watch
) -> Reconstruction:
    """Prepare, calibrate, optimise, and make the result of it; how sure that is comes afterwards."""
    began = time.perf_counter()
    torch.manual_seed(recipe.seed)
    watch.stage("Prepare the recording")
    sequence = sequence.after_flash()
    model = given.model or build_model(sequence, recipe)
    given = dataclasses.replace(given, model=model)
    if recipe.field.kind == "neural":
        return _inverted(sequence, given, recipe, folder, watch, began)
    with torch_threads_for(math.prod(model.grid.shape)):
        return _inverted(sequence, given, recipe, folder, watch, began)


def _inverted(
    sequence: Sequence, given: Given, recipe: Recipe, folder: RunFolder | None, watch: Watch, began: float
) -> Reconstruction:
    """The result of prepared frames and the model of their part."""
    start, model = given.start, given.model
    assert model is not None
    seen, notes = observe(sequence, model, recipe)
    if start is not None:
        start = _checked_start(start, model)

    watch.stage("Calibrate the background")
    calibration = calibrate(recipe, model, seen, alpha_of_material(sequence), given.whole)
    state = State(first_weight(recipe, calibration.observation))
    shown = None
    if recipe.evidence.regions == "sheets" and isinstance(calibration, RealPartCalibration):
        watch.stage("Look for what the frames show")
        shown, sheets = weigh_sheets(calibration, recipe.evidence, sequence.facts)
        start = sheets if start is None else start
    if folder is not None and (kept := folder.load_checkpoint()) is not None:
        state = State(**kept)
    prepared = time.perf_counter() - began

    watch.stage("Optimise")
    work = Optimisation(recipe, calibration, state, spent=prepared, start=start)
    save = (lambda s: folder.checkpoint(dataclasses.asdict(s))) if folder is not None else (lambda s: None)
    stopped = work.run(save, watch.progress)

    if recipe.evidence.regions == "volume":
        watch.stage("Weigh the evidence")
        shown = weigh_volume(calibration, work.volume(), recipe.evidence)
    suspects = ()
    if recipe.suspects.asked and isinstance(calibration, LayeredCalibration) and not stopped.cut_short:
        suspects = suspect_facts(calibration, work.volume(), shown, recipe)
    watch.stage("Predict the frames")
    found = dataclasses.replace(_result(sequence, work, stopped, notes, shown), suspects=suspects)
    return dataclasses.replace(found, close_up=given.close_up) if given.close_up is not None else found


def _result(
    sequence: Sequence, work: Optimisation, stopped: Stopped, notes: list[Note], shown: FrameEvidence | None
) -> Reconstruction:
    """The volume with what it explains, and all that is needed to make it again."""
    known, volume, model = work.calibration, work.volume(), work.model
    background = known.background if known.background is not None else np.median(volume, axis=(1, 2))
    gain, pixels = work.pixel_factors()
    compared = known.compared(volume, pixels)
    facts = sequence.facts.noted(*notes, *known.notes())
    if rows := known.summary():
        facts = facts.replaced(calibration=rows, gain=gain, heating=_heating(sequence))
    bulk = None if known.background is None else float(np.exp(np.mean(np.log(known.background))))
    effort = Effort(work.spent, work.state.seconds, work.state.evaluations, work.field.unknowns)
    return Reconstruction(
        grid=model.grid,
        alpha=volume,
        background=background,
        times=model.times,
        measured=compared.measured,
        fitted=compared.fitted,
        noise=compared.noise,
        history=history_of(work.state),
        recipe=work.recipe.model_dump(mode="json"),
        provenance={
            "recipe": work.recipe.name,
            "seed": work.recipe.seed,
            "input": sequence.digest(),
            "code": code_version_of(*RECONSTRUCTION),
            "code of indications": code_of_indications(work.recipe),
            **provenance(),
        },
        stopped=stopped,
        effort=effort,
        bulk=bulk,
        truth=sequence.truth_on(model.grid.shape),
        lateral=model.boundary.lateral,
        reach=None if bulk is None else _reach(model, bulk, known.buried),
        facts=facts,
        frame_evidence=shown,
        calibrated=known.calibrated() if isinstance(known, RealPartCalibration) else None,
    )


def _reach(model: HeatModel, alpha: float, buried: int) -> Reach:
    """Depths that the frames tell about: below the layers that were crossed before them, and above sqrt(pi alpha t)."""
    thickness, last = model.grid.size[0], float(model.times[-1])
    return Reach(buried * model.grid.spacing[0], min(thickness, float(np.sqrt(np.pi * alpha * last))))


def _checked_start(start: Any, model: HeatModel) -> np.ndarray:
    """A volume to begin with, (z, y, x), or an error that says what it is instead."""
    volume = np.asarray(start, dtype=np.float64)
    if volume.shape != model.grid.shape:
        raise InputError(f"start has shape {volume.shape}, the cells are {model.grid.shape} (z, y, x); resample it.")
    if not (np.isfinite(volume) & (volume > 0)).all():
        raise InputError("start holds values that are no diffusivities; they must be finite and positive.")
    return volume


def alpha_of_material(sequence: Sequence) -> float | None:
    """Diffusivity of the material through the thickness, if the recording says it."""
    return None if sequence.facts.material is None else sequence.facts.material.alpha_z


def _heating(sequence: Sequence) -> Heating:
    pulse = sequence.excitation
    return Heating(type(pulse).__name__, pulse.duration if isinstance(pulse, LASTING) else None)


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
    """``weight.tv`` at the start: given, or from the noise."""
    choice = recipe.weight
    if choice.tv != "auto":
        return choice.tv
    if choice.noise == "value":
        return choice.quiet + choice.by_noise * 100 * seen.relative_noise
    return choice.quiet + choice.by_noise * 100 * seen.typical_noise / seen.peak


def _describe(model: HeatModel) -> dict[str, Any]:
    """What of a given model decides the result, as text."""
    names = ("grid", "boundary", "face_mean", "anisotropy", "observe", "integrator", "dtype")
    arrays = {"times": model.times, "initial": model.initial}
    hashes = {n: digest(np.asarray(a) if isinstance(a, torch.Tensor) else a) for n, a in arrays.items()}
    return {name: str(getattr(model, name)) for name in names} | hashes
