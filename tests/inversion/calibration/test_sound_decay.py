"""The fit of the background to recordings whose every number is known."""

import dataclasses

import numpy as np
import pytest
from scipy.special import erf

from nefty.core.errors import NeftyError
from nefty.inversion.calibration.sound_decay import SoundFit
from nefty.physics.slab.surface import slab_surface

SIZE = (4e-3, 36e-3, 44e-3)
FACE = (18, 22)
ALPHA, FRONT, BACK = 1.3e-7, 5e-6, 1.2e-5
PULSE = (0.0, 5e-3)
TIMES = np.geomspace(0.3, 120.0, 60)
AMPLITUDE = 2.5
NOISE = 2e-3
RATIOS = (1.4, 0.8)


def sideways(margin: float, alpha: float = ALPHA) -> np.ndarray:
    """Share of the heat left in a part that was heated ``margin`` beyond its frame, (t, y, x)."""
    shares = []
    for pixels, size, ratio in zip(FACE, SIZE[1:], RATIOS, strict=True):
        at, length = (np.arange(pixels) + 0.5) * size / pixels, 2 * np.sqrt(alpha * ratio * TIMES)[:, None]
        shares.append((erf((at + margin) / length) + erf((size + margin - at) / length)) / 2)
    return shares[0][:, :, None] * shares[1][:, None, :]


def gains(rng, spread: float = 0.03) -> np.ndarray:
    gain = 1 + spread * rng.standard_normal(FACE)
    return gain / np.median(gain)


def frames_of(rng, *, margin=np.inf, noise=NOISE, gain=None, h=(FRONT, BACK)) -> np.ndarray:
    surface = slab_surface(TIMES, ALPHA, SIZE[0], h_front=h[0], h_back=h[1], pulse=PULSE)
    shape = surface[:, None, None] * (sideways(margin) if np.isfinite(margin) else 1.0)
    frames = AMPLITUDE * shape * (np.ones(FACE) if gain is None else gain)
    return frames + noise * rng.standard_normal(frames.shape)


def fit_of(frames, counted=None, noise=NOISE, **more) -> SoundFit:
    counted = np.ones(frames.shape, dtype=bool) if counted is None else counted
    frames = np.where(counted, frames, 0.0)
    return SoundFit(frames, counted, TIMES, np.full(len(TIMES), noise), SIZE, RATIOS, PULSE, **more)


@pytest.mark.parametrize("factor", [0.7, 1.4])
def test_everything_that_made_the_frames_is_found(rng, factor):
    gain = gains(rng)
    found = fit_of(frames_of(rng, gain=gain), surroundings=False).fit(factor * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.01)
    assert found.h_front == pytest.approx(FRONT, rel=0.1)
    assert found.h_back == pytest.approx(BACK, rel=0.1)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.01)
    assert found.margin == np.inf
    np.testing.assert_allclose(found.gain, gain, rtol=2e-3)
    np.testing.assert_allclose(found.common, 1, atol=5e-3)
    assert (found.first, found.clear) == (0, 0)
    assert found.quiet.mean() > 0.3
    level = AMPLITUDE * slab_surface(TIMES, ALPHA, SIZE[0], h_front=FRONT, h_back=BACK, pulse=PULSE)
    assert (found.noise >= NOISE).all()
    assert (found.noise < 1.3 * NOISE + 1e-3 * level).all()


@pytest.mark.parametrize("margin", [1e-3, 4e-3])
def test_the_heated_margin_is_found_with_the_rest(rng, margin):
    gain = gains(rng)
    fit = fit_of(frames_of(rng, margin=margin, gain=gain))
    found = fit.fit(1.2 * ALPHA)
    assert found.margin == pytest.approx(margin, abs=5e-4)
    assert found.alpha == pytest.approx(ALPHA, rel=0.02)
    assert found.h_front + found.h_back == pytest.approx(FRONT + BACK, rel=0.1)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.01)
    np.testing.assert_allclose(found.gain, gain, rtol=5e-3)
    np.testing.assert_allclose(fit.surroundings(found), sideways(margin), atol=0.01)


def test_surroundings_that_are_not_felt_are_infinitely_far(rng):
    fit = fit_of(frames_of(rng, gain=gains(rng)))
    found = fit.fit(1.2 * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.01)
    assert np.abs(fit.surroundings(found) - 1).max() < 0.02


def test_the_surface_is_that_of_the_fit(rng):
    fit = fit_of(frames_of(rng), surroundings=False)
    found = fit.fit(ALPHA)
    exact = slab_surface(TIMES, found.alpha, SIZE[0], h_front=found.h_front, h_back=found.h_back, pulse=PULSE)
    np.testing.assert_array_equal(fit.surface(found), exact)
    model = found.amplitude * found.gain * (found.common * exact)[:, None, None]
    assert np.std(fit.frames - model) == pytest.approx(NOISE, rel=0.1)


def test_faces_without_losses_lose_nothing(rng):
    frames = frames_of(rng, h=(0.0, BACK))
    found = fit_of(frames, losses=(False, True), surroundings=False).fit(1.2 * ALPHA)
    assert found.h_front == 0
    assert found.h_back == pytest.approx(BACK, rel=0.05)
    assert found.alpha == pytest.approx(ALPHA, rel=0.01)


def test_losses_begin_where_they_are_thought_to_be_and_an_earlier_fit_is_gone_on_with(rng):
    fit = fit_of(frames_of(rng), surroundings=False)
    first, second = fit.fit(1.2 * ALPHA), fit.fit(1.2 * ALPHA, h=(2 * FRONT, 2 * BACK))
    again = fit.fit(first)
    for other in (second, again):
        assert other.alpha == pytest.approx(first.alpha, rel=1e-3)
        assert other.h_back == pytest.approx(first.h_back, rel=0.02)


def test_a_patch_over_a_defect_does_not_disturb(rng):
    """A tenth of the pixels that keep their heat: a sound fit all the same, and they are not taken as sound."""
    gain = gains(rng)
    frames = frames_of(rng, gain=gain)
    defect = np.zeros(FACE, dtype=bool)
    defect[4:10, 5:12] = True
    warmer = 1 + 0.8 * np.exp(-1 / (ALPHA * TIMES / 1.5e-3**2))[:, None, None]
    found = fit_of(np.where(defect, warmer * frames, frames), surroundings=False).fit(1.3 * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.02)
    assert found.h_back == pytest.approx(BACK, rel=0.2)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.02)
    np.testing.assert_allclose(found.gain[~defect], gain[~defect], rtol=0.01)
    assert found.quiet[defect].max() < 0.2 * np.median(found.quiet[~defect])


def test_early_frames_that_no_slab_shows_are_left_out(rng):
    """An uneven flash that dies out: the first frames scatter, the later ones tell the diffusivity."""
    gain = gains(rng)
    frames = frames_of(rng, gain=gain)
    uneven = 1 + 0.2 * np.exp(-TIMES / 0.5)[:, None, None] * rng.standard_normal(FACE)
    found = fit_of(frames * uneven, surroundings=False).fit(1.2 * ALPHA)
    assert found.first > 0
    assert found.first <= found.clear < len(TIMES) // 2
    assert found.noise[0] > 10 * found.noise[-1]
    assert found.alpha == pytest.approx(ALPHA, rel=0.02)
    good = fit_of(frames, surroundings=False).fit(1.2 * ALPHA)
    assert (good.first, good.clear) == (0, 0)


def test_a_course_that_all_pixels_share_is_told_apart_from_the_part(rng):
    """A camera whose gain jumps from frame to frame, by more than the noise."""
    course = 1 + 0.005 * rng.standard_normal(len(TIMES))
    found = fit_of(frames_of(rng) * course[:, None, None], surroundings=False).fit(1.1 * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.05)
    steps = np.diff(np.log(found.common)), np.diff(np.log(course))
    np.testing.assert_allclose(*steps, atol=1e-3)
    assert np.exp(np.mean(np.log(found.common[found.first :]))) == pytest.approx(1)


def test_what_all_pixels_show_is_explained_even_where_it_could_be_the_part_or_the_pulse(rng):
    """A smooth course is partly taken for losses, but nothing of it is left to the volume."""
    course = 1 + 0.05 * np.exp(-TIMES / 0.6)
    fit = fit_of(frames_of(rng) * course[:, None, None], surroundings=False)
    found = fit.fit(1.1 * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.05)
    level = AMPLITUDE * course * slab_surface(TIMES, ALPHA, SIZE[0], h_front=FRONT, h_back=BACK, pulse=PULSE)
    np.testing.assert_allclose(found.amplitude * found.common * fit.surface(found), level, rtol=2e-3)


def test_a_fit_under_known_defects_takes_them_out(rng):
    """Half of the part changes the frames; told how, the fit is that of a sound part."""
    frames, modulation = frames_of(rng), np.ones((len(TIMES), *FACE))
    modulation[:, :, :11] = 1 + 0.5 * np.exp(-2.0 / TIMES)[:, None, None]
    fit = fit_of(frames * modulation, surroundings=False)
    first = fit.fit(1.2 * ALPHA)
    found = fit.fit(first, modulation)
    assert found.alpha == pytest.approx(ALPHA, rel=0.01)
    assert found.h_back == pytest.approx(BACK, rel=0.1)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.01)
    assert found.quiet[:, :11].mean() == pytest.approx(found.quiet[:, 11:].mean(), rel=0.2)


def test_only_the_pixels_named_sound_count(rng):
    """Most of the part is disturbed alike, which only those who know can tell."""
    frames = frames_of(rng)
    sound = np.zeros(FACE, dtype=bool)
    sound[:, :5] = True
    frames[:, ~sound] *= (1 + 0.5 * np.exp(-2.0 / TIMES))[:, None]
    fit = fit_of(frames, surroundings=False)
    assert fit.fit(ALPHA).alpha != pytest.approx(ALPHA, rel=0.02)
    found = fit.fit(ALPHA, sound=sound)
    assert found.alpha == pytest.approx(ALPHA, rel=0.02)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.02)
    assert (found.quiet[~sound] == 0).all()


def test_what_does_not_count_changes_nothing(rng):
    """Masked pixels, of which nothing is known, and values that are missing here and there."""
    gain = gains(rng)
    frames = frames_of(rng, gain=gain)
    counted = rng.random(frames.shape) < 0.9
    counted[:, :3] = False
    counted[5] = False  # a whole frame
    fit = fit_of(np.where(counted, frames, 1e6), counted, surroundings=False)
    found = fit.fit(1.2 * ALPHA)
    assert found.alpha == pytest.approx(ALPHA, rel=0.01)
    assert found.amplitude == pytest.approx(AMPLITUDE, rel=0.02)
    assert (found.gain[:3] == 1).all()
    assert (found.quiet[:3] == 0).all()
    relative = found.gain[3:] / gain[3:]
    np.testing.assert_allclose(relative / np.median(relative), 1, rtol=5e-3)
    assert np.isfinite(found.noise).all()


def test_units_do_not_matter(rng):
    """Millimetres and minutes."""
    frames, counted = frames_of(rng, margin=3e-3, gain=gains(rng)), np.ones((len(TIMES), *FACE), dtype=bool)
    here = fit_of(frames).fit(1.2 * ALPHA)
    z, y, x = (1e3 * s for s in SIZE)
    fit = SoundFit(frames, counted, TIMES / 60, np.full(len(TIMES), NOISE), (z, y, x), RATIOS, (0.0, PULSE[1] / 60))
    there = fit.fit(1.2 * ALPHA * 6e7)
    assert there.alpha == pytest.approx(here.alpha * 6e7, rel=1e-3)
    assert there.h_back == pytest.approx(here.h_back * 6e4, rel=1e-2)
    assert there.margin == pytest.approx(here.margin * 1e3, rel=1e-2)
    assert there.amplitude == pytest.approx(here.amplitude, rel=1e-3)


def test_what_cannot_be_fitted_is_named(rng):
    frames = frames_of(rng)
    with pytest.raises(NeftyError, match="no pixel has values in half of the frames"):
        fit_of(frames, np.arange(len(TIMES))[:, None, None] < np.ones(FACE))
    with pytest.raises(NeftyError, match="frames must be the rise above ambient"):
        fit_of(-frames, surroundings=False).fit(ALPHA)


def test_a_fit_is_a_record_of_plain_values(rng):
    found = fit_of(frames_of(rng)).fit(ALPHA)
    again = type(found)(**dataclasses.asdict(found))
    for field in dataclasses.fields(found):
        np.testing.assert_array_equal(getattr(again, field.name), getattr(found, field.name))


@pytest.mark.parametrize("loss", [0.0, 1e-2])
def test_frames_without_noise_are_fitted_without_a_warning(rng, loss):  # which would be an error here
    frames = frames_of(rng, noise=0.0, h=(loss, loss))  # with losses so high that late frames have no heat left
    found = fit_of(frames, noise=0.0, surroundings=False).fit(ALPHA, h=(loss, loss))
    assert np.isfinite(found.common).all()
    assert found.amplitude > 0


@pytest.mark.parametrize("scale", [0.0, 1e-200])
def test_frames_that_never_rise_are_refused_without_a_warning(rng, scale):
    with pytest.raises(NeftyError, match="do not depend on the part's diffusivity"):
        fit_of(scale * frames_of(rng), noise=scale * NOISE, surroundings=False).fit(ALPHA)


def test_the_spread_of_the_fit_covers_what_the_noise_does_to_it(rng):
    fits = [fit_of(frames_of(rng), surroundings=False).fit(1.2 * ALPHA) for _ in range(8)]
    for name, true in (("alpha", ALPHA), ("h_front", FRONT), ("h_back", BACK)):
        spread = np.array([getattr(f, f"{name}_spread") for f in fits])
        error = np.array([getattr(f, name) for f in fits]) - true
        assert (spread > 0).all()
        assert np.sqrt(np.mean((error / spread) ** 2)) < 1.5
    assert fits[0].alpha_spread == pytest.approx(0.0, abs=0.01 * ALPHA)
    assert fits[0].margin_spread is None


def test_less_noise_leaves_less_spread(rng):
    loud, quiet = (fit_of(frames_of(rng, noise=n), noise=n, surroundings=False).fit(ALPHA) for n in (0.1, 0.01))
    assert loud.alpha_spread is not None
    assert quiet.alpha_spread is not None
    assert loud.alpha_spread > 3 * quiet.alpha_spread


def test_the_frames_that_tell_the_gains_are_no_better_known_than_others(rng):
    """Errors that drift with time vanish where gains are taken; weighted by that, all gains would come from there."""
    drift = 0.01 * rng.standard_normal(FACE) * np.log(TIMES / TIMES[0])[:, None, None]
    frames = frames_of(rng, noise=0.0) * (1 + drift)
    found = fit_of(frames, noise=1e-5, surroundings=False).fit(ALPHA)
    relative = found.noise / (AMPLITUDE * slab_surface(TIMES, ALPHA, SIZE[0], h_front=FRONT, h_back=BACK, pulse=PULSE))
    assert relative.min() > 0.8 * np.median(relative)
