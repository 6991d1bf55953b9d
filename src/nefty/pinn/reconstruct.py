"""A recording to a volume by a soft-constrained PINN."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from nefty.core.errors import InputError
from nefty.core.provenance import provenance
from nefty.data.facts import Facts
from nefty.data.sequence import Sequence
from nefty.fields.heads import SigmoidHead
from nefty.fields.neural import NeuralField
from nefty.pinn.bulk import mean_decay_fit
from nefty.pinn.loop import Progress, train
from nefty.pinn.networks import Temperature
from nefty.pinn.points import Product, Scattered
from nefty.pinn.problem import Problem, build_problem, check
from nefty.pinn.separable import SeparableNetwork
from nefty.pinn.settings import Settings, resolve, settings
from nefty.pinn.variants import build_temperature
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction

__all__ = ["reconstruct", "settings"]
CHUNK = 32768  # points that the temperature's network takes at once
SOUND = 90  # percentile of a layer's diffusivities that stands for its sound part, as for the other methods


def reconstruct(
    sequence: Sequence,
    settings: Mapping[str, Any],
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    progress: Progress | None = None,
) -> Reconstruction:
    """The volume that a PINN finds in a recording of the front of a part after a flash.

    ``fitted`` is the surface of the temperature network itself, not the heat equation's answer to the volume: the two
    differ where the network cheats on the equation.

    Args:
        sequence: the recording.
        settings: as ``nefty.pinn.settings.settings`` takes or returns them; ``variant`` at least.
        seconds: of wall clock, preparation included; the lesser of this and the settings'.
        iterations: at most so many; likewise.
        progress: called with iterations done, in all, and the data loss.
    """
    began = time.perf_counter()
    if not isinstance(sequence, Sequence):
        raise InputError(f"a recording must be a nefty.Sequence, got {type(sequence).__name__}; see nefty.load.")
    chosen = _limited(resolve(settings), seconds, iterations)
    sequence = sequence.after_flash()
    check(sequence)
    layers = chosen.layers if sequence.truth is None else sequence.truth.shape[0]
    truth = sequence.truth_on((layers, *sequence.shape[1:]))
    bulk = mean_decay_fit(sequence, layers, chosen.diffusivity.low, chosen.diffusivity.high)
    problem = build_problem(sequence, layers, bulk)

    generator = torch.Generator().manual_seed(chosen.seed)
    temperature = build_temperature(chosen, problem, generator)
    diffusivity = _build_diffusivity(chosen, problem, bulk, generator)
    spent = time.perf_counter() - began
    training = train(problem, temperature, diffusivity, chosen, generator=generator, spent=spent, progress=progress)
    with torch.no_grad():
        alpha = diffusivity().double().numpy()
    unknowns = sum(p.numel() for p in temperature.parameters()) + diffusivity.unknowns
    product = chosen.variant == "spinn"
    collocation = int(np.prod(chosen.points.axes)) if product else chosen.points.collocation
    return Reconstruction(
        grid=problem.grid,
        alpha=alpha,
        background=np.percentile(alpha, SOUND, axis=(1, 2)),
        times=sequence.times,
        measured=np.where(sequence.weights(), sequence.frames, np.nan),
        fitted=surface(temperature, problem),
        noise=sequence.noise,
        history=training.columns(),
        recipe={"name": f"pinn-{chosen.variant}", "settings": chosen.model_dump(mode="json")},
        provenance={
            **provenance(),
            "input": sequence.digest(),
            "seed": chosen.seed,
            "start of the diffusivity": f"{bulk:.5g}" if chosen.diffusivity.start == "bulk" else "random weights",
        },
        stopped=training.stopped,
        effort=Effort(evaluations=training.iterations, unknowns=unknowns, collocation=collocation),
        truth=truth,
        lateral=sequence.boundary.lateral,
        own_surface=True,
        facts=Facts(units=sequence.facts.units),
    )


def surface(temperature: Temperature, problem: Problem) -> np.ndarray:
    """What the temperature network shows of the front at the times of the frames, (t, y, x), float64."""
    axes = problem.seen
    with torch.no_grad():
        if isinstance(temperature, SeparableNetwork):
            found = temperature(Product(axes))
        else:
            found = torch.cat([temperature(Scattered(part)) for part in torch.cartesian_prod(*axes).split(CHUNK)])
        return problem.amplitude * found.double().view(problem.frames.shape).numpy()


def _limited(chosen: Settings, seconds: float | None, iterations: int | None) -> Settings:
    """Settings with the lesser of two budgets."""
    changes: dict[str, Any] = {}
    if seconds is not None:
        changes["seconds"] = min(seconds, chosen.seconds or seconds)
    if iterations is not None:
        changes["iterations"] = min(iterations, chosen.iterations)
    return resolve({**chosen.model_dump(), **changes}) if changes else chosen


def _build_diffusivity(chosen: Settings, problem: Problem, bulk: float, generator: torch.Generator) -> NeuralField:
    """alpha_theta: NeFTY's field with the paper's head."""
    choice, around = chosen.diffusivity, problem.lateral == "periodic"
    z, y, x = choice.wrap
    return NeuralField(
        problem.grid,
        SigmoidHead(choice.low, choice.high),
        depth=choice.depth,
        width=choice.width,
        bands=choice.bands,
        skip=choice.skip,
        activation=choice.activation,
        horizon=0,
        start=bulk if choice.start == "bulk" else None,
        spread=choice.spread,
        wrap=(z, y and around, x and around),
        generator=generator,
        dtype=problem.times.dtype,
    )
