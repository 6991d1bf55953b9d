"""PhiFlow as an engine: the same equation as ours to rounding, and the face mean that its own function takes.

Skipped where PhiFlow is not installed.
"""

import importlib.util

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.data.read import read
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash
from nefty.synth.explicit import simulate_explicit
from nefty.synth.recording import resimulate, simulate
from nefty.synth.specimen import draw_specimen
from support.known_facts import alike, simulation_of

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("phi") is None, reason="PhiFlow is not installed: nefty[phiflow]"),
    pytest.mark.filterwarnings("ignore"),  # PhiFlow's own deprecations
]

GRID = Grid((5, 8, 6), (1.0, 10.0, 10.0))
PART = draw_specimen(2, "layered")
TIMES = [0.1, 0.2, 0.5]


@pytest.mark.parametrize(("engine", "mean"), [("phiflow", "min"), ("phiflow-harmonic", "harmonic")])
@pytest.mark.parametrize("lateral", ["periodic", "adiabatic"])
def test_it_is_our_simulator_to_rounding_when_both_take_the_same_substeps(engine, mean, lateral):
    sides = Boundary(lateral=lateral)
    found = simulate(PART, grid=GRID, times=TIMES, engine=engine, boundary=sides, observe="both")
    expected = simulate_explicit(
        GRID, PART.alpha(GRID), TIMES, GaussianFlash(), sides, face_mean=mean, observe="both", safety=1.0
    )  # few cells: the least number of substeps, 10, for both
    assert found.frames.dtype == np.float64
    assert np.abs(found.frames - expected).max() < 1e-11
    other = simulate_explicit(
        GRID, PART.alpha(GRID), TIMES, GaussianFlash(), sides, face_mean="arithmetic", observe="both", safety=1.0
    )
    assert np.abs(found.frames - other).max() > 1e-2


def test_its_min_faces_are_those_of_phiflows_own_function():
    import torch
    from phi.torch.flow import CenteredGrid, diffuse, math, spatial  # pyright: ignore[reportMissingImports]

    from nefty.synth.phiflow_engine import box_of, sides

    volumes = (100 * GaussianFlash().shape(GRID), PART.alpha(GRID))
    with math.precision(64):
        u, alpha = (
            CenteredGrid(
                math.tensor(torch.from_numpy(v.T.copy()), spatial("x,y,z")), sides("periodic"), bounds=box_of(GRID.size)
            )
            for v in volumes
        )
        frames = []
        for dt in np.diff([0.0, *TIMES]):
            u = diffuse.explicit(u, alpha, dt, 10)
            frames.append(u.values.native("z,y,x")[0].numpy())
    found = simulate(PART, grid=GRID, times=TIMES, engine="phiflow", excitation=GaussianFlash(100.0))
    assert np.abs(found.frames - np.array(frames)).max() < 1e-11


def test_substeps_follow_the_papers_rule_with_the_limit_of_three_dimensions():
    from nefty.synth.phiflow_engine import substeps_for

    # 1/dt_stable = 2 * 0.2 * (16^2 + 2 * 6.4^2) = 135.168
    assert substeps_for(0.05, 0.2, (1 / 16, 10 / 64, 10 / 64)) == int(np.ceil(2 * 0.05 * 135.168)) == 14
    assert substeps_for(0.001, 0.2, (1 / 16, 10 / 64, 10 / 64)) == 10
    assert substeps_for(0.05, 0.2, (1 / 16, 10 / 64, 10 / 64), safety=16.0) == 109


def test_the_record_has_the_face_mean_of_the_data_and_the_sequence_that_of_the_model():
    paper = simulate(PART, grid=GRID, times=TIMES, engine="phiflow")
    assert (simulation_of(paper).record["face_mean"], paper.face_mean) == ("min", "harmonic")
    asked = simulate(PART, grid=GRID, times=TIMES, engine="phiflow", face_mean="min")
    assert (simulation_of(asked).record["face_mean"], asked.face_mean) == ("min", "min")
    assert np.array_equal(asked.frames, paper.frames)
    harmonic = simulate(PART, grid=GRID, times=TIMES, engine="phiflow-harmonic")
    assert (simulation_of(harmonic).record["face_mean"], harmonic.face_mean) == ("harmonic", "harmonic")
    assert simulation_of(harmonic).record["safety"] == 2.0
    assert {"phiflow", "phiml", "torch"} <= simulation_of(harmonic).versions.keys()
    assert simulation_of(harmonic).versions["phiflow"][0].isdigit()


@pytest.mark.parametrize("engine", ["phiflow", "phiflow-harmonic"])
@pytest.mark.parametrize("face_mean", [None, "own"])
def test_it_can_be_made_again_bit_by_bit(tmp_path, engine, face_mean):
    mean = None if face_mean is None else {"phiflow": "min", "phiflow-harmonic": "harmonic"}[engine]
    made = simulate(PART, grid=GRID, times=[0.0, *TIMES], engine=engine, noise=0.01, seed=3, face_mean=mean)
    saved = read(made.save(tmp_path / "part.h5"))
    again = resimulate(saved)
    assert np.array_equal(again.frames, saved.frames)
    assert np.array_equal(again.frames, made.frames)
    assert again.digest() == saved.digest()
    assert alike(again.facts, saved.facts)


def test_progress_is_reported():
    seen = []
    simulate(PART, grid=GRID, times=TIMES, engine="phiflow", progress=lambda *a: seen.append(a))
    assert seen == [(1, 3), (2, 3), (3, 3)]
