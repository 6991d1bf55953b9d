"""Simulated recordings: those of the independent simulator, with known noise and everything that made them."""

import inspect

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Source
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.physics.boundary import Boundary
from nefty.physics.pulses import GaussianFlash, TopHatPulse, UniformFlash
from nefty.synth.camera import Camera
from nefty.synth.explicit import simulate_explicit
from nefty.synth.recording import resimulate, setup_of, simulate, specimen_of
from nefty.synth.specimen import PAPER_GRID, draw_specimen
from support.known_facts import alike, simulation_of

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
    assert np.allclose(simulation_of(few).record["times"], 0.05)
    defaults = {name: p.default for name, p in inspect.signature(simulate).parameters.items()}
    assert np.allclose(defaults["times"], 0.05 * np.arange(1, 101), rtol=1e-14)
    record = simulation_of(simulate(PART, grid=GRID, times=[0.05])).record
    assert (record["safety"], record["noise"], record["refine"], record["engine"]) == (16.0, 0.0, 1, "explicit")


def test_noise_is_white_and_a_share_of_the_peak():
    grid = Grid((2, 32, 32), (1.0, 10.0, 10.0))
    options = {**SMALL, "grid": grid, "times": 0.1 * np.arange(1, 21)}
    clean, noisy = simulate(PART, **options), simulate(PART, noise=0.01, seed=4, **options)
    sigma = 0.01 * clean.frames.max()
    assert simulation_of(clean).noise_sigma == 0
    assert simulation_of(noisy).noise_sigma == pytest.approx(sigma, rel=1e-12)
    assert noisy.noise is None
    drawn = np.random.default_rng([4, 2]).standard_normal(clean.frames.shape)
    assert np.array_equal(noisy.frames, clean.frames + simulation_of(noisy).noise_sigma * drawn)  # as it always was
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
    again = read(found.save(tmp_path / "plate.h5"))
    assert again.digest() == found.digest()
    assert alike(again.facts, found.facts)
    assert specimen_of(again) == PART
    setup = setup_of(again)
    assert setup is not None
    assert (setup.boundary, setup.anisotropy, setup.observe) == (options["boundary"], (1.0, 2.0), observe)


def test_the_record_says_how_it_was_made():
    found = simulate(PART, noise=0.001, seed=3, refine=2, face_mean="arithmetic", **SMALL)
    assert (found.facts.origin.source, found.facts.simulated) == (Source.SIMULATION, True)
    record = simulation_of(found).record
    expected = {"noise": 0.001, "seed": 3, "refine": 2, "face_mean": "arithmetic", "safety": 2.0, "source": "simulated"}
    assert expected.items() <= record.items()
    assert record["engine"] == "explicit"
    assert record["grid"] == {"shape": (4, 16, 16), "size": (1.0, 10.0, 10.0)}
    assert record["times"] == [0.1, 0.2, 0.5]
    assert record["excitation"] == {
        "kind": "GaussianFlash",
        "amplitude": 100.0,
        "width": 2.5,
        "depth": 0.2,
        "centre": None,
    }
    assert {"nefty", "numpy", "numba", "python"} <= simulation_of(found).versions.keys()


EXCITATIONS = [
    GaussianFlash(50.0, 2.0, 0.1, centre=(4.0, 6.0)),
    UniformFlash(2.0, 0.3),
    TopHatPulse(1.0, 0.15, start=0.02),
    TopHatPulse(1.0, 0.15, profile=np.random.default_rng(1).uniform(0.5, 1, GRID.shape[1:])),
    np.random.default_rng(2).uniform(0, 1, GRID.shape),
    np.random.default_rng(2).uniform(0, 1, GRID.shape).astype(np.float32),
]


@pytest.mark.parametrize("excitation", EXCITATIONS)
@pytest.mark.parametrize("observe", ["front", "both"])
def test_a_saved_recording_is_made_again_bit_by_bit(tmp_path, excitation, observe):
    made = simulate(
        PART,
        camera=Camera(noise=0.01, gain=0.03, gain_length=1.0),
        seed=5,
        excitation=excitation,
        boundary=Boundary("adiabatic", "robin", "robin", h_front=0.1, h_back=0.2),
        observe=observe,
        face_mean="min",
        anisotropy=(1.0, 2.0),
        dtype="float32",
        **SMALL,
    )
    saved = read(made.save(tmp_path / "plate.h5"))
    again = resimulate(saved)
    assert saved.frames.dtype == again.frames.dtype == np.float32
    assert np.array_equal(again.frames, saved.frames)
    assert np.array_equal(again.times, saved.times)
    assert np.array_equal(np.asarray(again.truth), np.asarray(saved.truth))
    assert again.digest() == saved.digest() == made.digest()
    assert alike(again.facts, saved.facts)


@pytest.mark.parametrize("engine", ["explicit", "explicit-fine"])
@pytest.mark.parametrize("grid", [GRID, Grid((6, 10, 20), (1.0, 10.0, 10.0))])
def test_every_engine_and_grid_is_made_again_bit_by_bit(tmp_path, engine, grid):
    made = simulate(PART, grid=grid, engine=engine, times=[0.0, 0.1, 0.35])
    saved = read(made.save(tmp_path / "plate.h5"))
    again = resimulate(simulation_of(saved).record)
    assert again.frames.dtype == np.float64
    assert again.truth is not None
    assert saved.truth is not None
    assert again.truth.shape == grid.shape
    assert np.array_equal(again.frames, saved.frames)
    assert np.array_equal(again.truth, saved.truth)


def test_what_was_cut_since_is_made_again_whole():
    made = simulate(PART, noise=0.01, **SMALL)
    cut = made.region((2, 10), (0, 8)).with_mask(np.eye(8, dtype=bool))
    assert np.array_equal(resimulate(cut).frames, made.frames)


def test_what_was_not_simulated_cannot_be_made_again():
    real = Sequence(np.ones((2, 4, 4)), np.array([0.1, 0.2]))
    with pytest.raises(InputError, match="not a recording that nefty has simulated"):
        resimulate(real)
    assert specimen_of(real) is setup_of(real) is None
    record = simulation_of(simulate(PART, **SMALL)).record
    for name in ("specimen", "grid", "camera", "engine", "times"):
        with pytest.raises(InputError, match="not the record of a"):
            resimulate({key: value for key, value in record.items() if key != name})


def test_many_frames_fit_into_the_record(tmp_path):
    options = {"grid": Grid((1, 1, 1), (1.0, 10.0, 10.0)), "times": 1e-3 * np.arange(1, 20_001), "safety": 1.0}
    saved = read(simulate(PART, **options).save(tmp_path / "plate.h5"))
    assert simulation_of(saved).record["times"] == options["times"].tolist()


def test_single_precision_frames_are_the_double_ones_rounded():
    double, single = (simulate(PART, noise=0.01, dtype=dtype, **SMALL) for dtype in ("float64", "float32"))
    assert single.frames.dtype == np.float32
    assert np.array_equal(single.frames, double.frames.astype(np.float32))
    assert simulation_of(single).noise_sigma == simulation_of(double).noise_sigma


def test_a_camera_says_more_than_noise():
    plain, camera = simulate(PART, noise=0.01, **SMALL), simulate(PART, camera=Camera(noise=0.01), **SMALL)
    assert np.array_equal(plain.frames, camera.frames)
    uneven = simulate(PART, camera=Camera(gain=0.03), **SMALL)
    ratio = uneven.frames / simulate(PART, **SMALL).frames
    assert ratio[0].std() == pytest.approx(0.03, rel=1e-6)
    assert np.allclose(ratio, ratio[0], rtol=1e-12)
    assert simulation_of(uneven).record["camera"] == {"noise": 0.0, "sigma": 0.0, "gain": 0.03, "gain_length": 0.0}
    with pytest.raises(InputError, match=r"say Camera\(noise=0.01"):
        simulate(PART, noise=0.01, camera=Camera(gain=0.03), **SMALL)


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
        ({"safety": 0.5}, "safety=0.5 must be at least 1"),
        ({"dtype": "float16"}, "dtype='float16'"),
        ({"face_mean": "median"}, "face_mean='median'"),
        ({"excitation": None}, "heats nothing"),
        ({"excitation": "flash"}, "must be a GaussianFlash"),
        ({"boundary": "adiabatic"}, r"must be a nefty.Boundary\(...\)"),
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
