"""``nefty bench run implants``: are defects found as often as "what would have been seen" says?

Into recordings of sound parts of the test bed discs are multiplied, one at a time: at every depth that limits are
stated for, at a place drawn at random, as wide as the limit there, half and twice as wide. Each is looked for by the
whole search, on the calibration of the recording as it was.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from nefty.bench.parts.calibrated import calibrated_part
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing
from nefty.inversion.evidence.find import find
from nefty.inversion.evidence.limits import Reference, disc_contrast, references
from nefty.inversion.evidence.settings import EvidenceSettings
from nefty.inversion.evidence.sheets import MOST
from nefty.inversion.evidence.weighing import SoundPart
from nefty.metrics.summary import wilson

SIZES = (0.5, 1.0, 2.0)  # of the stated limit
NEAR = 2  # pixels from the place within which an indication is of the disc
COLUMNS = (
    Column("size", "diameter over the limit", lambda v: f"{v:g}"),
    Column("finest", "limit", str),
    Column("n", "implanted", formats.whole),
    Column("found", "found", formats.whole),
    Column("share", "share [95 %]", str),
)


def run(*, seeds: str = "0:17", pixels: int = 64, tell: Tell = say_nothing) -> Results:
    """Implant discs into sound parts and look for them.

    Args:
        seeds: of the parts.
        pixels: along each side of their frames.
        tell: hears the parts.
    """
    found: dict[tuple[float, bool], list[bool]] = {}
    for seed in parse_seeds(seeds):
        tell("Implanted defects", f"sound part {seed}")
        for size, finest, hit in _implanted(seed, pixels):
            found.setdefault((size, finest), []).append(hit)
    rows = [_row(size, finest, hits) for (size, finest), hits in sorted(found.items(), key=lambda one: one[0][::-1])]
    lead = (
        "Discs of 50 um of air multiplied into recordings of sound parts of the test bed, each looked for by the whole "
        "search. At the stated limit 90 % should be found. Where a disc of three pixels shows more clearly than that, "
        "the limit is that of the pixels."
    )
    return Results("implants", "What would have been seen", lead, [Table("Implanted defects", COLUMNS, rows)])


def _row(size: float, finest: bool, hits: list[bool]) -> dict[str, Any]:
    low, high = wilson(sum(hits), len(hits))
    return {
        "size": size,
        "finest": "three pixels" if finest else "by evidence",
        "n": len(hits),
        "found": sum(hits),
        "share": f"{np.mean(hits):.2f} [{low:.2f}, {high:.2f}]",
    }


def _implanted(seed: int, pixels: int) -> list[tuple[float, bool, bool]]:
    """Size over the limit, whether the limit is that of the pixels, and whether it was found, of every disc."""
    given = calibrated_part("sound", seed, pixels)
    part, settings, asked = given.part, given.recipe.evidence, references(given.sequence.facts)[:1]
    evidence, *_ = find(part, settings, asked, given.known.decay.gain)
    assert evidence.limits is not None
    rng, shape = np.random.default_rng(seed), part.contrast.counted.shape
    done = []
    for k, depth in enumerate(evidence.limits.depths):
        row, column = (int(rng.integers(n // 6, n * 5 // 6)) for n in shape)
        place = (row, column)
        limit = float(evidence.limits.maps[0, k][place])
        if np.isfinite(limit):
            finest = limit <= 1.001 * float(np.nanmin(evidence.limits.maps[0, 0]))
            hits = [_found(part, settings, asked[0], place, depth, size * limit) for size in SIZES]
            done += [(size, finest, hit) for size, hit in zip(SIZES, hits, strict=True)]
    return done


def _found(
    part: SoundPart, settings: EvidenceSettings, kind: Reference, place: tuple[int, int], depth: float, diameter: float
) -> bool:
    """Whether a disc is found."""
    insulation = min(kind.resistance / (kind.resistance + depth / part.slab.alpha), MOST)
    shown = disc_contrast(part, settings, place, depth, diameter, insulation)
    contrast = dataclasses.replace(part.contrast, values=part.contrast.values + shown)
    evidence, *_ = find(dataclasses.replace(part, contrast=contrast), settings)
    around = np.s_[max(place[0] - NEAR, 0) : place[0] + NEAR + 1, max(place[1] - NEAR, 0) : place[1] + NEAR + 1]
    return any((evidence.labels[around] == number).any() for number in evidence.called)
