"""A real recording as the inversion sees it: which frames, in which form, and how much they count."""

import dataclasses
import re

import numpy as np
import pytest

from nefty import Boundary, Grid, HeatingCurve, HeatModel, InputError, TopHatPulse, UniformFlash
from nefty.core.storage.hdf5 import read_hdf5, write_hdf5
from nefty.data.facts import NoteKind
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import load_recipe
from nefty.physics.slab.surface import slab_surface

ALPHA, FRONT, BACK, H = 1.3e-7, 5e-6, 1.2e-5, 3e-3
GRID = Grid((8, 12, 14), (H, 18e-3, 21e-3))
TIMES = np.append(2e-3, np.geomspace(0.2, 100.0, 45))  # the first within the pulse
PULSE = TopHatPulse(duration=5e-3)
LOSSY = Boundary("adiabatic", "robin", "robin", h_front=2 * FRONT, h_back=2 * BACK)
AMPLITUDE, NOISE = 2.5, 2e-3
RECIPE = load_recipe("real", {"model.layers": 8, "calibration.surroundings": False})


def frames_of(rng, times=TIMES, noise: float | np.ndarray = NOISE):
    """A sound part at its surface, of which the frames within the pulse show nothing yet."""
    after = times > PULSE.duration
    level = np.zeros(len(times))
    level[after] = slab_surface(times[after], ALPHA, H, h_front=FRONT, h_back=BACK, pulse=(0.0, PULSE.duration))
    gain = 1 + 0.03 * rng.standard_normal(GRID.shape[1:])
    frames = AMPLITUDE * gain / np.median(gain) * level[:, None, None]
    return frames + noise * rng.standard_normal(frames.shape)


def build(frames, times=TIMES, *, pulse=PULSE, boundary=LOSSY, counted=None, recipe=RECIPE, **more):
    counted = np.ones(frames.shape, dtype=bool) if counted is None else counted
    noise = more.pop("noise", NOISE)
    built = HeatModel(GRID, times, pulse, boundary, dtype="float64", **more)
    each = noise if np.ndim(noise) == 0 else np.asarray(noise)[:, None, None]
    seen = Observation(GRID, times, np.where(counted, frames, 0.0), counted, each)
    return RealPartCalibration(built, seen, 1.2 * ALPHA, recipe.calibration, floor=recipe.noise.floor)


@pytest.fixture
def part(rng):
    return build(frames_of(rng))


def with_void(part, top=3):
    volume = np.broadcast_to(part.background[:, None, None], GRID.shape).copy()
    volume[top:, 4:8, 5:9] *= 0.05
    return volume


def test_the_sound_part_is_calibrated(part):
    assert part.decay.alpha == pytest.approx(ALPHA, rel=0.02)
    assert part.decay.amplitude == pytest.approx(AMPLITUDE, rel=0.02)
    np.testing.assert_array_equal(part.background, np.full(8, part.decay.alpha))
    rows = {row.name: row for row in part.summary()}
    bulk, loss = rows["diffusivity through the thickness"], rows["heat loss of the back face over rho c"]
    assert (bulk.value, bulk.start, bulk.unit) == (part.decay.alpha, 1.2 * ALPHA, "m2/s")
    assert (loss.value, loss.start, loss.unit) == (part.decay.h_back, 2 * BACK, "m/s")
    assert loss.value == pytest.approx(BACK, rel=0.1)
    assert rows["heating"].unit == "K"
    assert "heated margin" not in rows


def test_what_was_stated_has_its_width(part):
    rows = {row.name: row for row in part.summary()}
    assert rows["diffusivity through the thickness"].width == pytest.approx(0.12 * 1.2 * ALPHA)
    assert rows["heat loss of the front face over rho c"].width == pytest.approx(2 * BACK)
    assert rows["delay of the heating"].width == part.prior.delay_width
    assert rows["heating"].width is None


def test_a_calibration_that_did_not_come_to_rest_is_noted_first(part):
    assert not any("come to rest" in note.text for note in part.notes())
    part.decay = dataclasses.replace(part.decay, converged=False)
    assert part.notes()[0].kind is NoteKind.CALIBRATION
    assert part.notes()[0].text.startswith("The calibration did not come to rest")


def test_faces_that_lose_nothing_are_not_in_the_summary(rng):
    part = build(frames_of(rng), boundary=dataclasses.replace(LOSSY, front="adiabatic", h_front=0.0))
    assert [row.name for row in part.summary() if "heat loss" in row.name] == ["heat loss of the back face over rho c"]
    assert part.model.boundary.h_front == 0


def test_frames_are_used_that_the_cells_can_show(part, rng):
    """Not those within the pulse, nor before heat has crossed a cell, nor after the Fourier number asked for."""
    used, times = part.used, TIMES[PULSE.duration < TIMES]
    assert used.shape == times.shape
    assert not used[0]
    assert not used[-1]
    fourier = part.decay.alpha * times[used] / H**2
    assert fourier[-1] <= RECIPE.calibration.until < part.decay.alpha * times[-1] / H**2
    assert (np.diff(np.flatnonzero(used)) == 1).all()
    np.testing.assert_array_equal(part.model.times, times[used])
    longer = build(frames_of(rng), recipe=load_recipe(RECIPE, {"calibration.until": 1.2}))
    assert longer.used.sum() > used.sum()
    said = " ".join(note.text for note in part.notes())
    assert "do not tell about the volume" in said
    assert re.search(r"about the first [\d.]+ mm of the depth", said)
    assert "served the calibration only" in said


def test_layers_that_heat_had_crossed_are_buried(rng):
    early, late = (build(frames_of(rng, times), times) for times in (TIMES, np.geomspace(4.0, 100.0, 40)))
    assert early.buried <= 2
    first = late.model.times[0]
    assert late.buried * GRID.spacing[0] == pytest.approx(np.sqrt(ALPHA * first), abs=1.5 * GRID.spacing[0])
    assert late.buried > early.buried


def test_the_factor_leads_from_the_cells_to_what_the_camera_saw(part):
    """Sound cells, times the factor, the gains aside, are the exact surface."""
    model, decay = part.model, part.decay
    cells = model(np.broadcast_to(part.background[:, None, None], GRID.shape).copy()).numpy()
    exact = slab_surface(
        model.times, decay.alpha, H, h_front=decay.h_front, h_back=decay.h_back, pulse=(0.0, PULSE.duration)
    )
    level = decay.amplitude * decay.common[part.used] * exact
    np.testing.assert_allclose(cells * part.factor(), np.broadcast_to(level[:, None, None], cells.shape), rtol=1e-5)
    assert abs(part.factor() - 1).max() > 0.005  # the surface is not the mean of the first cells
    seen = part.observation
    ratio = seen.frames / cells
    np.testing.assert_allclose(ratio / decay.gain, 1, atol=6 * NOISE / level.min())
    here = np.isfinite(part.measured)
    np.testing.assert_allclose(part.measured[here], (seen.frames * part.factor())[here], rtol=1e-12)


def test_the_observation_has_the_noise_of_its_frames_and_unknown_gains(part):
    seen = part.observation
    assert seen.gain_spread == RECIPE.calibration.gain
    sigma = part.decay.noise[part.used]
    noise = (seen.noise * part.factor())[:, 0, 0]
    assert (noise >= sigma).all()
    np.testing.assert_allclose(noise, sigma, rtol=0.1)  # the model's own error is less
    assert (sigma >= NOISE).all()


def test_the_noise_may_differ_from_frame_to_frame(rng):
    each = NOISE * np.where(np.arange(len(TIMES)) < 20, 3.0, 1.0)
    part = build(frames_of(rng, noise=each[:, None, None]), noise=each)
    after = each[PULSE.duration < TIMES]
    assert (part.decay.noise >= after).all()
    assert part.decay.alpha == pytest.approx(ALPHA, rel=0.03)


def test_what_does_not_count_is_not_compared(rng):
    frames = frames_of(rng)
    counted = rng.random(frames.shape) < 0.9
    counted[:, :2] = False
    part = build(frames, counted=counted)
    kept = counted[PULSE.duration < TIMES][part.used]
    part.find_voids(np.broadcast_to(part.background[:, None, None], GRID.shape).copy())
    np.testing.assert_array_equal(np.isfinite(part.measured), kept)
    np.testing.assert_array_equal(part.observation.counted, kept)
    assert part.decay.alpha == pytest.approx(ALPHA, rel=0.03)


def test_before_voids_are_known_late_frames_do_not_count_at_all(part):
    share = part.share()
    assert set(np.unique(share)) <= {0.0, 1.0}
    assert (share[:4] == 1).all()
    assert (np.diff(share[:, 0, 0]) <= 0).all()


def test_over_an_open_void_late_values_count_less(part):
    assert np.isfinite(part.measured).all()  # all frames stay in the result until voids are known
    part.find_voids(with_void(part))
    share = part.share()
    assert np.isfinite(part.measured[:, 0, 0]).all()
    assert ((share > 0) & (share <= 1)).all()
    assert share[-1, 5, 6] < 0.5 < share[-1, 0, 0]
    assert (np.diff(share[:, 5, 6]) < 0.01).all()
    shallow = build(part._frames, part._all.times)
    shallow.find_voids(with_void(shallow, top=1))
    assert shallow.share()[-1, 5, 6] < share[-1, 5, 6]


def test_nothing_is_known_of_voids_before_they_were_searched(part):
    """A volume to begin with, or the background itself, tells nothing of this recording."""
    before, share = part.decay, part.share()
    assert part.refine(with_void(part), 1, searched=False) == 0
    assert part.decay is before
    np.testing.assert_array_equal(part.share(), share)
    assert part.refine(with_void(part), 0, searched=True) == 0
    assert part.decay is before
    assert part.share()[-1, 5, 6] < 0.5


def test_without_a_loss_of_the_back_a_void_loses_nothing(rng):
    part = build(frames_of(rng), boundary=dataclasses.replace(LOSSY, back="adiabatic", h_back=0.0))
    assert (part.share() == 1).all()
    part.find_voids(with_void(part))
    assert (part.share() == 1).all()


def test_a_part_without_voids_counts_in_full(part):
    part.find_voids(np.broadcast_to(part.background[:, None, None], GRID.shape).copy())
    assert (part.share() == 1).all()


def test_a_fit_under_the_defects_found_is_that_of_the_sound_part(rng):
    """The frames are those of a volume with a void over a third of the face; told so, the calibration is right."""
    ratio = np.ones(GRID.shape)
    ratio[3:, 2:9, 2:9] = 0.05
    model = HeatModel(GRID, TIMES, PULSE, dataclasses.replace(LOSSY, h_front=FRONT, h_back=BACK), dtype="float64")
    sound = model(np.full(GRID.shape, ALPHA)).numpy()
    part = build(frames_of(rng) * np.where(sound > 0, model(ALPHA * ratio).numpy() / np.where(sound > 0, sound, 1), 1))
    before = part.decay
    for _ in range(3):
        assert part.refine(part.background[:, None, None] * ratio, 1, searched=True) == 1
    assert abs(part.decay.alpha / ALPHA - 1) < abs(before.alpha / ALPHA - 1)
    assert part.decay.alpha == pytest.approx(ALPHA, rel=0.03)
    assert part.decay.h_back == pytest.approx(BACK, rel=0.2)


def test_a_checkpoint_gives_back_where_it_stood(part, rng, tmp_path):
    part.refine(with_void(part), 1, searched=True)
    path = write_hdf5(tmp_path / "kept.h5", {"part": part.state()}, kind="test")
    other = build(part._frames, part._all.times)
    assert other.decay.alpha != part.decay.alpha
    other.restore(read_hdf5(path, kind="test")["part"])
    for field in dataclasses.fields(part.decay):
        np.testing.assert_array_equal(getattr(other.decay, field.name), getattr(part.decay, field.name))
    for name in ("share", "factor"):
        np.testing.assert_array_equal(getattr(other, name)(), getattr(part, name)())
    for name in ("used", "buried", "background", "measured"):
        np.testing.assert_array_equal(getattr(other, name), getattr(part, name))
    np.testing.assert_array_equal(other.observation.frames, part.observation.frames)
    np.testing.assert_array_equal(other.observation.weights, part.observation.weights)
    volume = with_void(part)
    np.testing.assert_array_equal(other.model(volume), part.model(volume))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pulse": UniformFlash(1.0, 1e-4)}, r"give excitation=nefty\.TopHatPulse\(duration=\.\.\.\), or use the"),
        ({"pulse": np.ones(GRID.shape)}, "an even pulse heated"),
        ({"pulse": TopHatPulse(duration=5e-3, profile=np.ones((12, 14)))}, "an even pulse heated"),
        ({"observe": "back"}, "needs frames of the heated face, not of the back"),
        ({"observe": "both"}, "one face of which was seen"),
        ({"pulse": TopHatPulse(duration=90.0)}, "only 1 frames come after the pulse, which ends at 90"),
    ],
)
def test_parts_that_it_cannot_calibrate_are_refused(rng, changes, message):
    with pytest.raises(InputError, match=message):
        build(frames_of(rng), **changes)


def test_too_few_useful_frames_are_refused(rng):
    late = np.array([50.0, 60.0, 80.0, 90.0, 100.0])
    with pytest.raises(InputError, match=r"frames lie between .* s \(calibration\.until\); check thickness"):
        build(frames_of(rng, late), late)


def test_frames_that_a_delay_moves_to_before_a_slow_heating_are_not_used(rng):
    """There the model is 0, and a frame over it nothing."""
    times = np.linspace(0.5, 60.0, 60)
    heating = HeatingCurve((0.0, 0.0, 60.0, 60.0), (0.0, 1.0, 1.0, 0.0))
    level = HeatModel(Grid((40, 1, 1), (H, 1.0, 1.0)), times, heating, LOSSY, dtype="float64")
    course = level(np.full((40, 1, 1), ALPHA)).numpy().ravel()
    frames = AMPLITUDE * course[:, None, None] + 1e-3 * rng.standard_normal((len(times), *GRID.shape[1:]))
    part = build(frames, times, pulse=heating, noise=1e-3)
    moved = dataclasses.replace(part.decay, delay=2.2)
    assert (part.fit.surface(moved)[:2] <= 0).all()
    part._take(moved)
    assert not part.used[:2].any()
    assert part.used.sum() > 20
    assert np.isfinite(part.observation.frames).all()
    assert np.isfinite(part.observation.variance).all()
