"""The shape of a sound part's decay, and its unknowns."""

from math import exp, log, sqrt

import numpy as np
import pytest

from nefty.inversion.calibration.prior import SoundPrior
from nefty.inversion.calibration.settings import DecaySettings
from nefty.inversion.calibration.sound_shape import SoundShape
from nefty.physics.slab.lateral_spreading import remaining_share
from nefty.physics.slab.surface import slab_surface

SIZE, FACE, RATIOS, PULSE = (4e-3, 36e-3, 44e-3), (6, 8), (1.4, 0.8), (0.0, 5e-3)
TIMES = np.geomspace(0.3, 120.0, 20)
ALPHA, H, DELAY = 1.3e-7, (5e-6, 1.2e-5), 2e-3
LENGTH = sqrt(4 * ALPHA * 1.4 * TIMES[-1])
SETTINGS = DecaySettings()


def shape_of(*, losses=(True, True), surroundings=True, prior: SoundPrior | None = None) -> SoundShape:
    more = {"losses": losses, "surroundings": surroundings, "settings": SETTINGS, "prior": prior}
    return SoundShape(FACE, TIMES, SIZE, RATIOS, PULSE, **more)


PRIOR = SoundPrior(ALPHA, 0.1, H, H, delay_width=DELAY, margin_width=2.0)


def test_it_is_the_surface_of_a_slab_times_what_flows_out_sideways():
    shape = shape_of(prior=PRIOR)
    theta = shape.unknowns(ALPHA, H, margin=3e-3, delay=DELAY / 2)
    late = (DELAY / 2, PULSE[1] + DELAY / 2)
    surface = slab_surface(TIMES, ALPHA, SIZE[0], h_front=H[0], h_back=H[1], pulse=late)
    share = remaining_share(TIMES, (ALPHA * RATIOS[0], ALPHA * RATIOS[1]), SIZE[1:], FACE, 3e-3)
    np.testing.assert_allclose(shape(theta), surface[:, None, None] * share, rtol=1e-12)


def test_the_unknowns_are_told_back_as_the_part():
    shape = shape_of(prior=PRIOR)
    theta = shape.unknowns(ALPHA, H, margin=3e-3, delay=DELAY)
    assert theta["delay"] == 1  # in widths
    assert (exp(theta["alpha"]), shape.margin(theta), shape.delay(theta)) == pytest.approx((ALPHA, 3e-3, DELAY))
    assert shape.losses(theta) == pytest.approx(H)
    one = shape.in_units(dict.fromkeys(shape.names, 1.0), ALPHA, 3e-3)
    biot = ALPHA / SIZE[0]
    assert one == {"alpha": ALPHA, "front": biot, "back": biot, "margin": 3e-3, "delay": DELAY}


def test_a_margin_is_one_diffusion_length_if_unknown_and_not_felt_far_away():
    shape = shape_of()
    assert shape.unknowns(ALPHA, H)["margin"] == pytest.approx(log(LENGTH))
    far = shape.unknowns(ALPHA, H, margin=np.inf)
    assert shape.margin(far) == np.inf
    assert shape(far).shape == (len(TIMES), 1, 1)


def test_what_is_not_free_has_no_centre_and_no_cost():
    shape = shape_of(losses=(False, True), surroundings=False, prior=PRIOR)
    assert shape.names == ["alpha", "back", "delay"]
    assert list(shape.centres()) == shape.names
    theta = shape.unknowns(ALPHA, H)
    assert shape.prior_cost(theta) == pytest.approx(0)
    assert shape.prior_cost({**theta, "alpha": theta["alpha"] + 0.2, "front": 1.0}) == pytest.approx(4)
    alone = shape_of()
    assert alone.names == ["alpha", "front", "back", "margin"]
    assert (alone.centres(), alone.prior_cost(theta)) == ({}, 0)


def test_unknowns_stay_within_their_bounds():
    shape = shape_of(prior=PRIOR)
    theta = shape.unknowns(ALPHA, H)
    assert shape.bounded("alpha", 100.0, theta) == pytest.approx(log(ALPHA) + SETTINGS.farthest * 0.1)
    assert shape.bounded("delay", -100.0, theta) == -SETTINGS.farthest
    assert shape.bounded("front", -1.0, theta) == 0
    assert shape.bounded("back", 100.0, theta) == SETTINGS.largest_biot
    assert shape.bounded("margin", -100.0, theta) == pytest.approx(log(SETTINGS.narrowest_margin * LENGTH))
    assert shape.bounded("margin", 100.0, theta) == pytest.approx(log(SETTINGS.widest_margin * LENGTH))
