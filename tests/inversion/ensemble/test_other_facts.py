"""Facts of members: as wide as users are wrong, even, and only of what users state."""

import dataclasses
from typing import Any

import numpy as np

from nefty import Sequence, UniformFlash
from nefty.inversion.ensemble.facts import OtherFacts, spread_evenly
from nefty.inversion.ensemble.settings import EnsembleSettings

WIDTHS = EnsembleSettings()


def logarithms(members):
    return np.log([dataclasses.astuple(OtherFacts.drawn(0, i, WIDTHS))[:6] for i in range(members)])


def test_eight_members_scatter_like_many():
    asked = np.log1p([WIDTHS.thickness, WIDTHS.diffusivity, 0, WIDTHS.pulse, WIDTHS.losses, WIDTHS.penalties])
    asked[2] = WIDTHS.ratio
    for members, tolerance in ((8, 0.3), (256, 0.06)):
        assert np.allclose(logarithms(members).std(axis=0), asked, rtol=tolerance)


def test_the_sequence_is_even_and_its_seed_shifts_it():
    points = np.array([spread_evenly(3, i, 2) for i in range(64)])
    assert np.histogram2d(*points.T, bins=4, range=[[0, 1], [0, 1]])[0].min() >= 2
    assert not np.allclose(spread_evenly(3, 0, 2), spread_evenly(4, 0, 2))


def test_what_a_member_is_told(plate):
    facts = OtherFacts(1.02, 1.1, 1.2, 1.3, 2.0, start=0.5)
    told: Any = facts.told(plate)
    assert told.size == (1.02 * plate.size[0], *plate.size[1:])
    assert told.excitation.duration == 1.3 * plate.excitation.duration
    assert told.facts.material.alpha_z == 1.1 * plate.facts.material.alpha_z
    assert np.allclose(told.times - plate.times, 0.5 * np.diff(plate.times).min())
    assert told.anisotropy == (1.0, 1.0)  # of an isotropic material users know that it is
    laminate = dataclasses.replace(plate, anisotropy=(1.0, 5.0))
    assert facts.told(laminate).anisotropy == (1.0, 6.0)


def test_unitless_recordings_keep_their_facts():
    unitless = Sequence(np.ones((3, 4, 4)), np.arange(1.0, 4.0), size=(1, 4, 4), excitation=UniformFlash())
    assert OtherFacts(1.02, start=0.3).told(unitless) is unitless


def test_a_frame_never_comes_before_the_flash(plate):
    soon = dataclasses.replace(plate, times=1e-3 + plate.times - plate.times[0])
    assert OtherFacts(start=-0.5).told(soon).times[0] > 0
