"""The training, from top to bottom; the same for every variant."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from nefty.core.errors import NeftyError
from nefty.core.interrupt import Interrupt
from nefty.core.stopping import FINISHED, INTERRUPTED, Stopped, StopReason
from nefty.fields.neural import NeuralField
from nefty.pinn.losses import Losses, losses
from nefty.pinn.networks import Temperature
from nefty.pinn.problem import Problem
from nefty.pinn.residual import Field
from nefty.pinn.sampler import Sampler
from nefty.pinn.settings import Rates, Settings
from nefty.pinn.variants import build_balance

OUT_OF_TIME = Stopped(StopReason.OUT_OF_TIME, "the seconds of the budget were over")

Progress = Callable[[int, int, float], object]
"""Called with iterations done, iterations in all, and the data loss."""


@dataclass
class Training:
    """What happened.

    Args:
        stopped: why it ended.
        history: one column per quantity, one entry per iteration: ``seconds``, the losses ``data``, ``pde``, ``ic``,
            ``sides``, the total variation ``tv``, and what the variant adds.
    """

    stopped: Stopped = FINISHED
    history: dict[str, list[float]] = field(default_factory=dict)

    @property
    def iterations(self) -> int:
        """That were done."""
        return len(self.history.get("seconds", []))

    def columns(self) -> dict[str, np.ndarray]:
        """The history as arrays."""
        return {name: np.asarray(column) for name, column in self.history.items()}


def train(
    problem: Problem,
    temperature: Temperature,
    diffusivity: Field,
    settings: Settings,
    *,
    generator: torch.Generator,
    spent: float = 0.0,
    progress: Progress | None = None,
) -> Training:
    """Train both networks until the iterations or the seconds are over, the variant is at its end, or Ctrl-C.

    Everything that follows a schedule follows the share of the run that is over, be it of iterations or of seconds.

    Args:
        problem: what is asked.
        temperature: T_phi.
        diffusivity: alpha_theta, or a known one without parameters.
        settings: of the run.
        generator: what points are drawn from.
        spent: seconds that the preparation took, which the budget counts as well.
        progress: told about each iteration.
    """
    unknown = list(diffusivity.parameters()) if isinstance(diffusivity, nn.Module) else []
    known = list(temperature.parameters())
    adam = _optimiser(known, unknown, settings.rates)
    balance = build_balance(settings, temperature, [*known, *unknown])
    sampler = Sampler(
        problem,
        settings.points,
        product=settings.variant == "spinn",
        soft=not settings.temperature.hard,
        generator=generator,
    )
    width = settings.diffusivity.high - settings.diffusivity.low
    training, began, share = Training(), time.perf_counter() - spent, 0.0
    with Interrupt() as interrupt:
        for iteration in range(settings.iterations):
            started = time.perf_counter()
            for parameter in unknown:
                parameter.requires_grad_(share >= settings.rates.hold)
            if isinstance(diffusivity, NeuralField):
                _open_bands(diffusivity, max(share - settings.rates.hold, 0.0), settings.diffusivity.opening)
            found = losses(temperature, diffusivity, problem, sampler(iteration), width)
            adam.zero_grad()
            extra = balance.backward(found, share)
            for group in adam.param_groups:
                group["lr"] = group["first"] * settings.rates.final**share
            adam.step()

            now = time.perf_counter()
            data = _noted(training, found, {**extra, "seconds": now - began})
            if progress is not None:
                progress(iteration + 1, settings.iterations, data)
            share = (iteration + 1) / settings.iterations
            if settings.seconds is not None:
                share = min(max(share, (now - began) / settings.seconds), 1.0)
                if now - began + (now - started) > settings.seconds:
                    training.stopped = OUT_OF_TIME
                    break
            if interrupt.asked:
                training.stopped = INTERRUPTED
                break
            if balance.finished is not None:
                training.stopped = Stopped(StopReason.FINISHED, balance.finished)
                break
    return training


def _open_bands(diffusivity: NeuralField, share: float, opening: float) -> None:
    """Open the bands of the encoding as far as they are after this share of the run."""
    bands = diffusivity.encoding.bands
    diffusivity.encoding.open_to(bands * min(share / opening, 1.0) if opening > 0 else bands)


def _optimiser(known: list[nn.Parameter], unknown: list[nn.Parameter], rates: Rates) -> torch.optim.Adam:
    """Adam with a rate of its own for each of the two networks; a network without parameters has none."""
    groups = [(known, rates.temperature), (unknown, rates.diffusivity)]
    return torch.optim.Adam([{"params": some, "lr": rate, "first": rate} for some, rate in groups if some], fused=True)


def _noted(training: Training, found: Losses, more: dict[str, float]) -> float:
    """Add an iteration to the history; returns the data loss."""
    losses = {name: float(loss.detach()) for name, loss in found.named().items()}
    for name, value in {**losses, "tv": float(found.tv.detach()), **more}.items():
        training.history.setdefault(name, []).append(value)
    if not math.isfinite(sum(losses.values())):
        raise NeftyError(
            f"the losses are no longer finite at iteration {training.iterations}; lower rates.temperature."
        )
    return losses.get("data", math.nan)
