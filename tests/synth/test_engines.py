"""Engines by name: what each does unless told otherwise, and what PhiFlow refuses."""

import importlib.util

import numpy as np
import pytest

from nefty.core.errors import InputError, MissingExtraError
from nefty.core.grid import Grid
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse
from nefty.synth.engines import ENGINES, run_engine
from nefty.synth.explicit import simulate_explicit
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen
from support.known_facts import simulation_of

GRID = Grid((4, 8, 8), (1.0, 10.0, 10.0))
PART = draw_specimen(2, "layered")
TIMES = [0.1, 0.3]


def test_the_explicit_engines_are_the_simulator_on_the_grid_and_on_half_its_cells():
    flash = GaussianFlash(100.0, 2.5, 0.2)
    plain = simulate(PART, grid=GRID, times=TIMES)
    assert np.array_equal(plain.frames, simulate_explicit(GRID, PART.alpha(GRID), TIMES, flash, safety=16.0))
    fine = simulate(PART, grid=GRID, times=TIMES, engine="explicit-fine")
    expected = simulate_explicit(GRID, PART.alpha(GRID.refined(2)), TIMES, flash, safety=16.0, refine=2)
    assert np.array_equal(fine.frames, expected)
    finer = simulate(PART, grid=GRID, times=TIMES, engine="explicit-fine", refine=3)
    made = [simulation_of(recording).record for recording in (plain, fine, finer)]
    assert [(record["engine"], record["refine"]) for record in made] == [
        ("explicit", 1),
        ("explicit-fine", 2),
        ("explicit-fine", 3),
    ]


def test_an_unknown_engine_gets_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean 'phiflow'"):
        simulate(PART, grid=GRID, times=TIMES, engine="phyflow")


@pytest.mark.parametrize("name", ["phiflow", "phiflow-harmonic"])
def test_a_missing_phiflow_is_named_with_its_remedy(monkeypatch, name):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None if module == "phi" else find(module))
    with pytest.raises(MissingExtraError, match=r"pip install nefty\[phiflow\]"):
        simulate(PART, grid=GRID, times=TIMES, engine=name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"boundary": Boundary(front="robin", h_front=0.1)}, 'a Robin face; use engine="explicit"'),
        ({"anisotropy": (2.0, 1.0)}, "anisotropy="),
        ({"refine": 2}, "refine=2"),
        ({"excitation": TopHatPulse(1.0, 0.1)}, "a pulse that lasts"),
        ({"face_mean": "harmonic"}, "face_mean='harmonic'; use engine=\"phiflow-harmonic\""),
        ({"face_mean": "arithmetic"}, "face_mean='arithmetic'; use engine=\"explicit\""),
        ({"excitation": np.ones((4, 4, 4))}, r"shape \(4, 4, 4\), the grid \(4, 8, 8\)"),
    ],
)
def test_what_phiflow_cannot_do_is_refused(monkeypatch, changes, message):
    monkeypatch.setattr(type(ENGINES["phiflow"]), "refuse_missing", lambda self: None)
    given = {
        "excitation": GaussianFlash(),
        "boundary": Boundary(),
        "face_mean": "min",
        "anisotropy": (1.0, 1.0),
        "refine": 1,
        **changes,
    }
    excitation, boundary = given.pop("excitation"), given.pop("boundary")
    with pytest.raises(InputError, match=message):
        run_engine(
            "phiflow",
            GRID,
            PART.alpha(GRID),
            np.array(TIMES),
            excitation,
            boundary,
            observe="front",
            safety=2.0,
            **given,
        )
