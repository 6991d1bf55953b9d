"""A recording with every artefact in a known place, and what becomes of it."""

import dataclasses

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts, NoteKind, Units
from nefty.data.preparation.choice import NOTHING, Preparation
from nefty.data.preparation.prepare import prepare
from nefty.data.read import read
from nefty.data.sequence import Sequence
from nefty.synth.recording import simulate
from nefty.synth.specimen import draw_specimen
from support.flash_recordings import Camera, noise_of, slab
from support.known_facts import alike
from support.notes import texts
from support.shared_data import shared_recording

NAMES = (
    "values",
    "flash",
    "ambient",
    "corrupt frames",
    "dead pixels",
    "saturation",
    "drift",
    "region",
    "pixels",
    "times",
    "gain",
)
CORRUPT = [100, 101, 250, 400]
DEAD = [(3, 4), (20, 30), (10, 10)]


@pytest.fixture(scope="module")
def gain():
    found = 1 + 0.03 * np.random.default_rng(5).standard_normal((30, 40))
    return found / found.mean()


@pytest.fixture(scope="module")
def camera(gain):
    return Camera(shape=(600, 30, 40), gain=gain, echo=600)


@pytest.fixture(scope="module")
def spoilt(camera):
    """Frames with dead pixels, corrupt frames and saturation."""
    rng = np.random.default_rng(6)
    frames = camera.frames()
    frames[:, 3, 4] = 297
    frames[:, 20, 30] += 4
    frames[:, 10, 10] += 3 * rng.standard_normal(600)
    frames[CORRUPT] = 290 + 0.03 * rng.standard_normal((4, 30, 40))
    return np.minimum(frames, np.float32(302))


@pytest.fixture(scope="module")
def prepared(camera, spoilt):
    return prepare(camera.sequence(spoilt))


def test_every_artefact_is_found_where_it_is(prepared, spoilt):
    assert tuple(step.name for step in prepared.steps) == NAMES
    assert prepared.step("flash").values["frame"] == 11
    assert prepared.step("ambient").values["ambient"] == pytest.approx(295, abs=0.01)
    assert prepared.step("corrupt frames").values["frames"] == CORRUPT
    assert sorted(map(tuple, prepared.step("dead pixels").values["places"])) == sorted(DEAD)
    assert prepared.step("saturation").values["level"] == 302
    good = np.setdiff1d(np.arange(12, 600), CORRUPT)
    assert np.array_equal(prepared.pictures.saturated, (spoilt[good] >= 302).sum(axis=0))
    assert prepared.step("saturation").values["frames"] > 0
    assert [step.name for step in prepared.steps if step.assumed] == ["drift"]


def test_what_is_left_is_the_slab_within_its_noise(prepared, camera, gain):
    sequence = prepared.sequence
    assert 50 <= sequence.times.size <= 60
    expected = camera.rise * slab(sequence.times * camera.fps, camera.echo)[:, None, None] * gain
    left = (sequence.frames - expected) / noise_of(sequence)[:, None, None]
    assert np.nanstd(left) == pytest.approx(1, abs=0.03)
    assert np.abs(np.nanmean(left, axis=(1, 2))).max() < 0.3
    for y, x in DEAD:
        assert np.isnan(sequence.frames[:, y, x]).all()
    assert np.isfinite(sequence.frames[5:]).sum() == (sequence.times.size - 5) * (1200 - 3)


def test_the_gain_is_a_first_estimate_and_the_frames_stay(prepared, gain):
    estimate = prepared.sequence.facts.gain
    assert np.nanstd(estimate - gain) < 0.006
    assert prepared.step("gain").values["applied"] is False


def test_everything_is_said_in_notes_and_values(prepared, camera):
    facts = prepared.sequence.facts
    assert facts.steps == prepared.steps
    assert texts(prepared.sequence) == [step.sentence for step in prepared.steps]
    assert texts(prepared.sequence)[1].startswith("Flash: Frame 11")
    assert [note.kind for note in facts.notes if note.assumed] == [NoteKind.STEP]  # of the drift
    assert (facts.origin.flash_known, facts.origin.flash_frame) == (True, 11)
    assert facts.origin.ambient == pytest.approx(295, abs=0.01)
    assert facts.camera.frame_rate == pytest.approx(camera.fps)


@pytest.mark.parametrize("suffix", [".h5", ".npz", ".tif"])
def test_it_can_be_saved_and_read_back(prepared, tmp_path, suffix):
    again = read(prepared.sequence.save(tmp_path / f"ready{suffix}"))
    np.testing.assert_array_equal(again.frames, prepared.sequence.frames)
    np.testing.assert_array_equal(noise_of(again), noise_of(prepared.sequence))
    assert alike(again.facts, prepared.sequence.facts)


def test_the_recording_itself_is_not_changed(camera, spoilt):
    before = spoilt.copy()
    prepare(camera.sequence(spoilt), bin=2, gain="early")
    np.testing.assert_array_equal(spoilt, before)


def test_every_step_can_be_set_by_hand(camera, spoilt):
    found = prepare(
        camera.sequence(spoilt),
        flash=11,
        onset="frame",
        ambient=294.0,
        corrupt=(100,),
        dead="off",
        saturation="off",
        drift="off",
        roi=(0, 20, 5, -5),
        bin=5,
        start=1.0,
        until=30.0,
        frames=20,
        gain="early",
    )
    assert found.sequence.shape == (20, 4, 6)
    assert found.sequence.times[0] >= 1.0
    assert found.sequence.times[-1] <= 30.0
    assert found.step("flash").values["onset"] == pytest.approx(1.1)
    assert found.step("corrupt frames").values["frames"] == [100]
    assert found.step("gain").values["applied"] is True
    assert not any(step.assumed for step in found.steps)


def test_nothing_can_be_asked_for(camera):
    sequence = camera.sequence(facts=Facts())
    late = dataclasses.replace(sequence, times=sequence.times + 0.1)
    found = prepare(late, **NOTHING)
    np.testing.assert_array_equal(found.sequence.frames, late.frames)
    np.testing.assert_array_equal(found.sequence.times, late.times)


def test_counts_are_taken_and_that_is_said(camera):
    facts = camera.facts.replaced(units=Units(time="s", temperature="counts"))
    found = prepare(camera.sequence(camera.counts(), facts=facts))
    assert found.step("values").assumed
    assert found.step("times").values["sigma"] == pytest.approx(6, rel=0.05)


def test_a_pattern_of_the_camera_is_taken_from_before_the_flash(camera, rng):
    pattern = 0.3 * rng.standard_normal((30, 40))
    spotted = dataclasses.replace(camera, pattern=pattern, flash=40)
    found = prepare(spotted.sequence())
    assert "Each pixel's mean" in found.step("ambient").text
    expected = camera.rise * slab(found.sequence.times * camera.fps, camera.echo)[:, None, None] * camera.gain
    left = (found.sequence.frames - expected) / noise_of(found.sequence)[:, None, None]
    assert np.nanstd(left) == pytest.approx(1, abs=0.1)


def test_drift_before_a_late_flash_is_taken_out():
    drifting = Camera(shape=(500, 24, 24), flash=200, drift=0.03, echo=600)
    found = prepare(drifting.sequence())
    assert found.step("drift").values["slope"] == pytest.approx(0.03, rel=0.02)
    expected = drifting.rise * slab(found.sequence.times * drifting.fps, drifting.echo)
    np.testing.assert_allclose(np.nanmean(found.sequence.frames, axis=(1, 2)), expected, rtol=0.015)
    late = found.sequence.times > 1
    assert np.abs(np.nanmean(found.sequence.frames, axis=(1, 2)) - expected)[late].max() < 0.01


def test_binning_makes_noise_fall(camera):
    one, four = (prepare(camera.sequence(), bin=n).step("times").values["sigma"] for n in (1, 2))
    assert four == pytest.approx(one / 2, rel=0.05)


def test_the_mask_of_the_user_is_kept(camera, spoilt):
    mask = np.ones((30, 40), bool)
    mask[:, :10] = False
    found = prepare(camera.sequence(spoilt, mask=mask), bin=2).sequence
    assert np.isnan(found.frames[:, :, :5]).all()
    assert found.mask is not None
    assert not found.mask[:, :5].any()


def test_a_cut_part_knows_its_size(camera, spoilt):
    sequence = camera.sequence(spoilt, size=(5e-3, 30e-3, 40e-3))
    found = prepare(sequence, roi=(5, 26, 0, 40), pixel=2e-3).sequence
    assert found.shape[1:] == (10, 20)
    assert found.size == pytest.approx((5e-3, 20e-3, 40e-3))
    assert found.boundary.lateral == "adiabatic"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"flash": 600}, "not one of the 600 frames"),
        ({"flash": 599}, "no frame lies after the flash"),
        ({"roi": (0, 90, 0, 5)}, "do not lie within the 30"),
        ({"bin": 31}, "larger than the frames of 30 x 40"),
        ({"start": 100.0}, "no frame lies between"),
        ({"saturation": 100.0}, "in all frames"),
        ({"corrupt": (700,)}, "corrupt=700"),
        ({"binn": 2}, "Did you mean 'bin'?"),
        ({"pixel": 1e-3}, "is not known"),
        ({"drift": (0, 5, 0, 5)}, "it was heated"),
        ({"corrupt": tuple(range(12, 600))}, "no frame is left"),
    ],
)
def test_what_does_not_fit_is_a_clear_error(camera, spoilt, given, said):
    with pytest.raises(InputError, match=said):
        prepare(camera.sequence(spoilt), **given)


def test_a_masked_region_with_nothing_left_is_refused(camera, spoilt):
    mask = np.zeros((30, 40), bool)
    mask[3, 4] = True  # dead
    with pytest.raises(InputError, match="no value is left"):
        prepare(camera.sequence(spoilt, mask=mask))


def test_pixels_that_never_change_are_refused():
    still = Sequence(frames=np.ones((50, 8, 8)), times=np.arange(1.0, 51))
    assert prepare(still).step("dead pixels").values["pixels"] == 0  # none stands out
    with pytest.raises(InputError, match="both faces"):
        prepare(Sequence(frames=np.ones((2, 5, 4, 4)), times=np.arange(1.0, 6), observe="both"))


def test_a_choice_and_changes_of_it(camera):
    found = prepare(camera.sequence(), Preparation(bin=3, frames=30), bin=2)
    assert found.step("pixels").values["bin"] == 2
    assert found.sequence.times.size <= 30


def test_a_simulated_recording_passes_through():
    grid, times = Grid((6, 16, 16), (1.0, 10.0, 10.0)), 0.1 * np.arange(1, 51)
    sequence = simulate(draw_specimen(seed=1, defects=1), noise=1e-3, grid=grid, times=times)
    found = prepare(sequence)
    assert [s.name for s in found.steps if s.assumed] == ["values", "drift"]
    assert found.sequence.truth is not None
    assert found.step("corrupt frames").values["frames"] == []
    assert found.step("dead pixels").values["pixels"] == 0
    assert found.step("saturation").values["values"] == 0


@pytest.mark.parametrize("name", ["comsol_cfrp_defect.hdf5", "comsol_cfrp_sound.hdf5"])
def test_simulated_recordings_of_others_lose_nothing(name):
    sequence = read(shared_recording(name))
    found = prepare(sequence)
    assert found.step("corrupt frames").values["frames"] == []
    assert found.step("dead pixels").values["pixels"] == 0
    assert found.step("saturation").values["values"] == 0
    assert found.sequence.shape[1:] == (100, 100)
    assert 50 <= found.sequence.times.size <= 60
    assert noise_of(found.sequence).max() < 1e-3
    typical = np.median(sequence.frames, axis=(1, 2))
    late = found.sequence.times > 0.05
    expected = np.interp(found.sequence.times[late], sequence.times, typical)
    np.testing.assert_allclose(np.median(found.sequence.frames[late], axis=(1, 2)), expected, rtol=2e-3)


def test_a_real_recording_without_a_flash_says_what_it_lacks():
    found = prepare(read(shared_recording("flir_lwir.ptw")))
    assumed = [step.name for step in found.steps if step.assumed]
    assert assumed == ["values", "flash", "ambient", "drift"]
    assert 1 < found.step("times").values["sigma"] < 3


@pytest.mark.parametrize("choice", ["auto", "off", (20, 40)])
def test_frames_without_a_number_are_left_out_and_said_whatever_the_choice(choice):
    camera = Camera()
    frames = camera.frames()
    frames[[3, 40, 41, 299]] = np.nan
    found = prepare(camera.sequence(frames), corrupt=choice, frames="off")
    assert found.step("flash").values["frame"] == camera.flash  # numbers stay those of the file
    assert "4 of 300 frames, which hold no number, were left out: 3, 40, 41, 299." in found.step("corrupt frames").text
    assert not {3, 40, 41, 299} & set(found.pictures.used.tolist())
    assert np.isfinite(found.sequence.frames).all()


def test_a_flash_after_frames_without_a_number_is_taken_as_given():
    camera = Camera()
    frames = camera.frames()
    frames[: camera.flash] = np.nan
    found = prepare(camera.sequence(frames), flash=camera.flash, ambient=camera.ambient)
    assert found.step("flash").values["frame"] == camera.flash
