"""Reconstructions with a known truth, made without inverting anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.core.stopping import Stopped, StopReason
from nefty.data.facts import Facts, Origin, Simulation, Source
from nefty.result.effort import Effort
from nefty.result.reach import Reach
from nefty.result.reconstruction import Reconstruction
from nefty.synth.specimen import draw_specimen
from support.volumes import blurred

GRID = Grid((16, 64, 64), (1.0, 10.0, 10.0))


@pytest.fixture
def grid() -> Grid:
    return GRID


@pytest.fixture
def make() -> Callable[..., Reconstruction]:
    """A reconstruction of a drawn specimen, with white noise of 1 as its residual unless told otherwise."""

    def build(seed: int = 0, kind: str = "homogeneous", frames: int = 20, **changes: Any) -> Reconstruction:
        specimen = draw_specimen(seed, kind)
        background, truth = specimen.background(GRID), specimen.alpha(GRID)
        times = 0.05 * np.arange(1, frames + 1)
        fitted = np.broadcast_to((100 / np.sqrt(1 + times))[:, None, None], (frames, 64, 64)).astype(np.float32)
        noise = np.random.default_rng(seed).standard_normal(fitted.shape)
        values: dict[str, Any] = {
            "grid": GRID,
            "alpha": blurred(truth, background).astype(np.float32),
            "background": background,
            "times": times,
            "measured": (fitted + noise).astype(np.float32),
            "fitted": fitted,
            "noise": 1.0,
            "history": {"stage": np.array(["coarse", "fine"]), "misfit": np.array([9.0, 1.0])},
            "recipe": {"name": "fast", "optimiser": {"pairs": 20, "tolerance": None}},
            "provenance": {"nefty": "0", "host": "here"},
            "stopped": Stopped(StopReason.GOOD_ENOUGH, "at the noise floor"),
            "effort": Effort(preparation=0.5, optimisation=12.25, evaluations=40, unknowns=65536),
            "bulk": float(np.exp(np.log(background).mean())),
            "truth": truth,
            "lateral": "periodic",
            "reach": Reach(shallowest=0.05, deepest=0.9),
            "facts": Facts(
                origin=Origin(source=Source.SIMULATION, simulation=Simulation(record={"specimen": specimen.record()})),
            ),
        }
        return Reconstruction(**(values | changes))

    return build
