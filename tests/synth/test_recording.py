"""Simulated recordings: those of the independent simulator, with known noise and everything that made them."""

import inspect

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.load import load
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.synth.explicit import simulate_explicit
from nefty.synth.recording import simulate
from nefty.synth.specimen import PAPER_GRID, Specimen, draw_specimen

GRID = Grid((4, 16, 16), (1.0, 10.0, 10.0))
SMALL = {"grid": GRID, "times": [0.1, 0.2, 0.5], "safety": 2.0}
PART = draw_specimen(2, "layered")


def test_frames_are_those_of_the_independent_simulator():
    found = simulate(PART, **SMALL)
    flash = GaussianFlash(100.0, 2.5, 0.2)
    expected = simulate_explicit(GRID, PART.alpha(GRID), [0.1, 0.2, 0.5], flash, safety=2.0)
    assert isinstance(found, Sequence)
    assert found.frames.dtype == np.float64
    assert (found.frames == expected).all()
    assert found.times.tolist() == [0.1, 0.2, 0.5]
    assert (found.truth == PART.alpha(GRID)).all()
    assert found.size == GRID.size
    assert found.excitation == flash
    assert found.noise is None


def test_the_paper_is_what_one_gets_without_arguments():
    few = simulate(PART, safety=1.0, times=[0.05])
    assert few.grid() == PAPER_GRID
    assert few.excitation == GaussianFlash(100.0, 2.5, 0.2)
    assert few.boundary == Boundary()
    defaults = {name: p.default for name, p in inspect.signature(simulate).parameters.items()}
    assert np.allclose(defaults["times"], 0.05 * np.arange(1, 101), rtol=1e-14)
    assert (defaults["safety"], defaults["noise"], defaults["refine"]) == (16.0, 0.0, 1)


def test_noise_is_white_and_a_share_of_the_peak():
    grid = Grid((2, 32, 32), (1.0, 10.0, 10.0))
    options = {**SMALL, "grid": grid, "times": 0.1 * np.arange(1, 21)}
    clean, noisy = simulate(PART, **options), simulate(PART, noise=0.01, seed=4, **options)
    sigma = 0.01 * clean.frames.max()
    assert clean.meta["noise_sigma"] == 0
    assert noisy.meta["noise_sigma"] == pytest.approx(sigma, rel=1e-12)
    assert noisy.noise is None
    rest = (noisy.frames - clean.frames) / sigma
    n = rest.size  # 20,480 values; five standard deviations of each estimate
    assert abs(rest.mean()) < 5 / np.sqrt(n)
    assert abs(rest.std() - 1) < 5 / np.sqrt(2 * n)
    assert abs((rest**4).mean() - 3) < 5 * np.sqrt(96 / n)
    for axis in range(3):
        pairs = rest.take(range(1, rest.shape[axis]), axis) * rest.take(range(rest.shape[axis] - 1), axis)
        assert abs(pairs.mean()) < 5 / np.sqrt(pairs.size)


def test_a_seed_draws_the_same_noise_and_another_seed_or_part_another():
    def noise(part, seed):
        return simulate(part, noise=0.01, seed=seed, **SMALL).frames - simulate(part, **SMALL).frames

    first = noise(PART, 1)
    assert (first == noise(PART, 1)).all()
    assert abs(np.corrcoef(first.ravel(), noise(PART, 2).ravel())[0, 1]) < 0.2
    assert abs(np.corrcoef(first.ravel(), noise(draw_specimen(3), 1).ravel())[0, 1]) < 0.2


def test_the_refined_simulation_sees_the_part_itself_not_the_coarse_cells():
    fine = simulate(PART, refine=2, **SMALL)
    expected = simulate_explicit(
        GRID, PART.alpha(GRID.refined(2)), [0.1, 0.2, 0.5], GaussianFlash(100.0, 2.5, 0.2), refine=2, safety=2.0
    )
    assert (fine.frames == expected).all()
    assert not np.allclose(fine.frames, simulate(PART, **SMALL).frames, rtol=1e-3)
    assert (fine.truth == PART.alpha(GRID)).all()


@pytest.mark.parametrize("observe", ["front", "back", "both"])
@pytest.mark.parametrize("excitation", [UniformFlash(2.0, 0.3), TopHatPulse(1.0, 0.15), np.ones(GRID.shape)])
def test_every_face_and_excitation_can_be_recorded_and_saved(tmp_path, observe, excitation):
    options = {"boundary": Boundary("adiabatic", "robin", h_front=0.1), "face_mean": "min", "anisotropy": (1.0, 2.0)}
    found = simulate(PART, observe=observe, excitation=excitation, **options, **SMALL)
    assert found.frames.shape == ((2, 3, 16, 16) if observe == "both" else (3, 16, 16))
    assert (found.boundary, found.face_mean, found.anisotropy) == tuple(options.values())
    again = load(found.save(tmp_path / "plate.h5"))
    assert again.digest() == found.digest()
    assert again.meta == found.meta
    assert Specimen.from_record(again.meta["specimen"]) == PART


def test_the_record_says_how_it_was_made():
    meta = simulate(PART, noise=0.001, seed=3, refine=2, face_mean="arithmetic", **SMALL).meta
    expected = {"noise": 0.001, "seed": 3, "refine": 2, "face_mean": "arithmetic", "safety": 2.0, "source": "simulated"}
    assert expected.items() <= meta.items()
    assert "explicit" in meta["engine"]
    assert {"nefty", "numpy", "numba", "python"} <= meta["versions"].keys()


def test_progress_is_reported():
    seen = []
    simulate(PART, progress=lambda done, of: seen.append((done, of)), **SMALL)
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise": -0.1}, "noise=-0.1 must be at least 0"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"refine": 0}, "factor=0|refine=0"),
        ({"times": [-0.1, 0.2]}, "before the flash"),
        ({"observe": "side"}, "observe='side'"),
        ({"grid": Grid((4, 16, 16), (1.0, 5.0, 5.0))}, "is not the specimen's"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        simulate(PART, **{**SMALL, **changes})


def test_a_volume_is_not_a_specimen():
    with pytest.raises(InputError, match=r"must be a Specimen, such as nefty\.draw_specimen"):
        simulate(np.ones(GRID.shape), **SMALL)  # pyright: ignore[reportArgumentType]
