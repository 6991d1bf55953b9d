"""Outcomes of a suite as its methods would leave them: true volumes, blurred, with real scores and spectra."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nefty.bench.suites.load import load_suite
from nefty.bench.suites.suite import Suite
from nefty.bench.tasks.simulated import SLAB, Simulated
from nefty.bench.tasks.task import Entry, Outcome
from nefty.core.grid import Grid
from nefty.metrics.score import evaluate
from nefty.metrics.spectrum import radial_spectrum
from support.volumes import blurred

SHAPE = (8, 16, 16)
BLURS = (0.35, 0.6, 0.9, 1.3)  # cells, by place of the method in the suite


def small_suite(**changes: Any) -> Suite:
    """Two methods on two kinds of specimens with few cells."""
    values: dict[str, Any] = {
        "name": "small",
        "title": "A small suite",
        "data": {"clean": {"shape": SHAPE, "frames": 6, "seeds": "0:6"}},
        "methods": [{"method": "fast"}, {"method": "grid"}],
        "tables": ["quality"],
    }
    return load_suite({**values, **changes})


def outcomes(suite: Suite, entries: Iterable[Entry] | None = None) -> list[tuple[Entry, Outcome]]:
    """An outcome for every entry: the later a method comes in the suite, the more it blurs."""
    places = {row.name: place for place, row in enumerate(suite.methods)}
    return [(e, outcome(e, places[e.row])) for e in (suite.entries() if entries is None else entries)]


def outcome(
    entry: Entry,
    place: int = 0,
    *,
    scores: Mapping[str, float | None] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Outcome:
    """The outcome of a task; ``scores`` and ``facts`` in place of its own."""
    task = entry.task
    assert isinstance(task.recording, Simulated)
    grid = Grid(task.recording.shape, SLAB)
    specimen = task.recording.specimen(task.kind, task.seed)
    truth = specimen.alpha(grid)
    alpha = blurred(truth, specimen.background(grid), BLURS[place % len(BLURS)])
    marks = evaluate(alpha, truth, thickness=grid.size[0]).as_dict()
    spectra = [radial_spectrum(volume, truth, grid.size) for volume in (alpha, truth)]
    count = 20 * (place + 1)
    seconds = 2.0 * (place + 1) + 0.1 * task.seed
    return Outcome(
        task=task,
        scores={
            **{k: v for k, v in marks.items() if v is None or (isinstance(v, float) and math.isfinite(v))},
            "surface_mse": 1e-4 * (place + 1),
            "surface_psnr": 80.0 - place,
            **(scores or {}),
        },
        facts={
            "seconds": seconds,
            "iterations": count,
            "evaluations": count + 3,
            "unknowns": int(np.prod(grid.shape)),
            "peak_bytes": 10**8 * (place + 1),
            "stopped": "settled",
            "cut_short": False,
            "misfit": 1.0,
            "defects": len(specimen.defects),
            "strata": len(specimen.bulk),
            "defects_found": len(specimen.defects),
            "top_errors": [0.1 * (place + 1)] * len(specimen.defects),
            "bulk_error": 0.01 if task.kind == "homogeneous" else None,
            **(facts or {}),
        },
        history={
            "misfit": 100.0 / np.arange(1.0, count + 1),
            "objective": 100.0 / np.arange(1.0, count + 1),
            "seconds": np.linspace(seconds / count, seconds, count),
        },
        spectrum={"frequency": spectra[0].frequencies, "found": spectra[0].power, "true": spectra[1].power},
        stored=alpha.astype(np.float32),
        provenance={"processor": "a processor", "host": "here"},
    )
