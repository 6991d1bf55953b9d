"""``nefty bench run wrong-facts``: does one fact that is a little wrong make defects in a sound part?

Specimens of the paper's kind without a defect are recorded as they are, and reconstructed with one fact that is not
what it was, or with physics that the model does not have.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.grid import Grid
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing
from nefty.data.sequence import Sequence as Recording
from nefty.inversion.reconstruct import reconstruct
from nefty.inversion.suspects.stated import ALONG, CLOCK, FACE_LOSS, FACES_WITH_LOSS
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash
from nefty.result.verdict import Level
from nefty.synth.camera import Camera
from nefty.synth.recording import simulate
from nefty.synth.setup import PAPER_SIDES
from nefty.synth.specimen import PAPER_GRID, draw_specimen

SPAN = 5.0  # time of the last frame
KINDS = ("sound", "sound-layered")
COLUMNS = (
    Column("fact", "what is wrong"),
    Column("n", "parts", formats.whole),
    Column("false", "false indications", formats.whole),
    Column("per_part", "per part", lambda v: f"{v:.2f}"),
    Column("highest", "highest evidence", lambda v: f"{v:.1f}"),
    Column("threshold", "threshold", lambda v: f"{v:.1f}"),
    Column("explained", 'verdict "explained"', formats.whole),
    Column("named", "cause named", formats.whole),
    Column("suspected", "some fact suspected", formats.whole),
)


def _as_it_is(recording: Recording) -> Recording:
    return recording


@dataclass(frozen=True)
class Fault:
    """What is wrong.

    Args:
        name: in words.
        told: the recording as the user describes it.
        setup: how it was recorded, where the model does not have it.
        facts: what the suspect fact may be called, so that the cause is named; empty if the model has no such fact.
    """

    name: str
    told: Callable[[Recording], Recording] = _as_it_is
    setup: dict[str, Any] = field(default_factory=dict)
    facts: tuple[str, ...] = ()


def _thicker(recording: Recording) -> Recording:
    assert recording.size is not None
    z, y, x = recording.size
    return dataclasses.replace(recording, size=(1.02 * z, y, x))


def _deeper_flash(recording: Recording) -> Recording:
    flash = recording.excitation
    assert isinstance(flash, GaussianFlash)
    return dataclasses.replace(recording, excitation=dataclasses.replace(flash, depth=1.02 * flash.depth))


def _later(share: float) -> Callable[[Recording], Recording]:
    def told(recording: Recording) -> Recording:
        return dataclasses.replace(recording, times=recording.times + share * float(np.diff(recording.times)[0]))

    return told


def _without_losses(recording: Recording) -> Recording:
    return dataclasses.replace(recording, boundary=PAPER_SIDES)


def _isotropic(recording: Recording) -> Recording:
    return dataclasses.replace(recording, anisotropy=(1.0, 1.0))


LOSS = Boundary(PAPER_SIDES.lateral, "robin", "robin", 0.05, 0.05)
LOSSES = tuple(FACE_LOSS.format(face) for face in FACES_WITH_LOSS)
FAULTS = (
    Fault("nothing"),
    Fault("thickness + 2 %", _thicker, facts=("thickness",)),
    Fault("depth of the flash + 2 %", _deeper_flash, facts=("depth of the flash",)),
    Fault("times + 1/10 frame", _later(0.1), facts=(CLOCK,)),
    Fault("times + 1/2 frame", _later(0.5), facts=(CLOCK,)),
    Fault("gains of 3 %", setup={"gain": 0.03}),
    Fault("losses h = 0.05 not told", _without_losses, {"boundary": LOSS}, LOSSES),
    Fault("anisotropy 1.5 along x not told", _isotropic, {"anisotropy": (1.0, 1.5)}, (ALONG.format("x"),)),
)


def run(
    *,
    recipe: str = "fast",
    seeds: str = "0:4",
    shape: tuple[int, int, int] = PAPER_GRID.shape,
    frames: int = 100,
    noise: float = 1e-3,
    tell: Tell = say_nothing,
) -> Results:
    """Reconstruct every sound specimen with every fault.

    Args:
        recipe: by name.
        seeds: of specimens, of each kind.
        shape: cells (z, y, x).
        frames: of each recording.
        noise: standard deviation, as a share of the peak.
        tell: hears the parts.
    """
    rows = []
    for fault in FAULTS:
        found = []
        for kind in KINDS:
            for seed in parse_seeds(seeds):
                tell(fault.name, f"{kind} {seed}")
                found.append(_reconstructed(fault, recipe, kind, seed, shape, frames, noise))
        false = sum(one[0] for one in found)
        rows.append(
            {
                "fact": fault.name,
                "n": len(found),
                "false": false,
                "per_part": false / len(found),
                "highest": max(one[1] for one in found),
                "threshold": max(one[2] for one in found),
                "explained": sum(one[3] for one in found),
                "named": sum(any(name in fault.facts for name in one[4]) for one in found),
                "suspected": sum(bool(one[4]) for one in found),
            }
        )
    return Results(
        name="wrong-facts",
        title="One wrong fact",
        lead="Sound specimens of the paper's kind, half of them layered, with one fact that is a little wrong.",
        tables=[Table("False indications by fact", COLUMNS, rows, name="facts", contests=())],
        settings={"recipe": recipe, "seeds": seeds, "shape": shape, "frames": frames, "noise": noise},
    )


def _reconstructed(
    fault: Fault, recipe: str, kind: str, seed: int, shape: tuple[int, int, int], frames: int, noise: float
) -> tuple[int, float, float, bool, tuple[str, ...]]:
    """How many indications; the highest evidence of a region, called or not; its threshold; if it is explained; which
    facts are suspected.
    """
    setup = dict(fault.setup)
    recording = simulate(
        draw_specimen(seed, kind),
        camera=Camera(noise=noise, gain=setup.pop("gain", 0.0)),
        seed=seed,
        grid=Grid(shape, PAPER_GRID.size),
        times=SPAN / frames * np.arange(1, frames + 1),
        **setup,
    )
    found = reconstruct(fault.told(recording), recipe=recipe)
    evidence = found.frame_evidence
    scores: Sequence[float] = [] if evidence is None else [region.score for region in evidence.regions]
    threshold = 0.0 if evidence is None else evidence.threshold
    explained = found.verdict().level == Level.EXPLAINED
    return (
        len(found.indications()),
        max(scores, default=0.0),
        threshold,
        explained,
        tuple(fact.name for fact in found.suspects),
    )
