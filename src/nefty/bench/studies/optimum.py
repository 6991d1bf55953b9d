"""``nefty bench run optimum``: does a reconstruction stop at the optimum, or before it?

The same recording is inverted from the usual start, from the truth blurred, and from the truth. Where the truth ends
at a lower objective, the way was at fault; where it ends at a higher one, what is minimised was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from nefty.bench.studies.mistakes import Mistakes, mistakes
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.bench.tables.table import Interval, interval
from nefty.bench.tasks.simulated import SLAB, Simulated
from nefty.core.grid import Grid
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing
from nefty.data.sequence import Sequence as Recording
from nefty.inversion.build import build_model
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.loop import Optimisation, State
from nefty.inversion.recipe import Recipe, limited, load_recipe
from nefty.inversion.reconstruct import first_weight, observe
from nefty.metrics.volume import iou, psnr

STARTS = ("usual", "truth blurred", "truth")
BLUR = (1.0, 2.0, 2.0)  # cells (z, y, x), standard deviation

WAY = (
    Column("kind", "specimens"),
    Column("start", "start"),
    Column("stage", "after"),
    Column("objective", "objective", interval(0)),
    Column("misfit", "misfit", interval(2)),
    Column("iou", "IoU", interval(3), best="high"),
)
ENDS = (
    Column("specimen", "specimen"),
    Column("start", "start"),
    Column("iou", "IoU", lambda v: f"{v:.3f}"),
    Column("psnr", "PSNR", lambda v: f"{v:.1f}"),
    Column("objective", "objective", formats.short),
    Column("misfit", "misfit", formats.short),
    Column("weight", "weight", formats.short),
    Column("cells", "wrong cells", formats.whole),
    Column("bottom", "bottom (thickness)", formats.whole),
    Column("top", "top (position)", formats.whole),
    Column("edge", "edge", formats.whole),
    Column("far", "elsewhere", formats.whole),
    Column("background", "background, RMS of log", lambda v: f"{v:.3f}"),
    Column("evaluations", "gradients", formats.whole),
)


@dataclass(frozen=True)
class Milestone:
    """How things stand after a stage."""

    stage: str
    objective: float
    misfit: float
    iou: float
    weight: float


@dataclass(frozen=True)
class Ending:
    """A specimen, inverted from one start."""

    kind: str
    seed: int
    start: str
    way: tuple[Milestone, ...]
    psnr: float
    wrong: Mistakes
    evaluations: int


def run(
    *,
    recipe: str = "fast",
    kinds: Sequence[str] = ("homogeneous", "layered"),
    seeds: str = "600:604",
    shape: tuple[int, int, int] = (16, 64, 64),
    frames: int = 100,
    noise: float = 0.0,
    iterations: int | None = None,
    tell: Tell = say_nothing,
) -> Results:
    """Invert every specimen from every start.

    Args:
        recipe: of voxels.
        kinds: of specimens.
        seeds: a range such as "600:604".
        shape: cells (z, y, x).
        frames: of each recording.
        noise: standard deviation, as a share of the peak.
        iterations: at most; all of the recipe if not given.
        tell: hears the stages.
    """
    chosen = load_recipe(recipe, {"model.layers": shape[0]})
    chosen = chosen if iterations is None else limited(chosen, iterations)
    recorded = Simulated(noise=noise, shape=shape, frames=frames)
    found = []
    for kind in kinds:
        for seed in parse_seeds(seeds):
            recording = recorded.sequence(kind, seed)
            true = recorded.specimen(kind, seed).background(Grid(shape, SLAB))
            for start in STARTS:
                tell(f"{kind} {seed}", f"from the {start}" if start != "usual" else "from the usual start")
                found.append(invert(chosen, recording, kind, seed, start, true))
    return Results(
        name="optimum",
        title="The path to the optimum",
        lead="The same recordings, inverted from the usual start, from the truth blurred, and from the truth.",
        tables=[_along_the_way(found), _ends(found)],
        notes=_notes(found),
        settings={
            "recipe": chosen.model_dump(mode="json"),
            "recording": asdict(recorded),
            "seeds": seeds,
            "blur": BLUR,
        },
    )


def first_volume(truth: np.ndarray, start: str) -> np.ndarray | None:
    """The diffusivity (z, y, x) that an inversion begins with; ``None`` for its own choice."""
    if start == "usual":
        return None
    return np.exp(gaussian_filter(np.log(truth), BLUR, mode="nearest")) if start == "truth blurred" else truth


def invert(
    recipe: Recipe, recording: Recording, kind: str, seed: int, start: str, true_background: np.ndarray
) -> Ending:
    """One recording from one start, with a look at the volume after each stage."""
    assert recording.truth is not None
    truth, sequence = recording.truth, recording.after_flash()
    model = build_model(sequence, recipe)
    seen, _ = observe(sequence, model, recipe)
    calibration = calibrate(recipe, model, seen, None)
    work = Optimisation(
        recipe, calibration, State(first_weight(recipe, calibration.observation)), start=first_volume(truth, start)
    )
    way: list[Milestone] = []

    def look(state: State) -> None:
        stage = recipe.stages[state.stage - 1].name
        history = state.history
        last = {name: history[name][-1] for name in ("objective", "misfit", "weight")}
        way.append(Milestone(stage, iou=iou(work.volume(), truth), **last))

    work.run(look, every=np.inf)
    look(work.state)
    volume = work.volume()
    background = calibration.background
    assert background is not None
    wrong = mistakes(volume, background, truth, true_background)
    return Ending(kind, seed, start, tuple(way), psnr(volume, truth), wrong, work.state.evaluations)


def _along_the_way(found: Sequence[Ending]) -> Table:
    """Means over the specimens, stage after stage."""
    rows = []
    for kind in dict.fromkeys(ending.kind for ending in found):
        for start in STARTS:
            of = [ending.way for ending in found if (ending.kind, ending.start) == (kind, start)]
            for marks in zip(*of, strict=True):
                means = {n: Interval.of(getattr(m, n) for m in marks) for n in ("objective", "misfit", "iou")}
                rows.append({"kind": kind, "start": start, "stage": marks[0].stage, **means})
    return Table(
        "Along the way", WAY, rows, name="way", shows="Means over the specimens with 95 % intervals.", contests=()
    )


def _ends(found: Sequence[Ending]) -> Table:
    """Every inversion where it stops, with what is wrong then."""
    rows = [
        {
            "specimen": f"{e.kind} {e.seed}",
            "start": e.start,
            "psnr": e.psnr,
            "evaluations": e.evaluations,
            "cells": e.wrong.cells,
            **asdict(e.way[-1]),
            **asdict(e.wrong),
        }
        for e in found
    ]
    shows = (
        "Wrong cells are void in one of truth and result only: under the outline of a true void at its bottom or its "
        "top, beside it, or elsewhere."
    )
    return Table("Where it stops", ENDS, rows, name="ends", shows=shows)


def _notes(found: Sequence[Ending]) -> list[str]:
    """How often the way was at fault, and how often what is minimised."""
    ends = {(e.kind, e.seed, e.start): e.way[-1] for e in found}
    pairs = [(ends[e.kind, e.seed, "usual"], ends[e.kind, e.seed, "truth"]) for e in found if e.start == "usual"]
    equal = [(usual, truth) for usual, truth in pairs if np.isclose(usual.weight, truth.weight)]
    lower = sum(truth.objective < usual.objective for usual, truth in equal)
    return [
        f"The weight of the penalties ended the same from the usual start and from the truth in {len(equal)} of "
        f"{len(pairs)}. Of these the objective ended lower from the truth in {lower}: there the way was at fault, in "
        "the others what is minimised."
    ]
