"""What the user stated is a prior: recordings that cannot tell leave it, and nothing runs away from it."""

from math import log

import numpy as np
import pytest

from nefty import Boundary, Grid, HeatModel, TopHatPulse
from nefty.inversion.calibration.prior import SoundPrior
from nefty.inversion.calibration.real_part import RealPartCalibration
from nefty.inversion.calibration.settings import DecaySettings
from nefty.inversion.calibration.sound_decay import SoundFit
from nefty.inversion.observation import Observation
from nefty.inversion.recipe import load_recipe
from nefty.physics.slab.lateral_spreading import remaining_share
from nefty.physics.slab.surface import slab_surface
from nefty.result.moved_facts import CONTRADICTED

ALPHA, H, LOSS = 4.4e-7, 3.8e-3, 7e-6
SIZE, FACE = (H, 28e-3, 32e-3), (14, 16)
ALONG, PULSE = (5.0, 5.0), (0.0, 5e-3)
TIME = H**2 / ALPHA
WIDTHS = DecaySettings()
NOISE = 5e-3
RECIPE = load_recipe("real", {"model.layers": 8})


def frames_of(rng, last, *, margin=np.inf, alpha=ALPHA, amplitude=2.5):
    """A sound part in 40 frames up to ``last`` H^2/alpha."""
    times = TIME * np.geomspace(0.005, last, 40)
    level = amplitude * slab_surface(times, alpha, H, h_front=LOSS, h_back=LOSS, pulse=PULSE)
    frames = np.broadcast_to(level[:, None, None], (len(times), *FACE))
    if np.isfinite(margin):
        frames = frames * remaining_share(times, (alpha * ALONG[0], alpha * ALONG[1]), SIZE[1:], FACE, margin)
    return times, frames + NOISE * rng.standard_normal(frames.shape)


def prior_of(stated=ALPHA):
    delay = 0.3 * 0.005 * TIME
    return SoundPrior(stated, WIDTHS.alpha_width, (LOSS, LOSS), (LOSS, LOSS), delay, WIDTHS.margin_width)


def fit_of(times, frames, prior, **more):
    counted = np.ones(frames.shape, dtype=bool)
    return SoundFit(frames, counted, times, np.full(len(times), NOISE), SIZE, ALONG, PULSE, prior=prior, **more)


def calibrated(times, frames, stated=ALPHA, *, recipe=RECIPE):
    grid = Grid((8, *FACE), SIZE)
    boundary = Boundary("adiabatic", "robin", "robin", h_front=LOSS, h_back=LOSS)
    model = HeatModel(grid, times, TopHatPulse(duration=PULSE[1]), boundary, anisotropy=ALONG)
    seen = Observation(grid, times, frames, np.ones(frames.shape, dtype=bool), NOISE)
    return RealPartCalibration(model, seen, stated, recipe.calibration, floor=recipe.noise.floor)


def widths_off(found, stated):
    return abs(log(found / stated)) / WIDTHS.alpha_width


def test_a_prior_has_a_centre_and_a_width_for_every_unknown():
    prior = SoundPrior(2e-7, 0.1, (1e-6, 2e-6), (3e-6, 4e-6), 0.05, 2.0)
    centres = prior.centres(4e-3, 0.01)
    assert centres["alpha"] == (pytest.approx(log(2e-7)), 0.1)
    assert centres["front"] == (pytest.approx(0.02), pytest.approx(0.06))  # h H/alpha
    assert centres["back"] == (pytest.approx(0.04), pytest.approx(0.08))
    assert centres["margin"] == (pytest.approx(log(0.01)), 2.0)
    assert centres["delay"] == (0.0, 1.0)  # the unknown is counted in widths


@pytest.mark.parametrize("stated", [0.85, 1.2])
def test_a_recording_that_sees_the_back_wall_overrules_what_was_stated(rng, stated):
    times, frames = frames_of(rng, 1.5)
    found = fit_of(times, frames, prior_of(stated * ALPHA), surroundings=False).fit(stated * ALPHA, h=(LOSS, LOSS))
    assert found.alpha == pytest.approx(ALPHA, rel=0.03)
    assert found.alpha_spread is not None
    assert found.alpha_spread < 0.3 * WIDTHS.alpha_width * ALPHA


@pytest.mark.parametrize("stated", [0.8, 1.0, 1.25])
def test_a_recording_that_ends_before_it_leaves_what_was_stated(rng, stated):
    """Up to 0.06 H^2/alpha, where a half space does the same for every diffusivity."""
    times, frames = frames_of(rng, 0.06)
    found = calibrated(times, frames, stated * ALPHA)
    assert widths_off(found.decay.alpha, found.prior.alpha) < 1.0
    assert found.decay.alpha_spread is not None
    assert found.decay.alpha_spread > 0.5 * WIDTHS.alpha_width * found.decay.alpha  # and says that it does not know
    np.testing.assert_array_equal(found.background, np.full(8, found.decay.alpha))


def test_what_flows_out_sideways_tells_some_of_it(rng):
    """Of a part whose surroundings were not heated, before the back wall is seen: towards the truth, not past it."""
    times, frames = frames_of(rng, 0.06, margin=4e-3)
    for stated in (0.8, 1.25):
        found = calibrated(times, frames, stated * ALPHA).decay.alpha
        assert min(stated, 1) < found / ALPHA < max(stated, 1)


def drifting(times, frames):
    return frames + 0.03 * frames[-1].mean() * (times / times[-1])[:, None, None]


def sinking(times, frames):
    return frames - 0.03 * frames[-1].mean() * (times / times[-1])[:, None, None]


def glowing(times, frames):
    return frames * (1 + 0.15 * np.exp(-times / (0.05 * TIME)))[:, None, None]


def test_a_calibration_that_would_run_away_stays(rng):
    """A sound plate, recorded for too short a time, while the ambient drifts by 3 % of the last rise."""
    times, frames = frames_of(rng, 0.06)
    frames = drifting(times, frames)
    free = fit_of(times, frames, None).fit(ALPHA, h=(LOSS, LOSS))
    assert widths_off(free.alpha, ALPHA) > 1.5 * WIDTHS.farthest  # how far it runs depends on rounding
    found = calibrated(times, frames)
    assert widths_off(found.decay.alpha, found.prior.alpha) < 1
    assert {row.name: row for row in found.summary()}["diffusivity through the thickness"].start == ALPHA


@pytest.mark.parametrize("tempting", [drifting, sinking, glowing])
@pytest.mark.parametrize("margin", [np.inf, 1e-3])
def test_decays_that_another_part_would_explain_better_do_not_run_away(rng, tempting, margin):
    """Ambient that drifts, or lamps that glow on, besides surroundings that were not heated."""
    times, frames = frames_of(rng, 0.5, margin=margin)
    found = calibrated(times, tempting(times, frames))
    assert widths_off(found.decay.alpha, found.prior.alpha) < CONTRADICTED
    assert abs(found.decay.delay) <= WIDTHS.farthest * found.prior.delay_width * (1 + 1e-9)


def test_a_stated_value_that_is_wrong_by_far_is_not_left_by_more_than_the_farthest(rng):
    times, frames = frames_of(rng, 1.0)
    for stated in (ALPHA / 5, 5 * ALPHA):
        found = fit_of(times, frames, prior_of(stated), surroundings=False).fit(stated, h=(LOSS, LOSS))
        assert widths_off(found.alpha, stated) <= WIDTHS.farthest * (1 + 1e-9)
        assert widths_off(found.alpha, stated) > 1  # it pulls that way


@pytest.mark.parametrize("begun", [0.01, 0.15, 0.5, 2.0])
def test_a_heated_margin_that_is_begun_wrong_ends_within_the_prior(rng, begun):
    """Each margin has a basin of its own; alone, none of them takes the diffusivity along."""
    times, frames = frames_of(rng, 0.4, margin=2e-3)
    alone = WIDTHS.model_copy(update={"margins": (begun,)})
    found = fit_of(times, frames, prior_of(), settings=alone).fit(ALPHA, h=(LOSS, LOSS))
    assert widths_off(found.alpha, ALPHA) < CONTRADICTED
    best = fit_of(times, frames, prior_of()).fit(ALPHA, h=(LOSS, LOSS))
    assert best.alpha == pytest.approx(ALPHA, rel=0.06)


def test_pixels_beside_the_part_do_not_count(rng):
    times, frames = frames_of(rng, 1.0)
    clean = calibrated(times, frames)
    frames = frames.copy()
    frames[:, :, 12:] = NOISE * rng.standard_normal(frames[:, :, 12:].shape)
    found = calibrated(times, frames)
    assert found.decay.alpha == pytest.approx(clean.decay.alpha, rel=0.03)
    assert not found.observation.counted[:, :, 12:].any()
    assert not found.observation.counted[:, :, 11].any()  # which the lens blurs
    assert found.observation.counted[:, :, :10].all()
    assert any("are not the part" in note.text for note in found.notes())
    assert not any("are not the part" in note.text for note in clean.notes())


def test_one_cold_pixel_is_not_the_edge_of_the_part(rng):
    times, frames = frames_of(rng, 1.0)
    frames = frames.copy()
    frames[:, 5, 5] *= 0.1
    assert calibrated(times, frames).observation.counted[:, 5, 6].all()
