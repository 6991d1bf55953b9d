"""``nefty bench run false-rates``: are there as many false indications in sound parts as ``--false-calls`` says?

Sound parts of the test bed are calibrated once and searched at every rate: a lower threshold lets more be fitted, so
the scores of one search do not tell what another would call.
"""

from __future__ import annotations

from typing import Any

from nefty.bench.parts.calibrated import calibrated_part
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing
from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.null import threshold
from nefty.metrics.detection.false_calls import FalseCalls

COLUMNS = (
    Column("rate", "stated per part", lambda v: f"{v:g}"),
    Column("threshold", "threshold", lambda v: f"{v:.2f}"),
    Column("n", "sound parts", formats.whole),
    Column("false", "false indications", formats.whole),
    Column("measured", "per part (95 %)", str),
    Column("holds", "stated rate inside", str),
)
OF_PARTS = (
    Column("seed", "seed", formats.whole),
    Column("scores", "scores of what was called, by rate", str),
)


def run(
    *,
    seeds: str = "0:60",
    rates: tuple[float, ...] = (0.05, 0.2, 1.0),
    pixels: int | None = None,
    tell: Tell = say_nothing,
) -> Results:
    """Search sound parts at every rate.

    Args:
        seeds: of the parts.
        rates: false indications per sound part that are asked for.
        pixels: along each side of their frames; drawn if not given.
        tell: hears the parts.
    """
    counts, of_parts = dict.fromkeys(rates, 0), []
    every = parse_seeds(seeds)
    for done, seed in enumerate(every):
        tell("Sound parts", f"{done + 1} of {len(every)}, seed {seed}")
        scores = _called(seed, rates, pixels)
        for rate, called in scores.items():
            counts[rate] += len(called)
        if any(scores.values()):
            of_parts.append(_of_part(seed, scores))
    rows = [_row(rate, FalseCalls(count, len(every))) for rate, count in counts.items()]
    return Results(
        name="false-rates",
        title="Stated and measured false calls",
        lead="Sound parts of the test bed, searched at every rate: every indication is false.",
        tables=[
            Table("False indications by rate", COLUMNS, rows, name="rates", contests=()),
            Table("Parts in which something was called", OF_PARTS, of_parts, name="parts", contests=()),
        ],
        settings={"seeds": seeds, "rates": rates, "pixels": pixels},
    )


def _called(seed: int, rates: tuple[float, ...], pixels: int | None) -> dict[float, list[float]]:
    """Scores of what is called in a sound part, by rate."""
    given = calibrated_part("sound", seed, pixels)
    found = {}
    for rate in rates:
        evidence, *_ = find(given.part, given.recipe.evidence.model_copy(update={"false_calls": rate}))
        found[rate] = [evidence.regions[number - 1].score for number in evidence.called]
    return found


def _of_part(seed: int, scores: dict[float, list[float]]) -> dict[str, Any]:
    told = "; ".join(f"{rate:g}: {', '.join(f'{s:.1f}' for s in own)}" for rate, own in scores.items() if own)
    return {"seed": seed, "scores": told}


def _row(rate: float, calls: FalseCalls) -> dict[str, Any]:
    low, high = calls.interval()
    return {
        "rate": rate,
        "threshold": threshold(rate),
        "n": calls.of,
        "false": calls.count,
        "measured": f"{calls.rate:.3f} ({low:.3f} to {high:.3f})",
        "holds": "yes" if low <= rate <= high else "no",
    }
