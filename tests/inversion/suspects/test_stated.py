"""The facts of a model, and the model with another value of one of them."""

from __future__ import annotations

import numpy as np
import pytest

from nefty import GaussianFlash, Grid, HeatModel, TopHatPulse
from nefty.inversion.suspects.stated import stated_facts
from nefty.physics.boundary import Boundary

GRID = Grid((4, 8, 10), (1.0, 4.0, 5.0))
TIMES = 0.25 * np.arange(1, 9)
FLASH = GaussianFlash(100.0, 1.5, 0.2)
ALPHA = np.full(GRID.shape, 0.15)


def model(**changes) -> HeatModel:
    given = {"grid": GRID, "times": TIMES, "initial": FLASH, "dtype": "float64"} | changes
    return HeatModel(**given)


@pytest.mark.parametrize("boundary", [Boundary(), Boundary("adiabatic", "robin", "robin", 0.02, 0.03)])
def test_a_fact_as_stated_changes_nothing(boundary):
    stated = model(boundary=boundary, anisotropy=(1.2, 0.8))
    frames = stated(ALPHA).numpy()
    for fact in stated_facts(stated, 0.15):
        np.testing.assert_allclose(fact.model(fact.stated)(ALPHA).numpy(), frames, rtol=1e-9, err_msg=fact.name)


OTHERS = {
    "thickness": model(grid=Grid(GRID.shape, (1.1, 4.0, 5.0))),
    "amplitude of the flash": model(initial=GaussianFlash(110.0, 1.5, 0.2)),
    "depth of the flash": model(initial=GaussianFlash(100.0, 1.5, 0.22)),
    "width of the flash": model(initial=GaussianFlash(100.0, 1.65, 0.2)),
    "time of the first frame after the flash": model(times=TIMES + 0.025),
    "diffusivity along y over that through the thickness": model(anisotropy=(1.1, 1.0)),
    "diffusivity along x over that through the thickness": model(anisotropy=(1.0, 1.1)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_fact_that_is_a_tenth_larger(name):
    (fact,) = (fact for fact in stated_facts(model(), 0.15) if fact.name == name)
    moved = fact.model(1.1 * fact.stated)(ALPHA).numpy()
    np.testing.assert_allclose(moved, OTHERS[name](ALPHA).numpy(), rtol=1e-6, atol=1e-6)
    assert not np.allclose(moved, model()(ALPHA).numpy(), rtol=1e-6)


def test_losses_that_were_not_stated():
    facts = {fact.name: fact for fact in stated_facts(model(), 0.15)}
    lossy = model(boundary=Boundary("periodic", "robin", "robin", 0.05, 0.05))(ALPHA).numpy()
    fact = facts["heat loss h of both faces"]
    np.testing.assert_allclose(fact.model(0.05)(ALPHA).numpy(), lossy, rtol=1e-9)
    assert fact.within(-1.0) == 0.0
    assert facts["thickness"].within(100.0) == 3.0


def test_only_what_was_stated_is_asked_about():
    calibrated = {fact.name for fact in stated_facts(model(), 0.15, flash=False)}
    assert not calibrated & {"amplitude of the flash", "depth of the flash"}
    pulse = {fact.name for fact in stated_facts(model(initial=TopHatPulse(1.0, 0.1)), 0.15)}
    assert "amplitude of the heating" in pulse
    assert not any("flash" in name for name in pulse - {"time of the first frame after the flash"})
    given = {fact.name for fact in stated_facts(model(initial=np.ones(GRID.shape)), 0.15)}
    assert not any("amplitude" in name for name in given)
