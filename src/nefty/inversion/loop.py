"""The optimisation, from top to bottom."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.stopping import FINISHED, INTERRUPTED, Stopped, StopReason
from nefty.fields.neural import NeuralField
from nefty.fields.voxel import VoxelField
from nefty.inversion.build import build_field, build_optimiser, set_background
from nefty.inversion.calibration.interface import Calibration
from nefty.inversion.calibration.refinement import curvature_by_layers
from nefty.inversion.lbfgs import ProjectedLBFGS
from nefty.inversion.moves import Relaxed, move_bottoms, promising
from nefty.inversion.network_start import fit_network
from nefty.inversion.objective import Objective, Terms
from nefty.inversion.observation import Observation
from nefty.inversion.preconditioner import PenaltyPreconditioner, with_springs
from nefty.inversion.recipe import Recipe
from nefty.inversion.recipe_sections import Stage
from nefty.inversion.sensitivity import sensitivity, step_scale
from nefty.physics.heat_model import HeatModel

Progress = Callable[[str, int, int, float], object]
"""Called with the stage's name, iterations done and in all, and the misfit over the noise floor."""


@dataclass
class State:
    """Where a reconstruction stands: all that a checkpoint holds.

    Args:
        weight: ``weight.tv``, of which the weights of the penalties are multiples.
        calibration: its state.
        x: the unknowns; empty before the start.
        scale: of voxels, (z, y, x); ``None`` for other fields.
        curvature: of the misfit by the logarithm of each cell, (z, y, x), where steps are scaled by it.
        by_layers: the same by the logarithm of each layer of the background, (z, z), where these are free.
        stage: index of the present stage.
        iteration: done in it.
        done: iterations in all.
        evaluations: of the objective, and as many as the refinements of the background cost.
        seconds: spent.
        history: columns of what happened.
        optimiser: its state within the stage; empty at a stage's start.
        learned: the curvature that the stage before met, by what the head takes; empty within a stage.
    """

    weight: float
    calibration: dict[str, Any] = field(default_factory=dict)
    x: np.ndarray = field(default_factory=lambda: np.empty(0))
    scale: np.ndarray | None = None
    curvature: np.ndarray | None = None
    by_layers: np.ndarray | None = None
    stage: int = 0
    iteration: int = 0
    done: int = 0
    evaluations: int = 0
    seconds: float = 0.0
    history: dict[str, list[float]] = field(default_factory=dict)
    optimiser: dict[str, Any] = field(default_factory=dict)
    learned: dict[str, Any] = field(default_factory=dict)


class Optimisation:
    """The stages of a recipe, one after the other.

    Args:
        recipe: what to do.
        calibration: the background, the model of the part and the recording.
        state: where to begin.
        spent: seconds that the preparation took, which ``stop.seconds`` counts as well.
        start: diffusivity (z, y, x) to begin with, where ``state`` has no unknowns yet; the background if not given.
    """

    def __init__(
        self,
        recipe: Recipe,
        calibration: Calibration,
        state: State,
        *,
        spent: float = 0.0,
        start: np.ndarray | None = None,
    ) -> None:
        self.recipe, self.calibration, self.state, self.spent = recipe, calibration, state, spent
        if state.calibration:
            calibration.restore(state.calibration)
        self.first_weight = state.history["weight"][0] if state.history else state.weight
        self.objective = self._objective()
        background, stage = calibration.background, state.stage if state.optimiser else max(state.stage - 1, 0)
        begun = len(state.x) > 0
        self.field = build_field(recipe, self.model, background, state.scale, stage, None if begun else start)
        if not begun:
            state.x = parameters_to_vector(self.field.parameters()).detach().numpy().copy()
        self._load(state.x)
        if isinstance(self.field, NeuralField):
            self.field.anneal(max(state.done - 1, 0))
        self.terms: Terms | None = None

    @property
    def model(self) -> HeatModel:
        """Diffusivity to frames, as calibrated."""
        return self.calibration.model

    @property
    def seen(self) -> Observation:
        """The recording, as calibrated."""
        return self.calibration.observation

    def run(
        self,
        save: Callable[[State], None] = lambda state: None,
        progress: Progress | None = None,
        every: float = 10.0,
    ) -> Stopped:
        """Work until the recipe is done, a limit is reached, or Ctrl-C; returns why it ended.

        Args:
            save: keeps a checkpoint, called at the start of each stage and every so many seconds.
            progress: told about each iteration.
            every: seconds between checkpoints within a stage.
        """
        stopped = self._stages(save, progress, every)
        self._adopt_layers()
        return stopped

    def _stages(self, save: Callable[[State], None], progress: Progress | None, every: float) -> Stopped:
        """One after the other; see ``run``."""
        state, recipe = self.state, self.recipe
        total = sum(stage.iterations for stage in recipe.stages)
        began, saved = time.perf_counter() - state.seconds, time.perf_counter()
        with Interrupt() as interrupt:
            if state.history and (reason := self._reason(interrupt)) is not None:
                return reason
            while state.stage < len(recipe.stages):
                stage = recipe.stages[state.stage]
                if not state.optimiser:
                    self._enter(stage)
                optimiser = self._optimiser(stage)
                while state.iteration < stage.iterations and not optimiser.stuck:
                    if isinstance(self.field, NeuralField):
                        self.field.anneal(state.done)
                    step = optimiser.step(self._evaluate)
                    if optimiser.stuck:  # the last trial was refused: back to where it stands
                        self._evaluate(optimiser.x)
                    state.iteration, state.done = state.iteration + 1, state.done + 1
                    state.x, state.seconds = optimiser.x.numpy(), time.perf_counter() - began
                    self._note(optimiser.value, step)
                    if progress is not None:
                        progress(stage.name, state.done, total, self.misfit)
                    if (reason := self._reason(interrupt)) is not None:
                        state.optimiser = optimiser.state()
                        self._load(state.x)
                        save(state)
                        return reason
                    if self._settled(stage):
                        break
                    if time.perf_counter() - saved > every:
                        state.optimiser = optimiser.state()
                        save(state)
                        saved = time.perf_counter()
                state.stage, state.iteration, state.optimiser = state.stage + 1, 0, {}
                state.learned = optimiser.learned(self._scale()) if isinstance(optimiser, ProjectedLBFGS) else {}
                self._load(state.x)
                if state.stage < len(recipe.stages):
                    save(state)
                    saved = time.perf_counter()
        return FINISHED

    @property
    def misfit(self) -> float:
        """The misfit over the noise floor, after the last iteration."""
        return self.state.history["misfit"][-1]

    def _enter(self, stage: Stage) -> None:
        """Begin a stage: choose the weight by the discrepancy, fit the background again under what was found, and
        scale the unknowns by what the frames say about them now.
        """
        state, weight, choice = self.state, self.recipe.weight, self.recipe.field_of(stage)
        searched = state.stage > 0
        self._adopt_layers()
        if weight.tv == "auto" and weight.discrepancy and searched:
            state.weight = self._weight_by_discrepancy()
        state.evaluations += self.calibration.refine(self.volume(), stage.refine_background, searched=searched)
        state.calibration = self.calibration.state()
        self.objective = self._objective()
        if (background := self.calibration.background) is not None:
            set_background(self.field, background)
        if searched and stage.unknown != self.recipe.stages[state.stage - 1].unknown:
            self._begin_network(choice.fit)
        if choice.scaling == "sensitivity" and isinstance(self.field, VoxelField):
            settings, seed = choice.sensitivity, self.recipe.seed + state.stage
            curvature = sensitivity(self.model, self.volume(), self.seen, seed, settings)
            self.field.rescale(step_scale(curvature, settings.regular))
            state.scale, state.curvature = self.field.scale.numpy().copy(), curvature
            if self.field.layers is not None:
                state.by_layers = curvature_by_layers(self.model, self.volume(), self.seen)
                state.evaluations += 1 + len(state.by_layers) // 2
            state.x = parameters_to_vector(self.field.parameters()).detach().numpy().copy()
        if stage.move_bottoms and searched:
            self._move_bottoms(stage)

    def _begin_network(self, iterations: int) -> None:
        """Go on with a network in place of the cells, fitted to what they found."""
        state, volume, background = self.state, self.volume(), self.calibration.background
        self.field = build_field(self.recipe, self.model, background, None, state.stage)
        assert isinstance(self.field, NeuralField)
        if self.field.background is not None and background is not None:
            volume = volume / background[:, None, None]
        fit_network(self.field, volume, iterations)
        state.x = parameters_to_vector(self.field.parameters()).detach().numpy().copy()
        state.scale = state.curvature = None
        state.learned = {}  # pairs of other unknowns

    def _adopt_layers(self) -> None:
        """Let the calibration have the background as it was optimised along."""
        if isinstance(self.field, VoxelField) and self.field.layers is not None:
            factor = self.field.layers.detach().double().exp().numpy()
            background = self.calibration.background
            assert background is not None
            self.calibration.adopt(background * factor)

    def _move_bottoms(self, stage: Stage) -> None:
        """Put the bottoms of voids elsewhere where that lowers the objective, as the stage has it."""
        field, shape = self.field, self.model.grid.shape
        assert isinstance(field, VoxelField)
        scale, forward, cells = field.scale.expand(shape), 0, field.unknown.numel()
        layers = torch.from_numpy(self.state.x[cells:])

        def unknowns(anomaly: np.ndarray) -> Tensor:
            return torch.cat([(torch.from_numpy(anomaly).to(scale) / scale).reshape(-1), layers])

        def value(anomaly: np.ndarray) -> float:
            nonlocal forward
            forward += 1
            with torch.no_grad():
                self._load(unknowns(anomaly).numpy())
                return float(self.objective(field).value)

        def relax(anomaly: np.ndarray, steps: int, other: Relaxed | None) -> Relaxed:
            self.state.x = unknowns(anomaly).numpy()
            optimiser = self._optimiser(stage, learned=False)  # what was learned before is of other voids
            values, misfit = [], np.inf
            while not optimiser.stuck and promising(values, misfit, steps, other, self.recipe.moves):
                optimiser.step(self._evaluate)
                assert self.terms is not None
                values, misfit = [*values, float(optimiser.value)], self.terms.data / self.seen.floor
            return Relaxed(values[-1], misfit, _anomaly(optimiser.x))

        def _anomaly(x: Tensor) -> np.ndarray:
            return (x[:cells].reshape(shape) * scale).double().numpy()

        start = self._optimiser(stage, learned=False).x
        moved = move_bottoms(_anomaly(start), value, relax, self.recipe.moves, self.model.boundary.lateral)
        self.state.x = unknowns(moved).numpy()
        self.state.evaluations += -(-forward // 2)
        self._load(self.state.x)

    def _weight_by_discrepancy(self) -> float:
        """Half the weight where the frames are fitted worse than to their noise, twice where better.

        While the misfit still falls by itself, it says nothing about the weight, which then stays; so it does where
        the noise is below the model's own error.
        """
        state, choice, misfits = self.state, self.recipe.weight, self.state.history.get("misfit", [])
        noisy = self.seen.typical_noise > choice.faint_noise * self.recipe.noise.floor * self.seen.peak
        if not misfits or (misfits[-1] > 1 and not noisy):
            return state.weight
        before = misfits[-min(choice.settling, len(misfits))]
        if misfits[-1] > 1 and misfits[-1] < (1 - choice.tolerance) * before:
            return state.weight
        excess = float(np.clip((misfits[-1] - 1) / choice.tolerance, -1, 1))
        low, high = (r * self.first_weight for r in (choice.lowest, choice.highest))
        return float(np.clip(state.weight * 2.0**-excess, low, high))

    def _objective(self) -> Objective:
        """What is minimised, by the present calibration; the penalties join with the stage."""
        known = self.calibration
        return Objective(known.model, known.observation, known.background, share=known.share())

    def pixel_factors(self) -> tuple[np.ndarray, np.ndarray | float]:
        """Gain of each pixel at the present volume, (y, x); and with its early deviation, (t, y, x), or 1."""
        if self.seen.gain_spread:
            with torch.no_grad():
                self.objective(self.field)
        gain, factor = self.objective.gain, self.objective.factor
        if gain is None or factor is None:
            return np.ones(self.seen.frames.shape[-2:]), 1.0
        return gain.numpy()[0], np.broadcast_to(factor.numpy(), self.seen.frames.shape)

    def volume(self) -> np.ndarray:
        """The present diffusivity, (z, y, x), float64."""
        with torch.no_grad():
            return self.field().double().numpy()

    def _optimiser(self, stage: Stage, *, learned: bool = True) -> Any:
        """That of the stage, where it stands; or at its start, with the curvature ``learned`` in the one before."""
        state = self.state
        self.objective.penalties = stage.weighted(self.recipe.penalties, state.weight)
        start = torch.from_numpy(state.x.copy())
        known = self.recipe.field_of(stage).preconditioner.kind != "none"
        inverse_at = (lambda x: self._inverse_at(x, stage)) if known else None
        optimiser = build_optimiser(stage, self.recipe, self.field, start, self.calibration.buried, inverse_at)
        if state.optimiser:
            optimiser.restore(state.optimiser)
        elif learned and state.learned and isinstance(optimiser, ProjectedLBFGS):
            optimiser.learn(state.learned, self._scale())
            state.learned = {}
        return optimiser

    def _inverse_at(self, x: Tensor, stage: Stage) -> PenaltyPreconditioner:
        """The inverse of what is known of the objective's curvature at the unknowns ``x`` of voxels."""
        field, state, settings = self.field, self.state, self.recipe.field_of(stage)
        assert isinstance(field, VoxelField)
        assert state.curvature is not None
        with torch.no_grad():
            vector_to_parameters(x.clone(), field.parameters())
            known = torch.from_numpy(state.curvature + settings.sensitivity.regular)
            anchors, faces, layers = self.objective.springs(field)
            of_layers = None if state.by_layers is None else with_springs(state.by_layers, layers.double().numpy())
            return PenaltyPreconditioner(known + anchors, faces, field.scale, settings.preconditioner, of_layers)

    def _scale(self) -> Tensor | float:
        """From the unknowns of voxels to the values that the head takes."""
        if isinstance(self.field, VoxelField):
            of_cells = self.field.scale.expand(self.field.grid.shape).reshape(-1)
            return of_cells if self.field.layers is None else torch.cat([of_cells, torch.ones_like(self.field.layers)])
        return 1.0

    def _load(self, x: np.ndarray) -> None:
        vector_to_parameters(torch.from_numpy(np.array(x)), self.field.parameters())

    def _evaluate(self, x: Tensor) -> tuple[float, Tensor]:
        """Value and gradient of the objective at the unknowns ``x``."""
        parameters = list(self.field.parameters())
        vector_to_parameters(x.clone(), parameters)
        for parameter in parameters:
            parameter.grad = None
        terms = self.objective(self.field)
        terms.value.backward()
        self.state.evaluations += 1
        gradient = parameters_to_vector([_gradient(p) for p in parameters])
        value = float(terms.value.detach())
        if not np.isfinite(value) and self.terms is None:
            raise NeftyError("the objective is not finite at the start; check the recording and the bounds.")
        self.terms = terms._replace(value=terms.value.detach())
        return value, gradient.detach().clone()

    def _note(self, value: float | None, step: float) -> None:
        state, terms = self.state, self.terms
        assert terms is not None
        assert value is not None
        row = {
            "stage": state.stage,
            "evaluations": state.evaluations,
            "seconds": state.seconds,
            "misfit": terms.data / self.seen.floor,
            "objective": value,
            "step": step,
            **terms.penalties,
            "weight": state.weight,
        }
        for name, number in row.items():
            state.history.setdefault(name, []).append(float(number))

    def _reason(self, interrupt: Interrupt) -> Stopped | None:
        """Why to end now, if at all."""
        stop = self.recipe.stop
        if interrupt.asked:
            return INTERRUPTED
        if stop.seconds is not None and self.spent + self.state.seconds >= stop.seconds:
            return Stopped(StopReason.OUT_OF_TIME, f"the {stop.seconds:g} s it was given were over")
        if stop.misfit and self.misfit <= stop.misfit:
            text = f"the misfit came down to {stop.misfit:g} times the noise floor"
            return Stopped(StopReason.GOOD_ENOUGH, text)
        return None

    def _settled(self, stage: Stage) -> bool:
        """Whether the objective has stopped falling."""
        values, stop = self.state.history["objective"], self.recipe.stop
        if not stop.plateau or self.state.iteration <= stop.window:
            return False
        return values[-stop.window - 1] - values[-1] < stop.plateau * abs(values[-1])


def history_of(state: State) -> dict[str, np.ndarray]:
    """The history as arrays."""
    return {name: np.array(column) for name, column in state.history.items()}


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
