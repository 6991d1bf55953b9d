"""Where the part is in the picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.data.preparation.outline import find_outline, region_step, resolved


def picture(top, bottom, left, right, rng, background=0.02):
    rise = np.full((60, 80), background)
    rise[top:bottom, left:right] = 1
    return rise * (1 + 0.1 * np.linspace(-1, 1, 80)) + 0.01 * rng.standard_normal((60, 80))


@given(st.integers(0, 15), st.integers(35, 60), st.integers(3, 20), st.integers(45, 78))
def test_the_box_lies_just_inside_the_part(top, bottom, left, right):
    rise = picture(top, bottom, left, right, np.random.default_rng(0))
    found = find_outline(rise)
    assert found is not None
    for inner, outer, sign in zip(found, (top, bottom, left, right), (1, -1, 1, -1), strict=True):
        assert 0 <= sign * (inner - outer) <= 3


def test_dead_pixels_and_holes_do_not_matter(rng):
    rise = picture(10, 50, 10, 70, rng)
    rise[20:26, 30:36] = 0.1  # a cold spot
    rise[::7, ::9] = np.nan
    assert find_outline(rise) is not None


@pytest.mark.parametrize("background", [0.6, 1.0])
def test_a_part_that_fills_the_picture_has_none(rng, background):
    assert find_outline(picture(10, 50, 10, 70, rng, background)) is None
    assert find_outline(np.ones((60, 80))) is None
    assert find_outline(np.full((60, 80), np.nan)) is None


def test_a_round_part_gets_a_box_within_it():
    y, x = np.mgrid[:80, :80]
    disc = (y - 40) ** 2 + (x - 40) ** 2 < 30**2
    found = find_outline(np.where(disc, 1.0, 0.0) + 1e-3 * np.sin(y))
    assert found is not None
    top, bottom, left, right = found
    assert disc[top:bottom, left:right].mean() > 0.85


def test_regions_as_given_suggested_and_automatic(rng):
    rise = picture(10, 50, 12, 70, rng)
    region, suggested, said = region_step("off", rise)
    assert region == (0, 60, 0, 80)
    assert suggested == (12, 48, 14, 68)
    assert "rows 12 to 48" in said.text
    assert region_step("auto", rise)[0] == suggested
    region, _, said = region_step((5, -5, None, 40), rise)
    assert region == (5, 55, 0, 40)
    assert "as given" in said.text
    region, _, said = region_step("auto", np.ones((60, 80)))
    assert region == (0, 60, 0, 80)
    assert said.assumed


@pytest.mark.parametrize("region", [(0, 61, 0, 5), (5, 5, 0, 5), (10, 5, 0, 5), (0, 5, 0, 90), (-70, None, 0, 5)])
def test_a_region_outside_is_refused(region):
    with pytest.raises(InputError, match="do not lie within"):
        resolved(region, (60, 80))
