"""The background from the typical decay, with a defect in view."""

import dataclasses

import numpy as np
import pytest

from nefty import Boundary, GaussianFlash, Grid, HeatModel, TopHatPulse, UniformFlash, simulate_explicit
from nefty.core.errors import NeftyError
from nefty.inversion.calibration.bulk import first_guess
from nefty.inversion.calibration.layered import fit_layers
from nefty.inversion.calibration.refinement import curvature_by_layers, refine_strata
from nefty.inversion.calibration.settings import LayeredSettings
from nefty.inversion.calibration.strata import count_strata

SLAB = Grid((6, 16, 16), (1.0, 6.0, 6.0))
TIMES = 0.25 * np.arange(1, 21)
FLASH = GaussianFlash(100.0, 3.0, 0.2)
LAYERS = np.array([0.1, 0.1, 0.18, 0.18, 0.13, 0.13])
FIXED = {"strata": 1, "flash": False}
NUMBERS = LayeredSettings()


def model_of(flash=FLASH, boundary=None, observe="front"):
    return HeatModel(SLAB, TIMES, flash, boundary, observe=observe)


def recorded(alpha, flash=FLASH, boundary=None, observe="front"):
    return simulate_explicit(SLAB, alpha, TIMES, flash, boundary or Boundary(), observe=observe, safety=16)


def with_defect(bulk):
    alpha = np.full(SLAB.shape, bulk)
    alpha[2:4, 6:10, 5:10] = 0.05 * bulk
    return alpha


def left_over(model, found, frames):
    """Root mean square misfit over time of the background that was found, at the pixel a quarter fit better than."""
    alpha = np.broadcast_to(found.background[:, None, None], SLAB.shape).copy()
    misfit = frames - model.replaced(initial=found.excitation)(alpha).double().numpy()
    return np.quantile(np.sqrt(np.mean(misfit**2, axis=-3)), 0.25)


EXCITATIONS = {
    "gaussian": FLASH,
    "uniform": UniformFlash(100.0, 0.2),
    "pulse": TopHatPulse(20.0, 0.3),
    "profile": TopHatPulse(20.0, 0.3, profile=FLASH.shape(SLAB)[0]),
    "array": 100 * FLASH.shape(SLAB),
}


@pytest.mark.parametrize("bulk", [0.1, 0.15, 0.2])
@pytest.mark.parametrize("kind", ["gaussian", "uniform"])
def test_the_bulk_is_within_three_percent_although_there_is_a_defect(seen, bulk, kind):
    flash = EXCITATIONS[kind]
    found = fit_layers(model_of(flash), seen(recorded(with_defect(bulk), flash)), 1.5 * bulk, **FIXED)
    assert found.bulk == pytest.approx(bulk, rel=0.03)
    np.testing.assert_allclose(found.background, found.bulk)
    assert found.excitation == flash


@pytest.mark.parametrize("kind", ["pulse", "profile", "array"])
def test_the_excitation_may_be_of_any_kind(seen, kind):
    heat = EXCITATIONS[kind]
    found = fit_layers(model_of(heat), seen(recorded(with_defect(0.15), heat)), 0.1, **FIXED)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


@pytest.mark.parametrize("observe", ["back", "both"])
def test_the_back_tells_it_too(seen, observe):
    frames = recorded(with_defect(0.15), observe=observe)
    found = fit_layers(model_of(observe=observe), seen(frames), 0.1, **FIXED)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


def test_noise_and_missing_values_do_not_disturb_it(seen, rng):
    frames = recorded(with_defect(0.15))
    frames += 0.5 * rng.standard_normal(frames.shape)
    counted = rng.random(frames.shape) < 0.8
    counted[:, :, :4] = False
    frames[~counted] = 0
    found = fit_layers(model_of(), seen(frames, noise=0.5, counted=counted), 0.1, **FIXED)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


def test_only_faint_pixels_count(seen):
    """Far from the middle of a narrow flash, where all that counts is below a tenth of the brightest."""
    flash = GaussianFlash(100.0, 1.0, 0.2)
    frames = recorded(np.full(SLAB.shape, 0.15), flash)
    counted = np.zeros(frames.shape, bool)
    counted[:, :2, :2] = True
    found = fit_layers(model_of(flash), seen(np.where(counted, frames, 0), counted=counted), 0.12, **FIXED)
    assert found.bulk == pytest.approx(0.15, rel=0.05)


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_layers_of_a_sound_part_are_found(seen, kind):
    """All under a uniform flash, where only the simulator's time step is wrong. The fit is made on cells twice as
    wide: where heat flows sideways that costs 1e-3 of the temperature, more than the deepest stratum shows.
    """
    alpha = np.broadcast_to(LAYERS[:, None, None], SLAB.shape).copy()
    model, made = model_of(EXCITATIONS[kind]), seen(recorded(alpha, EXCITATIONS[kind]))
    found = fit_layers(model, made, 0.14, strata=3, flash=False)
    if kind == "uniform":
        np.testing.assert_allclose(found.background, LAYERS, rtol=0.03)
    else:
        np.testing.assert_allclose(found.background[:3], LAYERS[:3], rtol=0.1)
        np.testing.assert_allclose(found.background, LAYERS, rtol=0.25)
    flat = fit_layers(model, made, 0.14, **FIXED)
    assert left_over(model, found, made.frames) < left_over(model, flat, made.frames) / 5
    assert found.bulk == pytest.approx(flat.bulk, rel=0.02)  # from fewer frames


def test_layers_stay_equal_where_nothing_tells_them_apart(seen):
    frames = recorded(with_defect(0.15))
    found = fit_layers(model_of(), seen(frames), 0.1, strata=4, flash=False)
    assert np.ptp(found.background) < 0.02 * found.bulk


@pytest.mark.parametrize("strata", [1, 2, 3])
@pytest.mark.parametrize("kind", EXCITATIONS)
def test_there_are_at_most_as_many_strata_as_asked_for(seen, kind, strata):
    alpha = LAYERS[:, None, None] * with_defect(1.0)
    model, made = model_of(EXCITATIONS[kind]), seen(recorded(alpha, EXCITATIONS[kind]))
    found = fit_layers(model, made, 0.14, strata=strata, flash=False)
    assert count_strata(np.log(found.background)) <= strata
    if strata > 1:
        flat = fit_layers(model, made, 0.14, **FIXED)
        assert left_over(model, found, made.frames) < left_over(model, flat, made.frames) / 5


@pytest.mark.parametrize("observe", ["front", "back", "both"])
@pytest.mark.parametrize("layers", [[0.15] * 6, [0.1, 0.1, 0.1, 0.2, 0.2, 0.2], LAYERS], ids=["one", "two", "three"])
def test_noise_is_not_taken_for_a_stratum(seen, rng, layers, observe):
    """Frames of the model itself, so that noise is all that is wrong; up to five strata are allowed."""
    model = model_of(EXCITATIONS["uniform"], observe=observe)
    frames = model(np.broadcast_to(np.array(layers)[:, None, None], SLAB.shape).copy()).double().numpy()
    frames += 0.01 * rng.standard_normal(frames.shape)
    found = fit_layers(model, seen(frames, noise=0.01), 0.14, strata=5, flash=False)
    assert count_strata(np.log(found.background)) == count_strata(np.log(layers))
    np.testing.assert_allclose(found.background, layers, rtol=0.03)


@pytest.mark.parametrize("observe", ["front", "back", "both"])
def test_a_large_defect_does_not_pass_for_strata(seen, observe):
    """It warms the front and cools the back; what has the other sign tells of the part itself."""
    alpha = np.full(SLAB.shape, 0.15)
    alpha[2:4, 3:13, 3:13] = 0.0075
    flash = EXCITATIONS["uniform"]
    frames = recorded(alpha, flash, observe=observe)
    found = fit_layers(model_of(flash, observe=observe), seen(frames), 0.14, strata=2, flash=False)
    assert found.bulk == pytest.approx(0.15, rel=0.1)
    np.testing.assert_allclose(found.background[:2], 0.15, rtol=0.1)


def test_a_part_of_one_layer_under_an_even_flash_says_nothing(seen):
    """No heat flows in it: it is as warm everywhere and always."""
    thin = Grid((1, 16, 16), (1.0, 6.0, 6.0))
    flash = UniformFlash(100.0, 0.2)
    frames = np.full((20, 16, 16), 50.0)
    with pytest.raises(NeftyError, match=r"do not depend on its diffusivity .*model\.layers"):
        fit_layers(HeatModel(thin, TIMES, flash), seen(frames, thin), 0.14, strata=1, flash=False)


WRONG = {"ten times as strong": 10.0, "a tenth as strong": 0.1}


@pytest.mark.parametrize("error", WRONG)
def test_a_flash_of_the_wrong_strength_gives_some_background_or_an_error_that_explains(seen, error):
    frames = WRONG[error] * recorded(with_defect(0.15))
    try:
        found = fit_layers(model_of(), seen(frames), 0.15, strata=4, flash=False)
    except NeftyError:
        return
    assert np.isfinite(found.background).all()
    assert (found.background > 0).all()


@pytest.mark.parametrize("error", WRONG)
def test_the_background_is_found_again_by_short_steps_where_little_fits(seen, error):
    """No step of a logarithm is longer than 0.3."""
    made = seen(WRONG[error] * recorded(with_defect(0.15)))
    found = refine_strata(model_of(), with_defect(0.15), np.full(6, 0.15), made, strata=3, steps=2, settings=NUMBERS)
    assert (np.abs(np.log(found / 0.15)) <= 0.6 + 1e-9).all()


@pytest.mark.parametrize("flash", [FLASH, UniformFlash(100.0, 0.2)], ids=["gaussian", "uniform"])
def test_the_flash_is_found_when_asked(seen, flash):
    wrong = dataclasses.replace(flash, amplitude=130.0, depth=0.27)
    frames = recorded(np.full(SLAB.shape, 0.15), flash)
    found = fit_layers(model_of(wrong), seen(frames), 0.12, strata=1, flash=True)
    assert found.excitation.amplitude == pytest.approx(100, rel=0.03)
    assert found.excitation.depth == pytest.approx(0.2, rel=0.03)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


@pytest.mark.parametrize("kind", ["pulse", "array"])
def test_the_strength_of_other_heat_is_found_when_asked(seen, kind):
    heat = EXCITATIONS[kind]
    wrong = dataclasses.replace(heat, amplitude=15.0) if kind == "pulse" else 0.75 * heat
    frames = recorded(with_defect(0.15), heat)
    found = fit_layers(model_of(wrong), seen(frames), 0.12, strata=1, flash=True)
    strength = found.excitation.amplitude / 20 if kind == "pulse" else found.excitation.max() / heat.max()
    assert strength == pytest.approx(1, rel=0.03)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


@pytest.mark.parametrize("bulk", [0.01, 0.15, 0.6])
@pytest.mark.parametrize("kind", EXCITATIONS)
def test_the_first_guess_is_within_a_factor_of_two(seen, bulk, kind):
    heat = EXCITATIONS[kind]
    guess = first_guess(model_of(heat), seen(recorded(with_defect(bulk), heat)))
    assert 0.5 < guess / bulk < 2


def test_the_first_guess_does_not_depend_on_units(seen):
    frames = recorded(with_defect(0.15))
    here = first_guess(model_of(), seen(frames))
    mm = Grid(SLAB.shape, (1e3, 6e3, 6e3))
    there = HeatModel(mm, TIMES, GaussianFlash(100.0, 3e3, 200.0))
    assert first_guess(there, seen(frames, mm)) == pytest.approx(1e6 * here, rel=1e-6)


@pytest.mark.parametrize("missing", ["nothing", "most rows", "values here and there"])
def test_the_background_is_found_again_under_a_known_anomaly(seen, rng, missing):
    """Also where most of the pixels do not count, or some of those that are taken together."""
    ratio = with_defect(1.0)
    frames = recorded(LAYERS[:, None, None] * ratio)
    counted = np.ones(frames.shape, bool)
    if missing == "most rows":
        counted[:, :11] = False
    elif missing != "nothing":
        counted = rng.random(frames.shape) < 0.6
    perturbed = LAYERS * np.array([1.1, 0.93, 1.05, 1.05, 0.95, 1.1])
    alpha = perturbed[:, None, None] * ratio
    made = seen(np.where(counted, frames, 0), counted=counted)
    found = refine_strata(model_of(), alpha, perturbed, made, strata=3, steps=4, settings=NUMBERS)
    before, after = (np.abs(np.log(b / LAYERS)) for b in (perturbed, found))
    assert after[:4].max() < 0.03
    assert after.max() < before.max()


def test_without_steps_the_background_stays(seen):
    made = seen(recorded(with_defect(0.15)))
    kept = refine_strata(model_of(), with_defect(0.15), LAYERS, made, strata=3, steps=0, settings=NUMBERS)
    assert np.array_equal(kept, LAYERS)


@pytest.mark.parametrize("strata", [1, 3])
def test_frames_may_differ_in_noise(seen, rng, strata):
    """The noisier half counts less, whichever frames the search for strata takes."""
    each = np.where(np.arange(len(TIMES)) % 2, 0.05, 2.0)[:, None, None]
    frames = recorded(with_defect(0.15))
    noisy = frames + each * rng.standard_normal(frames.shape)
    found = fit_layers(model_of(), seen(noisy, noise=each), 0.12, strata=strata, flash=False)
    assert found.bulk == pytest.approx(0.15, rel=0.03)


@pytest.mark.parametrize(("pixels", "error"), [(12, 0.02), (32, 0.1)])
def test_the_curvature_by_layers_is_that_of_the_misfit(seen, pixels, error):
    """Against second differences of the misfit of frames that fit; of 32 x 32 pixels it is taken on 16 x 16."""
    grid = Grid((6, pixels, pixels), SLAB.size)
    alpha = np.broadcast_to(LAYERS[:, None, None], grid.shape).copy()
    alpha[2:4, 4:8, 4:8] *= 0.05
    model = HeatModel(grid, TIMES, FLASH)
    frames = model(alpha).double().numpy()
    made = seen(frames, grid)
    found = curvature_by_layers(model, alpha, made)

    def misfit(move):
        moved = model(alpha * np.exp(move)[:, None, None]).double().numpy()
        return float((made.weights * (moved - frames) ** 2).sum())

    for move in (*np.eye(6)[:4], np.ones(6), np.array([1.0, 1.0, -1.0, -1.0, 0.0, 0.0])):
        second = (misfit(0.02 * move) + misfit(-0.02 * move)) / 0.02**2
        assert move @ found @ move == pytest.approx(second, rel=error)
