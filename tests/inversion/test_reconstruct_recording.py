"""From a recording to a reconstruction: what is found, what is handled, what is refused."""

import dataclasses

import numpy as np
import pytest

from nefty import (
    Boundary,
    GaussianFlash,
    Grid,
    HeatModel,
    InputError,
    Sequence,
    TopHatPulse,
    UniformFlash,
    reconstruct,
    simulate_explicit,
)
from nefty.core.stopping import FINISHED
from nefty.inversion.recipe import load_recipe
from nefty.inversion.reconstruct import Watch, first_weight, observe
from support.notes import texts

SLAB = Grid((6, 16, 16), (1.0, 6.0, 6.0))
TIMES = 0.25 * np.arange(1, 21)
FLASH = GaussianFlash(100.0, 3.0, 0.2)
LAYERS = {"model.layers": 6}


def overlap(found, truth, threshold=0.03):
    a, b = found < threshold, truth < threshold
    return (a & b).sum() / (a | b).sum()


def over_the_defect(found):
    """Mean of alpha/background in the defect, and elsewhere."""
    ratio = found.alpha / found.background[:, None, None]
    inside = np.zeros(ratio.shape, bool)
    inside[2:4, 6:10, 5:10] = True
    return ratio[inside].mean(), ratio[~inside].mean()


def recorded(truth, excitation=FLASH, boundary=None, observe="front", **more):
    boundary = boundary or Boundary()
    frames = simulate_explicit(SLAB, truth, TIMES, excitation, boundary, observe=observe, safety=16)
    return Sequence(
        frames, TIMES, size=SLAB.size, excitation=excitation, boundary=boundary, observe=observe, truth=truth, **more
    )


@pytest.fixture(scope="module")
def found(recording):
    return reconstruct(recording, overrides=LAYERS)


def test_a_defect_is_found(found, truth):
    assert overlap(found.alpha, truth) > 0.7
    assert found.stopped == FINISHED
    assert found.bulk == pytest.approx(0.15, rel=0.03)
    (defect,) = found.defects()
    assert defect is not None


def test_the_result_says_where_it_comes_from(found, recording):
    assert found.grid == SLAB
    assert np.array_equal(found.truth, recording.truth)
    assert np.array_equal(found.measured, recording.frames)
    assert np.array_equal(found.times, recording.times)
    assert found.recipe == load_recipe("fast", LAYERS).model_dump(mode="json")
    assert found.lateral == "periodic"
    assert texts(found) == []
    assert {"recipe", "seed", "input", "nefty"} <= found.provenance.keys()
    layers, rows, columns = SLAB.shape
    assert found.effort.unknowns == layers * rows * columns + layers  # the cells, and the background of each layer
    assert found.effort.evaluations >= len(found.history["misfit"])
    assert found.effort.optimisation > 0
    assert found.effort.preparation > 0
    assert found.misfit == pytest.approx(found.history["misfit"][-1], rel=1e-3)


def test_a_neural_field_finds_it_too(recording):
    short = {f"stages.{index}.iterations": 15 for index in range(5)}
    found = reconstruct(recording, recipe="neural", overrides={**LAYERS, **short})
    assert found.effort.unknowns == 5537  # the network's, not the cells'
    inside, outside = over_the_defect(found)
    assert inside < 0.5 < 0.8 < outside
    assert found.history["misfit"][-1] < found.history["misfit"][0] / 10


def test_two_runs_with_one_seed_agree_bit_for_bit(recording, quick):
    one, same = (reconstruct(recording, recipe=quick, overrides={"seed": 3}) for _ in range(2))
    other = reconstruct(recording, recipe=quick, overrides={"seed": 4})
    assert np.array_equal(one.alpha, same.alpha)
    assert np.array_equal(one.fitted, same.fitted)
    assert np.array_equal(one.history["objective"], same.history["objective"])
    assert not np.array_equal(one.alpha, other.alpha)


def test_the_recording_is_not_changed(recording, quick):
    before = recording.digest()
    reconstruct(recording, recipe=quick)
    assert recording.digest() == before


def test_it_tells_what_it_does(recording, quick):
    stages, told = [], []
    reconstruct(recording, recipe=quick, watch=Watch(stages.append, lambda *what: told.append(what)))
    assert stages == ["Prepare the recording", "Calibrate the background", "Optimise", "Predict the frames"]
    assert told[-1][:3] == ("shape", 12, 12)


# What recordings are like


def test_missing_values_do_not_count(recording, quick):
    holes = np.random.default_rng(1).random(recording.frames.shape) < 0.05
    holes[:, 12, 3] = True
    found = reconstruct(dataclasses.replace(recording, frames=np.where(holes, np.nan, recording.frames)), recipe=quick)
    assert np.array_equal(np.isnan(found.measured), holes)
    assert texts(found) == [f"{holes.sum()} missing values do not count."]
    inside, outside = over_the_defect(found)
    assert inside < 0.7 < 0.9 < outside


def test_dead_pixels_do_not_count(recording, quick):
    frames = recording.frames.copy()
    frames[:, 3, 3] = 0.0
    frames[:, 12, 9] += 400
    found = reconstruct(dataclasses.replace(recording, frames=frames), recipe=quick)
    assert texts(found) == ["2 dead pixels were found and do not count."]
    assert np.isnan(found.measured[:, [3, 12], [3, 9]]).all()
    assert np.isnan(found.measured).sum() == 40
    clean = reconstruct(recording, recipe=quick)
    assert np.abs(np.log(found.alpha / clean.alpha)).mean() < 0.03  # the deep layers, far from converged by then


def test_pixels_off_the_mask_may_hold_anything(recording, quick):
    mask = np.ones((16, 16), bool)
    mask[:3] = mask[:, 14:] = False
    volumes = []
    for rubbish in (0.0, 1e6):
        frames = np.where(mask, recording.frames, rubbish)
        volumes.append(
            reconstruct(Sequence.with_mask(dataclasses.replace(recording, frames=frames), mask), recipe=quick)
        )
    assert np.array_equal(volumes[0].alpha, volumes[1].alpha)
    assert np.isnan(volumes[0].measured[:, ~mask]).all()
    inside, outside = over_the_defect(volumes[0])
    assert inside < 0.7 < 0.9 < outside


def test_a_region_is_a_part_of_its_own(recording, quick):
    found = reconstruct(recording.region((3, 15), (2, 14)), recipe=quick)
    assert found.grid.shape == (6, 12, 12)
    assert found.lateral == "adiabatic"
    assert "rows 3 to 15 of 16" in found.facts.notes[0].text
    ratio = found.alpha / found.background[:, None, None]
    assert ratio[2:4, 3:7, 3:8].mean() < 0.7
    assert ratio[:, 9:].mean() > 0.85


def test_frames_before_the_flash_are_left_out(recording, quick):
    early = np.full((3, 16, 16), 0.01)
    longer = dataclasses.replace(
        recording, frames=np.concatenate([early, recording.frames]), times=np.concatenate([[-0.5, -0.25, 0], TIMES])
    )
    found = reconstruct(longer, recipe=quick)
    assert np.array_equal(found.times, TIMES)
    assert "3 of 23 frames" in found.facts.notes[0].text
    assert np.array_equal(found.alpha, reconstruct(recording, recipe=quick).alpha)


CASES = {
    "both faces": {"observe": "both"},
    "the back": {"observe": "back"},
    "adiabatic sides": {"boundary": Boundary("adiabatic")},
    "losses": {"boundary": Boundary("periodic", "robin", "robin", 0.05, 0.02)},
    "uniform flash": {"excitation": UniformFlash(100.0, 0.2)},
    "pulse": {"excitation": TopHatPulse(30.0, 0.3)},
    "pulse with a profile": {"excitation": TopHatPulse(30.0, 0.3, profile=FLASH.shape(SLAB)[0])},
    "temperature": {"excitation": 100 * FLASH.shape(SLAB)},
}


@pytest.mark.parametrize("case", CASES)
def test_recordings_of_all_kinds(truth, quick, case):
    sequence = recorded(truth, **CASES[case])
    found = reconstruct(sequence, recipe=quick)
    assert found.measured.shape == found.fitted.shape == sequence.frames.shape
    assert found.history["misfit"][-1] < found.history["misfit"][0] / 3
    inside, outside = over_the_defect(found)
    assert inside < outside - 0.1
    if case != "the back":
        assert inside < 0.75 < 0.9 < outside
    assert found.lateral == ("adiabatic" if case == "adiabatic sides" else "periodic")


def test_anisotropy_and_the_face_mean_are_those_of_the_recording(truth, quick):
    frames = simulate_explicit(SLAB, truth, TIMES, FLASH, face_mean="arithmetic", anisotropy=(2.0, 0.5))
    right = Sequence(frames, TIMES, SLAB.size, FLASH, face_mean="arithmetic", anisotropy=(2.0, 0.5))
    wrong = Sequence(frames, TIMES, SLAB.size, FLASH)
    ours, theirs = (reconstruct(s, recipe=quick) for s in (right, wrong))
    assert ours.rmse < theirs.rmse


def test_a_contrast_of_one_to_a_thousand_runs(truth):
    air = np.where(truth < 0.1, 1.5e-4, truth)
    found = reconstruct(recorded(air), overrides=LAYERS)
    assert np.isfinite(found.alpha).all()
    assert overlap(found.alpha, air) > 0.3


def test_single_precision_frames_and_double_ones_agree(recording, quick):
    single = dataclasses.replace(recording, frames=recording.frames.astype(np.float32))
    one, other = (reconstruct(s, recipe=quick) for s in (recording, single))
    assert np.abs(np.log(one.alpha / other.alpha)).mean() < 0.02


def test_units_do_not_matter(recording, quick):
    """The same part in micrometres and millikelvin."""
    flash = GaussianFlash(1e5, 3e3, 200.0)
    size = tuple(1e3 * s for s in SLAB.size)
    small = Sequence(1e3 * recording.frames, TIMES, size=size, excitation=flash)  # pyright: ignore[reportArgumentType]
    unguided = {"calibration.start": None}
    one, other = (reconstruct(s, recipe=quick, overrides=unguided) for s in (recording, small))
    ours, theirs = (f.alpha / f.background[:, None, None] for f in (one, other))
    assert np.abs(np.log(ours / theirs)).mean() < 0.02
    assert other.history["misfit"][0] == pytest.approx(one.history["misfit"][0], rel=1e-3)


# Noise and weight


def seen_by(sequence, overrides=None):
    recipe = load_recipe("fast", {**LAYERS, **(overrides or {})})
    model = HeatModel(SLAB, TIMES, FLASH)
    return observe(sequence, model, recipe)[0], recipe


def test_the_noise_is_given_or_estimated(recording, noisy):
    assert seen_by(noisy)[0].noise == pytest.approx(0.2, rel=0.1)
    quiet = seen_by(recording, {"noise.floor": 1e-3})[0]
    assert quiet.noise == pytest.approx(1e-3 * quiet.peak, rel=0.05)
    assert seen_by(noisy, {"noise.sigma": 0.5, "noise.floor": 0})[0].noise == 0.5
    told = dataclasses.replace(noisy, noise=0.3)
    assert seen_by(told, {"noise.floor": 0})[0].noise == 0.3
    assert seen_by(told, {"noise.floor": 0, "noise.sigma": 0.4})[0].noise == 0.4
    with pytest.raises(InputError, match=r"noise is 0 and so is noise\.floor; give noise\.floor a small value"):
        seen_by(dataclasses.replace(recording, noise=0.0), {"noise.floor": 0})


def test_the_more_noise_the_more_weight(recording, noisy):
    quiet, loud = (first_weight(recipe, seen) for seen, recipe in (seen_by(recording), seen_by(noisy)))
    assert 0 < quiet < loud
    seen, recipe = seen_by(noisy, {"weight.tv": 0.125})
    assert first_weight(recipe, seen) == 0.125


def test_a_noisy_recording_is_fitted_to_its_noise_and_not_below(noisy, truth):
    found = reconstruct(noisy, overrides=LAYERS)
    assert found.misfit == pytest.approx(1, abs=0.15)
    assert overlap(found.alpha, truth) > 0.4


# A model of one's own


def test_a_given_model_is_used(recording, quick):
    own = HeatModel(Grid((8, 16, 16), SLAB.size), TIMES, FLASH, face_mean="arithmetic", dtype="float64")
    found = reconstruct(recording, own, recipe=quick)
    assert found.grid.shape == (8, 16, 16)
    assert found.truth is None  # known on other cells
    assert found.history["misfit"][-1] < found.history["misfit"][0] / 3
    np.testing.assert_allclose(found.fitted, own(found.alpha).numpy(), rtol=1e-6)


def test_the_flash_is_calibrated_when_asked(truth, quick):
    wrong = dataclasses.replace(recorded(truth), excitation=GaussianFlash(120.0, 3.0, 0.23))
    plain = reconstruct(wrong, recipe=quick)
    found = reconstruct(
        wrong, recipe=quick, overrides={"calibration.flash": True, "calibration.background": "constant"}
    )
    assert found.rmse < plain.rmse / 3
    inside, outside = over_the_defect(found)
    assert inside < 0.75 < 0.9 < outside


# What is refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"excitation": None}, r"does not say how the part was heated; give pulse=\.\.\. to nefty\.load"),
        ({"size": None}, r"size of the part is not known; give .* size=\(thickness, height, width\)"),
        ({"excitation": np.ones((8, 16, 16))}, r"initial has shape \(8, 16, 16\), the grid has \(6, 16, 16\)"),
        ({"excitation": TopHatPulse(1.0, 0.1, profile=np.ones((8, 8)))}, r"pulse profile has shape \(8, 8\).*resample"),
        ({"times": TIMES - 100}, r"all 20 frames lie at or before the flash at t = 0 .*count the times from the flash"),
        ({"frames": np.full((20, 16, 16), -1.0)}, "frames must be the rise above ambient"),
    ],
)
def test_what_is_missing_is_named_with_the_remedy(recording, quick, change, message):
    with pytest.raises(InputError, match=message):
        reconstruct(dataclasses.replace(recording, **change), recipe=quick)


def test_a_model_of_another_shape_is_refused(recording, quick):
    for model in (
        HeatModel(Grid((6, 8, 8), SLAB.size), TIMES, FLASH),
        HeatModel(SLAB, TIMES[:10], FLASH),
        HeatModel(SLAB, TIMES, FLASH, observe="both"),
    ):
        with pytest.raises(InputError, match=r"the frames have shape \(20, 16, 16\), the model predicts .*model=None"):
            reconstruct(recording, model, recipe=quick)


def test_a_model_of_other_times_is_refused(recording, quick):
    with pytest.raises(InputError, match="times"):
        reconstruct(recording, HeatModel(SLAB, 2 * TIMES, FLASH), recipe=quick)


def test_frames_alone_are_refused(recording, quick):
    with pytest.raises(InputError, match=r"must be a nefty\.Sequence, got ndarray; see nefty\.load"):
        reconstruct(recording.frames, recipe=quick)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"calibration.background": "none"}, "weighs voids, which needs a background"),
        (
            {"calibration.background": "none", "stages.1.weights.voids": 0},
            r"needs calibration\.background=\"layered\" or \"constant\"",
        ),
        ({"model.sweeps": 5}, r"model\.sweeps=5 needs an implicit integrator"),
        (
            {"field.kind": "neural", "field.horizon": 0},
            "needs unknowns kept in a box.*use SigmoidHead or LogHead",
        ),
        ({"field.high": 0.9}, "alpha=1 must lie between 0.02 and 0.9"),
        ({"field.low": 2.0}, "highest diffusivity=1.05 must be above the lowest, 2"),
    ],
)
def test_recipes_that_contradict_themselves_are_refused(recording, quick, overrides, message):
    with pytest.raises(InputError, match=message):
        reconstruct(recording, recipe=quick, overrides=overrides)
