"""What every calibration can do, over all there are."""

import numpy as np
import pytest

from nefty import Boundary, Grid, HeatModel, InputError, TopHatPulse
from nefty.core.storage.hdf5 import read_hdf5, write_hdf5
from nefty.inversion.calibration.choice import calibrate
from nefty.inversion.calibration.layered import LayeredCalibration
from nefty.inversion.calibration.none import NoCalibration
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import load_recipe

GRID = Grid((6, 16, 16), (3e-3, 24e-3, 24e-3))
TIMES = np.geomspace(0.3, 60.0, 40)
ALPHA = 1.3e-7
KINDS = {"none": NoCalibration, "constant": LayeredCalibration, "layered": LayeredCalibration}
KINDS["part"] = RealPartCalibration
RECIPES = {
    "none": load_recipe("paper"),
    "constant": load_recipe("fast", {"calibration.background": "constant"}),
    "layered": load_recipe("fast"),
    "part": load_recipe("real", {"calibration.surroundings": False}),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def recorded():
    """A sound part of one material under an even pulse, with a little noise."""
    model = HeatModel(GRID, TIMES, TopHatPulse(amplitude=2.0, duration=5e-3), Boundary("adiabatic"))
    frames = model(np.full(GRID.shape, ALPHA)).double().numpy()
    frames += 1e-3 * np.random.default_rng(3).standard_normal(frames.shape)
    return model, Observation(GRID, TIMES, frames, np.ones(frames.shape, bool), 1e-3)


@pytest.fixture
def made(kind, recorded):
    return calibrate(RECIPES[kind], *recorded, alpha=1.1 * ALPHA)


def volume_of(calibration):
    background = calibration.background
    volume = np.full(GRID.shape, ALPHA) if background is None else np.tile(background[:, None, None], (1, 16, 16))
    volume[2:, 5:9, 5:9] *= 0.1
    return volume


def test_the_recipe_chooses_it(made, kind):
    assert type(made) is KINDS[kind]
    if kind == "none":
        assert made.background is None
    else:
        # a real part takes the frames as its surface, which cells of half a millimetre are not
        np.testing.assert_allclose(made.background, ALPHA, rtol=0.4 if kind == "part" else 0.05)


def test_model_observation_and_share_fit_together(made):
    seen, volume = made.observation, volume_of(made)
    assert made.model(volume).shape == seen.frames.shape
    np.testing.assert_array_equal(made.model.times, seen.times)
    share = np.broadcast_to(made.share(), seen.frames.shape)
    assert ((share >= 0) & (share <= 1)).all()
    assert 0 <= made.buried < GRID.shape[0]


def test_compared_frames_are_those_of_the_result(made):
    volume = volume_of(made)
    once, twice = made.compared(volume, 1.0), made.compared(volume, np.full(made.observation.frames.shape, 2.0))
    assert once.measured.shape == once.fitted.shape == made.observation.frames.shape
    np.testing.assert_allclose(twice.fitted, 2 * once.fitted)
    assert np.broadcast_to(once.noise, made.model.times.shape).min() > 0


def test_without_steps_the_background_stays(made, kind):
    before = made.background
    assert made.refine(volume_of(made), 0, searched=True) == 0
    if kind == "none":
        assert made.refine(volume_of(made), 3, searched=True) == 0
    else:
        np.testing.assert_array_equal(made.background, before)


def test_a_checkpoint_holds_all_that_a_refinement_changed(made, kind, recorded, tmp_path):
    cost = made.refine(volume_of(made), 1, searched=True)
    assert (cost > 0) == (kind != "none")
    path = write_hdf5(tmp_path / "kept.h5", {"state": made.state()}, kind="test")
    other = calibrate(RECIPES[kind], *recorded, alpha=1.1 * ALPHA)
    other.restore(read_hdf5(path, kind="test")["state"])
    volume = volume_of(made)
    for one, same in ((made.background, other.background), (made.share(), other.share())):
        assert np.array_equal(np.asarray(one, dtype=float), np.asarray(same, dtype=float), equal_nan=True)
    np.testing.assert_array_equal(other.model(volume), made.model(volume))
    np.testing.assert_array_equal(other.observation.weights, made.observation.weights)
    np.testing.assert_array_equal(other.compared(volume, 1.0).fitted, made.compared(volume, 1.0).fitted)
    assert (other.summary(), other.notes(), other.buried) == (made.summary(), made.notes(), made.buried)


def test_only_a_real_part_needs_to_know_its_material(kind, recorded):
    if kind == "part":
        with pytest.raises(InputError, match="the material of the part is not known"):
            calibrate(RECIPES[kind], *recorded)
    else:
        assert calibrate(RECIPES[kind], *recorded).summary() == ()
