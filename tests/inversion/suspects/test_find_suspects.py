"""A wrong fact is named, right ones are not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from nefty.bench.studies.wrong_facts import FAULTS
from nefty.core.grid import Grid
from nefty.data.sequence import Sequence
from nefty.inversion.build import build_model
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import Recipe, load_recipe
from nefty.inversion.reconstruct import observe, reconstruct
from nefty.inversion.suspects.find import suspect_facts
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence
from nefty.result.suspect import SuspectFact
from nefty.synth.recording import simulate
from nefty.synth.specimen import PAPER_GRID, draw_specimen

GRID = Grid((8, 24, 24), PAPER_GRID.size)
TIMES = 0.125 * np.arange(1, 41)
RECIPE = load_recipe("fast", {"model.layers": 8, "suspects.steps": 6})
BY_NAME = {fault.name: fault for fault in FAULTS}


def record(fault: str, kind: str = "sound", seed: int = 880100) -> Sequence:
    """A recording as the user describes it."""
    setup = {k: v for k, v in BY_NAME[fault].setup.items() if k != "gain"}
    specimen = draw_specimen(seed, kind)
    return BY_NAME[fault].told(simulate(specimen, noise=1e-3, seed=seed, grid=GRID, times=TIMES, **setup))


def calibrated(recording: Sequence, recipe: Recipe = RECIPE) -> LayeredCalibration:
    model = build_model(recording, recipe)
    seen: Observation = observe(recording, model, recipe)[0]
    return LayeredCalibration(model, seen, np.full(8, 0.13), recipe.calibration)


def asked(recording: Sequence) -> tuple[SuspectFact, ...]:
    known = calibrated(recording)
    sound = np.broadcast_to(known.background[:, None, None], GRID.shape)
    return suspect_facts(known, sound, None, RECIPE)


@pytest.mark.parametrize("kind", ["sound", "sound-layered"])
def test_right_facts_are_not_suspected(kind):
    assert asked(record("nothing", kind)) == ()


MOVES: dict[str, Callable[[float], bool]] = {
    "thickness + 2 %": lambda value: value == pytest.approx(1.0, abs=0.005),
    "depth of the flash + 2 %": lambda value: value == pytest.approx(0.2, abs=0.001),
    "times + 1/10 frame": lambda value: value == pytest.approx(0.125, abs=0.004),
    "anisotropy 1.5 along x not told": lambda value: value == pytest.approx(1.5, abs=0.03),
    "losses h = 0.05 not told": lambda value: value == pytest.approx(0.05, abs=0.005),
}


@pytest.mark.parametrize("fault", MOVES)
def test_a_wrong_fact_is_named(fault):
    suspects = asked(record(fault))
    assert suspects[0].name in BY_NAME[fault].facts
    assert MOVES[fault](suspects[0].moved)
    assert suspects[0].gain > 100


def test_cells_that_are_too_thick_are_no_wrong_clock():
    """Frames of smaller cells look as if the clock were off by less than a cell is blurred."""
    recording = simulate(draw_specimen(880200, "sound"), noise=1e-3, grid=GRID, times=TIMES, engine="explicit-fine")
    assert asked(recording) == ()


def test_a_defect_is_no_wrong_fact():
    """What was called is explained, and its pixels do not count."""
    recording = record("nothing", "homogeneous")
    known, truth = calibrated(recording), recording.truth_on(GRID.shape)
    assert truth is not None
    deep = truth < 0.5 * truth.max()
    known.adopt(np.full(8, truth.max()))
    shown = FrameEvidence(deep.astype(np.int32), (RegionEvidence(50.0),), 5.0, 0.05, np.zeros((24, 24)), 1.0)
    assert suspect_facts(known, truth, shown, RECIPE) == ()


def test_a_reconstruction_says_it():
    quick = {"stages": [{"name": "where", "iterations": 3}]}
    recipe = RECIPE.model_dump(mode="json") | quick
    found = reconstruct(record("depth of the flash + 2 %"), recipe=recipe)
    assert found.suspects[0].name == "depth of the flash"
    assert "a depth of the flash of 0.2 instead of 0.204 (2 % less)" in found.verdict().text
    assert (
        reconstruct(record("depth of the flash + 2 %"), recipe=recipe, overrides={"suspects.asked": False}).suspects
        == ()
    )
