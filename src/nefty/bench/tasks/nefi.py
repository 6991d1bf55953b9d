"""nefi, the general library of the paper's authors, as a method of the benchmark: its ``thermal_tomography``.

It puts the depth last, so volumes are handed over as (y, x, z).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from nefi.instances.thermal_tomography import (  # pyright: ignore[reportMissingImports]
    PRESETS,
    ThermalTomography,
    ThermalTomographyConfig,
)
from nefi.measurement import Measurement  # pyright: ignore[reportMissingImports]
from nefi.solve.solver import Solver  # pyright: ignore[reportMissingImports]
from nefi.utils.seed import seed_everything  # pyright: ignore[reportMissingImports]

from nefty.bench.tasks.budget import Budget
from nefty.core.checks import one_of
from nefty.core.errors import InputError
from nefty.core.provenance import provenance, versions
from nefty.core.stopping import Stopped, StopReason
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model
from nefty.inversion.recipe import load_recipe
from nefty.physics.pulses import GaussianFlash
from nefty.result.effort import Effort
from nefty.result.reconstruction import Reconstruction

#: Field and schedule of nefi's own preset for CPUs ("smoke"), with its fastest solver. Its steps are set so that the
#: schedule of the learning rate ends within the budget.
FIELD = ("hidden", "depth", "skip_at", "n_octaves", "lr", "lr_schedule", "lr_min_ratio")
DEFAULTS = {**{name: PRESETS["smoke"][name] for name in FIELD}, "solver": "chebyshev", "jacobi_iters": 20}
STEPS, ANNEALED = 150, 0.4  # of the same preset: 60 of 150


def settings(changes: Mapping[str, Any]) -> dict[str, Any]:
    """nefi's configuration of ``thermal_tomography``; ``preset`` is ``"cpu"`` (the default) or ``"paper"``."""
    given = dict(changes)
    preset = one_of("preset", given.pop("preset", "cpu"), ("cpu", "paper"))
    for name in given:
        one_of("nefi setting", name, ThermalTomographyConfig.__dataclass_fields__)
    start = {**DEFAULTS, "steps": STEPS} if preset == "cpu" else {}
    found = {**start, **given}
    if preset == "cpu":
        found.setdefault("anneal_steps", round(ANNEALED * found["steps"]))
    return found


def reconstruct(sequence: Sequence, settings: Mapping[str, Any], budget: Budget) -> Reconstruction:
    """A volume by nefi's ``thermal_tomography``, of a recording of the paper's kind.

    Args:
        sequence: frames of the front at equal distances from the flash, periodic or adiabatic sides.
        settings: of nefi's configuration.
        budget: of the optimisation.
    """
    if sequence.observe != "front" or not isinstance(sequence.excitation, GaussianFlash):
        raise InputError("nefi's thermal instance takes the front of a part after a Gaussian flash.")
    layers = 16 if sequence.truth is None else sequence.truth.shape[0]
    model = build_model(sequence, load_recipe("fast", {"model.layers": layers}))
    nz, ny, nx = model.grid.shape
    depth, height, width = model.grid.size
    steps = settings.get("steps", 10000)
    instance = ThermalTomography(
        {
            **settings,
            "grid": (ny, nx, nz),
            "extent": (height, width, depth),
            "dt": float(sequence.times[0]),
            "n_frames": len(sequence.times),
            "bc_lateral": "periodic" if sequence.boundary.lateral == "periodic" else "neumann",
            "steps": steps if budget.iterations is None else min(steps, budget.iterations),
        }
    )
    start = torch.from_numpy(sequence.excitation.amplitude * sequence.excitation.shape(model.grid))
    given: Any = lambda: start.permute(1, 2, 0).contiguous()  # noqa: E731 - ours, to the last bit
    instance.initial_condition = given
    curriculum = instance.default_curriculum()
    curriculum.time_budget_s = budget.seconds
    seed_everything(0)
    problem = instance.build_problem(Measurement(torch.from_numpy(sequence.frames).float()))
    result = Solver(problem, curriculum, device="cpu", seed=0).run()
    alpha = np.ascontiguousarray(result.fields["alpha"].double().numpy().transpose(2, 0, 1))
    history = {"objective": np.asarray(result.history["total"], dtype=np.float64)}
    history["seconds"] = np.linspace(0, result.timing["total_s"], len(history["objective"]) + 1)[1:]
    return Reconstruction(
        grid=model.grid,
        alpha=alpha,
        background=np.percentile(alpha, 90, axis=(1, 2)),
        times=sequence.times,
        measured=sequence.frames,
        fitted=model(torch.from_numpy(alpha).to(model.dtype)).double().numpy(),
        history=history,
        recipe={"name": "nefi", **settings},
        provenance={**provenance(), **versions(("nefi",))},
        stopped=Stopped(StopReason.UNKNOWN, str(result.stage_results[-1].get("stop_reason", ""))),
        effort=Effort(
            evaluations=len(history["objective"]), unknowns=sum(p.numel() for p in problem.field.parameters())
        ),
        truth=sequence.truth,
        lateral=sequence.boundary.lateral,
    )
