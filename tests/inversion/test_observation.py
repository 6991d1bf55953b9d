"""The recording as the inversion sees it: its peak, the unit of the misfit, the noise floor; wider pixels."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty import Boundary, GaussianFlash, Grid, HeatModel, InputError, TopHatPulse, UniformFlash
from nefty.inversion.calibration.coarsening import blocks, wider_cells, wider_pixels
from nefty.inversion.observation import Observation

GRID = Grid((4, 16, 18), (1.0, 4.0, 4.5))
TIMES = [0.5, 1.0, 2.0]


@pytest.fixture
def frames(rng):
    return rng.uniform(1, 50, (3, 16, 18))


def test_a_recording_of_the_paper_has_the_scale_one(seen):
    grid = Grid((16, 64, 64), (1.0, 10.0, 10.0))
    frames = np.full((100, 64, 64), 30.0)
    frames[0] = 100
    assert seen(frames, grid, 0.05 * np.arange(1, 101)).scale == pytest.approx(1)


def test_the_scale_undoes_units_frame_rate_and_pixel_size(seen, frames):
    scale = seen(frames, GRID, TIMES).scale
    assert seen(10 * frames, GRID, TIMES).scale == pytest.approx(scale / 100)
    assert seen(np.repeat(frames, 2, axis=0), GRID, np.arange(1, 7)).scale == pytest.approx(scale / 2)
    inches = Grid(GRID.shape, tuple(25.4 * s for s in GRID.size))  # pyright: ignore[reportArgumentType]
    assert seen(frames, inches, TIMES).scale == pytest.approx(scale)
    wide = Grid(GRID.shape, (1.0, 8.0, 9.0))
    assert seen(frames, wide, TIMES).scale == pytest.approx(4 * scale)
    assert seen(frames, GRID, TIMES, raw=True).scale == 1


def test_the_floor_is_what_pure_noise_costs(seen, rng, frames):
    counted = rng.random(frames.shape) < 0.7
    made = seen(frames, GRID, TIMES, noise=0.3, counted=counted)
    noise = 0.3 * rng.standard_normal((400, *frames.shape))
    cost = made.scale * np.mean(np.sum(noise**2 * counted, axis=(1, 2, 3)))
    assert made.floor == pytest.approx(cost, rel=0.02)


@given(noise=st.floats(1e-3, 10), seed=st.integers(0, 1000))
def test_without_an_error_of_the_model_all_that_counts_weighs_the_same(noise, seed):
    random = np.random.default_rng(seed)
    frames, counted = random.uniform(1, 50, (3, 16, 18)), random.random((3, 16, 18)) < 0.7
    made = Observation(GRID, np.array(TIMES), frames, counted, noise)
    np.testing.assert_allclose(made.weights, np.where(counted, made.scale, 0), rtol=1e-12)
    assert made.floor == pytest.approx(made.scale * noise**2 * counted.sum())


@pytest.mark.parametrize("relative", [1e-3, 0.01, 1.0])
def test_an_error_of_the_model_lets_dim_pixels_weigh_more(seen, rng, frames, relative):
    """As the inverse of the variance; the signal as a whole weighs what it did."""
    counted = rng.random(frames.shape) < 0.7
    plain, made = (seen(frames, GRID, TIMES, noise=0.05, counted=counted, relative=r) for r in (0.0, relative))
    assert (made.weights[~counted] == 0).all()
    assert np.sum(made.weights * frames**2) == pytest.approx(np.sum(plain.weights * frames**2))
    by_brightness = made.weights[counted][np.argsort(frames[counted])]
    assert (np.diff(by_brightness) < 0).all()
    np.testing.assert_allclose(made.variance, 0.05**2 + (relative * frames) ** 2)
    evened = (made.weights * made.variance)[counted]
    np.testing.assert_allclose(evened, evened[0])


def test_the_floor_is_what_noise_and_the_models_error_cost(seen, rng, frames):
    counted = rng.random(frames.shape) < 0.7
    made = seen(frames, GRID, TIMES, noise=0.3, counted=counted, relative=0.02)
    error = np.sqrt(0.3**2 + (0.02 * frames) ** 2) * rng.standard_normal((400, *frames.shape))
    cost = np.mean(np.sum(made.weights * error**2, axis=(1, 2, 3)))
    assert made.floor == pytest.approx(cost, rel=0.02)


@pytest.mark.parametrize("relative", [0.0, 0.01])
def test_the_unit_of_temperature_changes_no_misfit(seen, rng, frames, relative):
    residual = rng.standard_normal(frames.shape)
    here, there = (seen(u * frames, GRID, TIMES, noise=u * 0.3, relative=relative) for u in (1.0, 1000.0))
    assert np.sum(there.weights * (1000 * residual) ** 2) == pytest.approx(np.sum(here.weights * residual**2))
    assert there.floor == pytest.approx(here.floor)


def test_a_hot_pixel_does_not_make_the_peak_and_what_does_not_count_neither(seen):
    frames = np.full((3, 64, 64), 10.0)
    frames[:, 5, 5] = 1e4
    grid = Grid((4, 64, 64), (1.0, 4.0, 4.0))
    assert seen(frames, grid, TIMES).peak < 1e3
    counted = np.ones(frames.shape, bool)
    frames[0], counted[0] = 500.0, False
    frames[:, 5, 5] = 10
    assert seen(frames, grid, TIMES, counted=counted).peak == pytest.approx(10)


def test_a_recording_without_heat_or_values_is_refused(seen, frames):
    with pytest.raises(InputError, match="must be the rise above ambient"):
        seen(-frames, GRID, TIMES)
    with pytest.raises(InputError, match="no value of the recording counts; check the mask"):
        seen(frames, GRID, TIMES, counted=np.zeros(frames.shape, bool))


def test_wider_pixels_are_means_of_those_that_count(seen, frames):
    counted = np.ones(frames.shape, bool)
    counted[:, 0, 0] = counted[:, 4:6, 4:6] = False
    frames[~counted] = 0
    made = wider_pixels(seen(frames, GRID, TIMES, noise=0.4, counted=counted))
    assert made is not None
    assert made.grid == Grid((4, 8, 9), GRID.size)
    assert made.noise == pytest.approx(0.2)
    assert made.frames[1, 3, 5] == pytest.approx(frames[1, 6:8, 10:12].mean())
    assert made.frames[1, 0, 0] == pytest.approx((frames[1, 0, 1] + frames[1, 1, 0] + frames[1, 1, 1]) / 3)
    assert not made.counted[:, 2, 2].any()
    assert made.counted.sum() == 3 * (72 - 1)
    assert (made.frames[~made.counted] == 0).all()


@pytest.mark.parametrize("shape", [(15, 16), (16, 17), (14, 32), (8, 8)])
def test_odd_or_few_pixels_stay_as_they_are(seen, shape):
    assert wider_pixels(seen(np.ones((3, *shape)), Grid((4, *shape), (1.0, 1.0, 1.0)), TIMES)) is None


@pytest.mark.parametrize("kind", ["gaussian", "uniform", "array", "pulse", "profile"])
def test_wider_cells_are_heated_by_the_same_heat(kind):
    smooth = GaussianFlash(1.0, 1.5, 0.3, centre=(1.0, 2.0)).shape(GRID)
    excitation = {
        "gaussian": GaussianFlash(50.0, 1.5, 0.3),
        "uniform": UniformFlash(50.0, 0.3),
        "array": smooth,
        "pulse": TopHatPulse(5.0, 0.2),
        "profile": TopHatPulse(5.0, 0.2, profile=0.5 + smooth[0]),
    }[kind]
    model = HeatModel(GRID, TIMES, excitation, Boundary("adiabatic"), observe="both", anisotropy=(2.0, 1.0))
    wide = wider_cells(model)
    assert (wide.grid.shape, wide.observe, wide.anisotropy) == ((4, 8, 9), "both", (2.0, 1.0))
    fine, coarse = (m(np.full(m.grid.shape, 0.1)).double().numpy() for m in (model, wide))
    np.testing.assert_allclose(coarse.mean(axis=(2, 3)), fine.mean(axis=(2, 3)), rtol=1e-4)
    np.testing.assert_allclose(coarse, blocks(fine), atol=0.05 * fine.max())


def test_the_observation_itself_stays(seen, frames):
    made = seen(frames, GRID, TIMES)
    wider_pixels(made)
    assert made.grid == GRID
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.noise = 1.0


EACH = np.array([0.5, 0.2, 0.1])[:, None, None]


def test_one_noise_is_its_own_mean(seen, frames):
    made = seen(frames, GRID, TIMES, noise=0.3)
    assert made.typical_noise == pytest.approx(0.3)
    assert made.relative_noise == pytest.approx(0.3 / np.sqrt(np.mean(frames**2)))


def test_noise_of_each_frame_has_a_harmonic_mean_over_what_counts(seen, rng, frames):
    counted = rng.random(frames.shape) < 0.7
    made = seen(frames, GRID, TIMES, noise=EACH, counted=counted)
    each = np.broadcast_to(EACH, frames.shape)[counted]
    assert made.typical_noise == pytest.approx(np.mean(each**-2.0) ** -0.5)
    assert made.relative_noise == pytest.approx(np.mean((frames[counted] / each) ** 2) ** -0.5)
    whole = seen(frames, GRID, TIMES, noise=np.broadcast_to(EACH, frames.shape), counted=counted)
    assert whole.typical_noise == pytest.approx(made.typical_noise)
    np.testing.assert_allclose(whole.weights, made.weights, rtol=1e-12)


def test_quieter_frames_weigh_more_by_the_square_of_their_noise(seen, rng, frames):
    counted = rng.random(frames.shape) < 0.7
    made = seen(frames, GRID, TIMES, noise=EACH, counted=counted)
    assert (made.weights[~counted] == 0).all()
    product = (made.weights * EACH**2)[counted]
    np.testing.assert_allclose(product, made.unit, rtol=1e-12)
    plain = seen(frames, GRID, TIMES, noise=0.3, counted=counted)
    assert np.sum(made.weights * frames**2) == pytest.approx(np.sum(plain.weights * frames**2))
    assert made.floor == pytest.approx(made.unit * counted.sum())


@pytest.mark.parametrize("noise", [0.4, EACH, "all"])
def test_wider_pixels_have_half_of_the_noise_whatever_its_form(seen, rng, frames, noise):
    given = rng.uniform(0.1, 0.5, frames.shape) if isinstance(noise, str) else noise
    made = wider_pixels(seen(frames, GRID, TIMES, noise=given))
    assert made is not None
    if isinstance(noise, str):  # the mean of four has the sum of their variances over 16
        expected = np.sqrt((given**2).reshape(3, 8, 2, 9, 2).sum(axis=(2, 4))) / 4
        np.testing.assert_allclose(made.noise, expected, rtol=1e-12)
    else:
        np.testing.assert_allclose(made.noise, np.asarray(given) / 2, rtol=1e-12)
    assert made.weights.shape == (3, 8, 9)


@pytest.mark.parametrize("noise", [0.4, EACH, "all"])
def test_some_of_the_frames_keep_their_own_noise(seen, rng, frames, noise):
    given = rng.uniform(0.1, 0.5, frames.shape) if isinstance(noise, str) else noise
    made = seen(frames, GRID, TIMES, noise=given).of_frames(np.array([0, 2]))
    assert made.times.tolist() == [0.5, 2.0]
    np.testing.assert_array_equal(made.frames, frames[[0, 2]])
    np.testing.assert_array_equal(
        made.variance, np.broadcast_to(np.square(given), frames.shape)[[0, 2]] + 0 * made.frames
    )
    assert made.counted.shape == made.frames.shape
