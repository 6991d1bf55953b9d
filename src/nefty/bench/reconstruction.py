"""``nefty bench reconstruct``: how well and how fast volumes are recovered, over specimens and conditions.

Data come from the independent explicit simulator. Each case is a file, keyed by all that determines it, so a second run
goes on where the first stopped.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench import formats
from nefty.bench.measure import Tell, say_nothing
from nefty.bench.results import Column, Results, Table
from nefty.core.checks import one_of
from nefty.core.errors import InputError, NeftyError
from nefty.core.files import write_atomic
from nefty.core.hdf5 import digest
from nefty.metrics.summary import mean_interval

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction


@dataclass(frozen=True)
class Condition:
    """How the recordings are made.

    Args:
        title: for the table.
        noise: share of the peak.
        refine: cells of the simulator so many times smaller than ours.
        safety: of the explicit time step; its own error in time falls with it.
        alpha: range of the defects' diffusivity, in place of the paper's.
        defects: how many, in place of a drawn number.
    """

    title: str
    noise: float = 0.0
    refine: int = 1
    safety: float = 16.0
    alpha: tuple[float, float] | None = None
    defects: int | None = None


CONDITIONS = {
    "clean": Condition("no noise"),
    "paper-steps": Condition("no noise, the paper's time steps", safety=2.0),
    "noise": Condition("noise of 0.1 % of the peak", noise=1e-3),
    "strong-noise": Condition("noise of 0.5 % of the peak", noise=5e-3),
    "fine": Condition("data from a twice finer grid", refine=2, safety=4.0),
    "air": Condition("defects of 1 : 1000", alpha=(1e-4, 2e-4)),
    "single": Condition("no noise, one defect", defects=1),
}
KINDS = ("homogeneous", "layered")


@dataclass(frozen=True)
class Case:
    """One specimen, recorded and recovered."""

    condition: str
    kind: str
    seed: int
    recipe: str = "fast"
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Hash of everything that decides the result, the resolved recipe included."""
        from nefty import __version__
        from nefty.inversion.recipe import load_recipe

        recipe = load_recipe(self.recipe, self.overrides).model_dump(mode="json")
        return digest(__version__, self.kind, self.seed, asdict(CONDITIONS[self.condition]), recipe)[:20]


def run_case(case: Case) -> dict[str, Any]:
    """Simulate, reconstruct and score; returns plain values."""
    from nefty.inversion.reconstruct import reconstruct
    from nefty.metrics.score import evaluate
    from nefty.synth.recording import simulate
    from nefty.synth.specimen import Ranges, draw_specimen

    condition = CONDITIONS[case.condition]
    ranges = Ranges() if condition.alpha is None else Ranges(alpha=condition.alpha)
    specimen = draw_specimen(case.seed, case.kind, defects=condition.defects, ranges=ranges)
    sequence = simulate(
        specimen, noise=condition.noise, seed=case.seed, refine=condition.refine, safety=condition.safety
    )
    assert sequence.truth is not None
    started = time.perf_counter()
    found = reconstruct(sequence, recipe=case.recipe, overrides=case.overrides)
    seconds = time.perf_counter() - started
    score = evaluate(found, sequence.truth)
    bulk = found.provenance.get("bulk diffusivity")
    return {
        **asdict(case),
        **score.as_dict(),
        "seconds": seconds,
        "evaluations": int(found.provenance["evaluations"]),
        "misfit": found.misfit,
        "defects": len(specimen.defects),
        "defects_found": len(found.defects()),
        "bulk_error": None if bulk is None else float(bulk) / specimen.bulk[0] - 1,
        "top_errors": top_errors(found),
        "weight": float(found.history["weight"][-1]),
    }


def top_errors(found: Reconstruction) -> list[float]:
    """Error of the depth to the top of each true defect that was found, in cells; the truth is measured likewise."""
    from nefty.report.findings import Findings

    pairs = [(f, t) for f, t in Findings(found).pairs if f is not None and t is not None]
    return [abs(f.depth_to_top - t.depth_to_top) / found.grid.spacing[0] for f, t in pairs]


def run(
    conditions: Sequence[str] = ("clean",),
    kinds: Sequence[str] = KINDS,
    seeds: Iterable[int] = range(8),
    *,
    recipes: Sequence[str] = ("fast",),
    overrides: Mapping[str, Any] | None = None,
    processes: int = 1,
    folder: str | Path = "bench-results",
    tell: Tell = say_nothing,
) -> Results:
    """Score reconstructions.

    Args:
        conditions: names out of ``CONDITIONS``.
        kinds: of specimens.
        seeds: of specimens.
        recipes: names.
        overrides: of the recipes.
        processes: cases at a time, one thread each; with 1 a case gets all threads, and its seconds mean something.
        folder: where the cases are kept.
        tell: hears the stages.
    """
    for name in conditions:
        one_of("condition", name, CONDITIONS)
    for name in kinds:
        one_of("kind", name, KINDS)
    seeds = list(seeds)
    if not seeds:
        raise InputError("no seeds were given; use for example 0:8.")
    cases = [Case(c, k, s, r, dict(overrides or {})) for r in recipes for c in conditions for k in kinds for s in seeds]
    done = _run_all(cases, Path(folder) / "cases", processes, tell)
    rows = [
        _row(recipe, condition, kind, done)
        for recipe in recipes
        for condition in conditions
        for kind in kinds
        if any(_is(r, recipe, condition, kind) for r in done)
    ]
    notes = [
        "Mean with 95 % confidence interval over the specimens; IoU of alpha < 0.03; PSNR over 0.003 to 0.25.",
        "Depth to the top: median error over the true defects that were found, in cells.",
        "Data: explicit simulator in float64 on the same grid unless said otherwise; the specimens are in docs.",
    ]
    if processes > 1:
        notes.append(f"{processes} cases ran at a time, one thread each: the seconds are not those of a free machine.")
    settings = {"conditions": list(conditions), "kinds": list(kinds), "seeds": seeds, "recipes": list(recipes)}
    return Results(
        name="reconstruct",
        title="Reconstructions of specimens with known defects",
        lead="Each specimen is simulated by the independent explicit simulator, reconstructed without knowledge of the "
        "truth, and compared with it.",
        tables=[Table("Quality and time", COLUMNS, rows)],
        notes=notes,
        settings={**settings, "overrides": dict(overrides or {})},
        details={"cases": done},
    )


COLUMNS = (
    Column("recipe", "recipe"),
    Column("condition", "data"),
    Column("kind", "specimens"),
    Column("n", "n", formats.whole),
    Column("iou", "IoU"),
    Column("psnr", "PSNR dB"),
    Column("ssim", "SSIM"),
    Column("top", "depth to top, cells"),
    Column("found", "defects found"),
    Column("bulk", "bulk error %"),
    Column("seconds", "median s"),
    Column("evaluations", "evaluations", formats.whole),
)


def _row(recipe: str, condition: str, kind: str, done: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    chosen = [r for r in done if _is(r, recipe, condition, kind)]
    tops = [e for r in chosen for e in r["top_errors"]]
    bulks = [100 * abs(r["bulk_error"]) for r in chosen if r["bulk_error"] is not None]
    return {
        "recipe": recipe,
        "condition": CONDITIONS[condition].title,
        "kind": kind,
        "n": len(chosen),
        "iou": _interval([r["iou"] for r in chosen], 3),
        "psnr": _interval([r["psnr"] for r in chosen], 1),
        "ssim": _interval([r["ssim"] for r in chosen], 3),
        "top": f"{np.median(tops):.2f}" if tops else "",
        "found": f"{len(tops)} of {sum(r['defects'] for r in chosen)}",
        "bulk": f"{max(bulks):.1f} at most" if bulks and kind == "homogeneous" else "",
        "seconds": f"{np.median([r['seconds'] for r in chosen]):.1f}",
        "evaluations": int(np.median([r["evaluations"] for r in chosen])),
    }


def _interval(values: Sequence[float], digits: int) -> str:
    mean, half = mean_interval(values)
    return f"{mean:.{digits}f} ± {half:.{digits}f}" if np.isfinite(half) else f"{mean:.{digits}f}"


def _is(row: Mapping[str, Any], recipe: str, condition: str, kind: str) -> bool:
    return (row["recipe"], row["condition"], row["kind"]) == (recipe, condition, kind)


def _run_all(cases: Sequence[Case], folder: Path, processes: int, tell: Tell) -> list[dict[str, Any]]:
    """Every case, from its file where there is one."""
    done: dict[int, dict[str, Any]] = {}
    left: list[int] = []
    for index, case in enumerate(cases):
        path = folder / f"{case.key}.json"
        if path.exists():
            done[index] = json.loads(path.read_text(encoding="utf-8"))
        else:
            left.append(index)

    def keep(index: int, result: dict[str, Any]) -> None:
        done[index] = result
        write_atomic(folder / f"{cases[index].key}.json", json.dumps(result, indent=1) + "\n")
        case = cases[index]
        what = f"{case.recipe}, {case.condition}, {case.kind} {case.seed}"
        tell(f"{len(done)} of {len(cases)}: {what}: IoU {result['iou']:.3f}, {result['seconds']:.0f} s", "")

    if processes == 1:
        for index in left:
            keep(index, run_case(cases[index]))
    elif left:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=context, initializer=_one_thread) as pool:
            futures = {pool.submit(run_case, cases[index]): index for index in left}
            for future in as_completed(futures):
                keep(futures[future], future.result())
    if not done:
        raise NeftyError("nothing was run.")
    return [done[index] for index in sorted(done)]


def _one_thread() -> None:
    import numba
    import torch

    numba.set_num_threads(1)
    torch.set_num_threads(1)
