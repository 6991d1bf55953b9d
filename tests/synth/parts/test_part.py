"""Parts and their defects, seen from above and through the thickness."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.physics.materials import material
from nefty.synth.parts.history import LampPulse
from nefty.synth.parts.part import AIR, Film, FlatHole, Gap, Heat, Impact, Outline, Part, width_over_depth

DISC = Outline("ellipse", (5e-3, 6e-3), (4e-3, 4e-3))


def part(defects=(), **changes):
    heat = Heat(1e4, LampPulse(5e-3))
    facts = {"material": material("cfrp"), "thickness": 3e-3, "pixels": (20, 24), "pixel": 5e-4, "heat": heat}
    return Part(**{**facts, "fps": 25.0, "seconds": 20.0, "defects": tuple(defects), **changes})


def test_shares_of_cells_add_up_to_the_area():
    faces = np.linspace(0, 12e-3, 25)
    for outline, area in ((DISC, math.pi * 4e-6), (Outline("rectangle", (6e-3, 6e-3), (2e-3, 4e-3), 0.7), 8e-6)):
        shares = outline.shares(faces, faces)
        assert shares.sum() * 25e-8 == pytest.approx(area, rel=0.01)
        assert ((shares > 0) & (shares < 1)).any()


def test_an_outline_turns():
    upright = Outline("rectangle", (0.0, 0.0), (2.0, 6.0))
    turned = Outline("rectangle", (0.0, 0.0), (2.0, 6.0), math.pi / 2)
    assert upright.covers(np.array(0.0), np.array(2.5))
    assert not turned.covers(np.array(0.0), np.array(2.5))
    assert turned.covers(np.array(2.5), np.array(0.0))
    assert upright.reach == pytest.approx(math.sqrt(10))


def test_resistances():
    film = Film(DISC, 1e-3, 50e-6, 0.25, 2.2e6)
    assert film.resistance(0.5) == pytest.approx(1e-4)
    assert Gap(DISC, 1e-3, 26e-6).resistance(1e9) == pytest.approx(26e-6 / AIR[0])
    assert FlatHole(DISC, 1e-3).resistance(0.5) == math.inf
    impact = Impact((Gap(DISC, 1e-3, 26e-6), Gap(DISC, 2e-3, 26e-6)))
    assert impact.resistance(1e9) == pytest.approx(2e-3)


def test_an_impact_shows_its_uppermost_gap():
    wide = Outline("ellipse", DISC.centre, (8e-3, 8e-3))
    impact = Impact((Gap(DISC, 1e-3, 2e-5), Gap(wide, 2e-3, 2e-5)))
    depth = part().depth_under_pixels(impact)
    assert depth[9, 11] == 1e-3
    assert depth[9, 5] == 2e-3
    assert np.isnan(depth[0, 0])
    assert impact.outline is wide
    assert width_over_depth(impact) == pytest.approx(8)


def test_gaps_of_an_impact_come_in_order():
    with pytest.raises(InputError, match="uppermost first"):
        Impact((Gap(DISC, 2e-3, 2e-5), Gap(DISC, 1e-3, 2e-5)))


def test_a_part_that_ends_shows_less():
    there = part(edges=((3, None), (None, 20))).on_part()
    assert there.sum() == 17 * 20
    assert not there[:3].any()
    assert not there[:, 20:].any()


def test_uneven_heating_falls_off_and_may_end_with_the_frame():
    heat = Heat(1e4, LampPulse(5e-3), unevenness=0.3, brightest=(5e-3, 5e-3), spread=3e-3, beyond=False)
    at = np.array([-1e-3, 5e-3, 9.9e-3])
    profile = heat.on(at, at, (10e-3, 10e-3))
    assert profile[1, 1] == pytest.approx(1e4)
    assert 7e3 < profile[2, 2] < 1e4
    assert (profile[0] == 0).all()


def test_conductivities_are_those_of_the_material():
    cfrp = material("cfrp")
    assert part().k[0] == pytest.approx(cfrp.k)
    assert part().k[2] / part().k[0] == pytest.approx(cfrp.anisotropy[1])
    assert part().time == pytest.approx(9e-6 / cfrp.alpha_z)


def test_a_material_without_heat_capacity_is_refused():
    with pytest.raises(InputError, match="rho and cp"):
        part(material=material("epoxy"))
