"""Members of a volume: go on from the finished one for a few iterations, with other frames and other facts.

What can be shared is found once, on the recording as it was: the unknowns, the scale of their steps, the curvature that
the last stage met. A member fits the background again under the first volume, and the volume to its own frames.

A double well that lets each cell be sound or void holds every cell where it is: refitted in it, members hardly differ
(0.02 % of a depth whose error was 2 %). So where the last stage has one, a member begins with a weaker anomaly and
without the well, and has the well back in a second stretch of as many iterations.
"""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from nefty.core.stopping import Stopped, StopReason
from nefty.data.sequence import Sequence
from nefty.fields.voxel import VoxelField
from nefty.inversion.build import build_model
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.interface import Calibration
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.calibration.whole_part import WholePart
from nefty.inversion.ensemble.facts import OtherFacts
from nefty.inversion.ensemble.frame_errors import FrameErrors, smooth_image
from nefty.inversion.ensemble.member import Member
from nefty.inversion.loop import Optimisation, State
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import Recipe, load_recipe
from nefty.inversion.reconstruct import alpha_of_material, first_weight, observe
from nefty.physics.heat_model import HeatModel
from nefty.result.reconstruction import Reconstruction

SOFTER = 0.6  # of log(alpha/background), with which members begin that are let out of a double well
ALIKE = 1e-6  # share by which two times of one frame differ


@dataclass(frozen=True, eq=False)
class FirstVolume:
    """What all members of a volume share.

    Args:
        sequence: the recording, frames after the flash.
        recipe: its last stage, with the iterations of a member; once without a double well, if it has one.
        model: of the part, if one was given; its facts are then not varied.
        whole: of which the recording shows a piece; the same.
        volume: diffusivity (z, y, x) of the first fit, come to rest.
        background: of the first fit, (z,).
        state: of the optimisation, from which members go on.
        errors: of the frames over their spread, one for each face.
        frames: number in the sequence of each frame that ``errors`` has, (t,).
        spread: of these frames, (t,).
        left: what the first fit leaves unexplained of them over the spread, (..., t, y, x).
    """

    sequence: Sequence
    recipe: Recipe
    model: HeatModel | None
    whole: WholePart | None
    volume: np.ndarray
    background: np.ndarray
    state: dict[str, Any]
    errors: tuple[FrameErrors, ...]
    frames: np.ndarray
    spread: np.ndarray
    left: np.ndarray

    @staticmethod
    def of(
        found: Reconstruction, sequence: Sequence, recipe: Recipe, model: HeatModel | None, whole: WholePart | None
    ) -> FirstVolume:
        """From a finished result of the recording."""
        short = _last_stage(recipe)
        known = _calibrated(sequence, short, model, whole, found.background, found.alpha)
        begun = State(first_weight(recipe, known.observation), done=sum(s.iterations for s in recipe.stages))
        if "weight" in found.history:
            begun.weight = float(found.history["weight"][-1])
        work = Optimisation(short, known, begun, start=found.alpha)
        pairs: dict[str, Any] = {}

        def keep(state: State) -> None:
            if state.optimiser:
                pairs.update(copy.deepcopy(state.optimiser.get("pairs", {})))

        _whole(work.run(keep, every=0.0))
        x = work.state.x.copy()
        if isinstance(work.field, VoxelField) and work.field.layers is not None:
            x[work.field.unknown.numel() :] = 0.0  # the calibration has adopted them
        state = {
            "weight": work.state.weight,
            "x": x,
            "scale": work.state.scale,
            "curvature": work.state.curvature,
            "by_layers": work.state.by_layers,
            "done": begun.done,
        }
        out = _out_of_the_well(short, work.state.weight)
        if len(out.stages) > 1 and isinstance(work.field, VoxelField) and work.field.background is not None:
            x[: work.field.unknown.numel()] *= SOFTER
        if short.stages[0].optimiser == "lbfgs":
            begin = {"x": x.copy(), "value": None, "gradient": np.zeros_like(x), "pairs": pairs, "stuck": False}
            state["optimiser"] = begin
        noise = found.noise_of_frames
        residual = np.nan_to_num(found.residual)
        if noise is None or not noise.all():
            noise = np.full(len(found.times), max(float(residual.std()), np.finfo(np.float32).tiny))
        left = residual / noise[:, None, None]
        counted = np.isfinite(found.measured).any(axis=-3)
        patch = tuple(recipe.ensemble.alike * found.grid.size[0] / step for step in found.grid.spacing[1:])
        faces = left.reshape(-1, *left.shape[-3:])
        seen = counted.reshape(-1, *counted.shape[-2:])
        errors = tuple(FrameErrors.of(r, c, (patch[0], patch[1])) for r, c in zip(faces, seen, strict=True))
        background = found.background if known.background is None else known.background
        return FirstVolume(
            sequence=sequence,
            recipe=out,
            model=model,
            whole=whole,
            volume=work.volume(),
            background=np.asarray(background, dtype=np.float64),
            state=state,
            errors=errors,
            frames=_numbers(sequence.times, found.times),
            spread=np.asarray(noise, dtype=np.float64),
            left=left,
        )

    def member(self, number: int) -> Member:
        """Draw errors and facts, calibrate, and go on for a few iterations."""
        random, widths = np.random.default_rng([self.recipe.seed, number]), self.recipe.ensemble
        facts = OtherFacts.drawn(self.recipe.seed, number, widths)
        if self.whole is not None or self.model is not None:
            facts = OtherFacts(penalties=facts.penalties)
        sequence = facts.told(self._with_other_errors(random))
        known = _calibrated(sequence, self.recipe, self.model, self.whole, self.background, self.volume)
        state = State(**copy.deepcopy(self.state))
        state.weight *= facts.penalties
        work = Optimisation(self.recipe, known, state)
        _whole(work.run())
        volume = work.volume()
        background = np.median(volume, axis=(1, 2)) if known.background is None else known.background
        thickness = work.model.grid.size[0]
        return Member(number, background, thickness, work.misfit, volume=volume.astype(np.float32))

    def _with_other_errors(self, random: np.random.Generator) -> Sequence:
        """The recording with errors of a member in place of what the first fit leaves unexplained."""
        widths, frames = self.recipe.ensemble, self.sequence.frames.astype(np.float64)
        drawn = np.stack([one.drawn(random, widths.model_error) for one in self.errors])
        change = self.spread[:, None, None] * (drawn.reshape(self.left.shape) - self.left)
        frames[..., self.frames, :, :] += change
        gain = 1 + widths.gain * smooth_image(random, frames.shape[-2:], self.errors[0].widths)
        if self.sequence.facts.units.in_metres:
            frames = frames * np.maximum(gain, 0.5)
        return dataclasses.replace(self.sequence, frames=frames)


def _whole(stopped: Stopped) -> None:
    """Refuse what Ctrl-C has cut short: a member is whole or not there."""
    if stopped.reason is StopReason.INTERRUPTED:
        raise KeyboardInterrupt


def _last_stage(recipe: Recipe) -> Recipe:
    """The last stage alone, begun with all of a volume and ended after the iterations of a member."""
    values = recipe.model_dump(mode="json")
    last = {**values["stages"][-1], "iterations": recipe.ensemble.iterations, "move_bottoms": False}
    last["refine_background"] = 0
    stop = {**values["stop"], "seconds": None, "misfit": 0.0}
    return load_recipe({**values, "stages": [last], "stop": stop}, {"field.nearly_sound": 1.0})


def _out_of_the_well(recipe: Recipe, weight: float) -> Recipe:
    """The one stage of a recipe, after the same without a double well if it has one; with weights as they ended."""
    values = recipe.model_dump(mode="json")
    (last,) = values["stages"]
    stages = [last]
    if last["weights"]["voids"] > 0:
        stages = [{**last, "name": "loosen", "weights": {**last["weights"], "voids": 0.0}}, last]
    return load_recipe({**values, "stages": stages}, {"weight.tv": weight})


def _calibrated(
    sequence: Sequence,
    recipe: Recipe,
    model: HeatModel | None,
    whole: WholePart | None,
    background: np.ndarray,
    volume: np.ndarray,
) -> Calibration:
    """The calibration of a recording under the defects of a volume, from a background near it."""
    model = model or build_model(sequence, recipe)
    seen, _ = observe(sequence, model, recipe)
    known = _begun(sequence, recipe, model, seen, whole, background)
    known.refine(volume, 1, searched=True)
    return known


def _begun(
    sequence: Sequence,
    recipe: Recipe,
    model: HeatModel,
    seen: Observation,
    whole: WholePart | None,
    background: np.ndarray,
) -> Calibration:
    choice = recipe.calibration
    if choice.background in ("layered", "constant") and not choice.flash:
        return LayeredCalibration(model, seen, np.asarray(background, dtype=np.float64), choice)
    return calibrate(recipe, model, seen, alpha_of_material(sequence), whole)


def _numbers(times: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Which of the frames at ``times`` were compared, (t,)."""
    return np.flatnonzero(np.isclose(times[:, None], used, rtol=ALIKE, atol=0).any(axis=1))
