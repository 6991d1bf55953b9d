"""``nefty bench run heatings``: the same part after a flash, and under a long pulse, a step and lock-in heating.

The recordings are the test bed's, through its camera; a file and the course of the heating go in, as a user has them.
All times are in units of L^2/alpha, in which heat goes through the part.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.bench.parts.score import spots_of_volume, trial_facts
from nefty.bench.tables import formats
from nefty.bench.tables.results import Column, Results, Table
from nefty.core.seeds import parse_seeds
from nefty.core.tell import Tell, say_nothing
from nefty.physics.materials import Material
from nefty.synth.parts.engine import Losses
from nefty.synth.parts.filming import Filming, draw_filming
from nefty.synth.parts.history import AnyHistory, History, LampPulse
from nefty.synth.parts.part import Defect, Film, FlatHole, Gap, Heat, Outline, Part
from nefty.synth.parts.recorded import truth_of
from nefty.synth.parts.simulate import watch

if TYPE_CHECKING:
    from nefty.data.sequence import Sequence as Recording

FRAMES = 240  # after the heating begins
LAST = 1.3  # of the recording
FLASH, LONG, PERIODS, FREQUENCY = 0.002, 0.25, 5, 4.0
#: A long heating brings more heat than a flash may: its surface stays cooler.
ENERGY = {"flash": 1e4, "long pulse": 4e4, "step": 1.2e5, "lock-in": 1.2e5}
COLUMNS = (
    Column("part", "part"),
    Column("heating", "heating"),
    Column("found", "found"),
    Column("false", "false", formats.whole),
    Column("depth", "depth mm", lambda v: f"{v:.2f}"),
    Column("error", "error", lambda v: f"{100 * v:+.1f} %"),
    Column("against_flash", "against the flash", lambda v: f"{100 * v:+.1f} %"),
    Column("iou", "mask IoU", lambda v: f"{v:.2f}"),
)


@dataclass(frozen=True)
class Case:
    """A part, and the defect in its middle.

    Args:
        name: of material and defect.
        material: of the part.
        thickness: in m.
        defect: of an outline.
    """

    name: str
    material: Material
    thickness: float
    defect: Callable[[Outline], Defect]


def _isotropic(name: str, alpha: float, rho: float, cp: float) -> Material:
    return Material(name=name, alpha_z=alpha, alpha_y=alpha, alpha_x=alpha, rho=rho, cp=cp)


CASES = (
    Case("PVC, air gap of 50 um", _isotropic("pvc", 1.2e-7, 1400, 1000), 3e-3, lambda o: Gap(o, 1.1e-3, 5e-5)),
    Case(
        "GFRP, film of 120 um",
        _isotropic("gfrp", 1.6e-7, 1850, 1000),
        3e-3,
        lambda o: Film(o, 0.9e-3, 1.2e-4, 0.16, 1.55e6),
    ),
    Case("PMMA, hole", _isotropic("pmma", 1.1e-7, 1190, 1450), 4e-3, lambda o: FlatHole(o, 1.6e-3)),
)


def run(*, pixels: int = 32, seeds: str = "0:1", tell: Tell = say_nothing) -> Results:
    """Record every part under every heating and reconstruct it.

    Args:
        pixels: along each side of the frame, which is 12 thicknesses wide.
        seeds: of camera and noise.
        tell: hears the parts.
    """
    rows = []
    for seed in parse_seeds(seeds):
        for case in CASES:
            by_flash = None
            for heating in ENERGY:
                tell(case.name, heating)
                row = _row(case, heating, pixels, seed)
                by_flash = row["depth"] if heating == "flash" else by_flash
                compared = None if row["depth"] is None or by_flash is None else row["depth"] / by_flash - 1
                rows.append({**row, "against_flash": compared})
    return Results(
        name="heatings",
        title="One part, four heatings",
        lead="Recordings of the test bed of one part each after a flash, and under heatings that last.",
        tables=[Table("Indications by heating", COLUMNS, rows, name="heatings", contests=())],
        notes=[
            f"Times in units of L^2/alpha: flash {FLASH:g}, long pulse {LONG:g}, step until the last frame at "
            f"{LAST:g}, lock-in with {PERIODS} periods at a frequency of {FREQUENCY:g}. The user states "
            "material, thickness and pixel rightly, and the course of the heating; when it began within its frame is "
            "not said."
        ],
        settings={"pixels": pixels, "seeds": seeds},
    )


def _row(case: Case, heating: str, pixels: int, seed: int) -> dict[str, Any]:
    from nefty.inversion.reconstruct import reconstruct

    part, filming = _part(case, heating, pixels), draw_filming(seed, (pixels, pixels))
    times = filming.times(part.fps, part.seconds)
    rises = watch(part, times).frames
    difference = rises - watch(replace(part, defects=()), times).frames
    truth = truth_of(part, filming.seen(difference), filming.noise)
    given = _given(part, filming, filming.film(rises, seed))
    found = reconstruct(given, recipe="real")
    facts = trial_facts(spots_of_volume(found, given.facts.window, truth.labels.shape), truth)
    (defect,) = facts["defects"]
    depth, true = defect["found_depth"], defect["depth"]
    return {
        "part": case.name,
        "heating": heating,
        "found": "yes" if defect["found"] else "no",
        "false": facts["false"],
        "depth": None if depth is None else 1e3 * depth,
        "error": None if depth is None else depth / true - 1,
        "iou": facts["iou"],
    }


def _part(case: Case, heating: str, pixels: int) -> Part:
    pixel = 12 * case.thickness / pixels
    through = case.thickness**2 / case.material.alpha_z
    outline = Outline(
        "ellipse", (0.5 * pixels * pixel, 0.45 * pixels * pixel), (4 * case.thickness, 3 * case.thickness)
    )
    return Part(
        material=case.material,
        thickness=case.thickness,
        pixels=(pixels, pixels),
        pixel=pixel,
        heat=Heat(ENERGY[heating], _history(heating, through)),
        fps=FRAMES / (LAST * through),
        seconds=LAST * through,
        defects=(case.defect(outline),),
        losses=Losses(10.0, 10.0, 10.0, 10.0),
    )


def _history(heating: str, through: float) -> History:
    if heating == "lock-in":
        turn = 2 * np.pi * FREQUENCY / through
        return AnyHistory(lambda t: 1 - np.cos(turn * t), PERIODS * through / FREQUENCY, pieces=4 * PERIODS)
    return LampPulse({"flash": FLASH, "long pulse": LONG, "step": LAST}[heating] * through)


def _curve(history: History) -> np.ndarray:
    """Times in s and rates of a heating, (point, 2), as a meter beside the lamp would show it."""
    if isinstance(history, AnyHistory):
        times = np.linspace(0, history.end, 64 * PERIODS + 1)
        return np.column_stack([times, history.rate(times)])
    return np.array([[0.0, 1.0], [history.switches[-1], 1.0]])


def _given(part: Part, filming: Filming, frames: np.ndarray) -> Recording:
    """The recording as ``nefty.load`` gives it."""
    from nefty.data.intake.intake import take_in
    from nefty.data.intake.known import Known

    units = "counts" if filming.counts else "K"
    facts = {"fps": part.fps, "units": units, "material": part.material, "thickness": part.thickness}
    facts |= {"pixel": part.pixel, "flash_frame": filming.before}
    with tempfile.TemporaryDirectory() as folder:
        file, curve = Path(folder) / "part.npy", Path(folder) / "curve.csv"
        np.save(file, frames)
        if part.heat.history.switches[-1] <= 2 * FLASH * part.time:
            facts["pulse"] = part.heat.history.switches[-1]
        else:
            np.savetxt(curve, _curve(part.heat.history), delimiter=",", header="time (s),value", comments="")
            facts["heating"] = curve
        return take_in(file, Known.of(facts)).complete()
