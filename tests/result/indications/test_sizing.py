"""Sizes in maps whose answer is known: Gaussians, discs, slots, edges of the image, noise beside it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.result.indications.sizing import deficit_map, size_defect, size_defects, size_of_mask

FWHM = 2 * math.sqrt(2 * math.log(2))  # of a Gaussian with sigma 1


def positions(shape, spacing):
    return np.meshgrid(*((np.arange(n) + 0.5) * d for n, d in zip(shape, spacing, strict=True)), indexing="ij")


def gaussian(shape, spacing, centre, sigmas, degrees=0.0):
    """Height 1; sigmas along an axis turned by ``degrees`` from x towards y, and across."""
    y, x = positions(shape, spacing)
    y, x = y - centre[0], x - centre[1]
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.exp(-((c * x + s * y) ** 2) / (2 * sigmas[0] ** 2) - (-s * x + c * y) ** 2 / (2 * sigmas[1] ** 2))


def covered(shape, spacing, inside, finer=8):
    """Share of each pixel for which ``inside(y, x)`` holds."""
    fine = inside(*positions([n * finer for n in shape], [d / finer for d in spacing]))
    return fine.reshape(shape[0], finer, shape[1], finer).mean(axis=(1, 3))


def test_a_round_gaussian_on_a_pixel():
    values = gaussian((61, 61), (0.5, 0.5), (15.25, 15.25), (2.0, 2.0))
    found = size_defect(values, values > 0.5, (0.5, 0.5), sound=0.0)
    np.testing.assert_allclose(found.fwhm, 2.0 * FWHM, rtol=2e-3)
    assert found.area == pytest.approx(2 * math.pi * math.log(2) * 4.0, rel=1e-2)  # chords of the contour cut corners
    assert found.diameter == pytest.approx(2.0 * FWHM, rel=5e-3)
    assert found.centre == (pytest.approx(15.25), pytest.approx(15.25))
    assert (found.peak, found.sound) == (1.0, 0.0)


@given(st.floats(-89, 90), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
@settings(max_examples=10)
def test_a_long_gaussian_at_any_angle_between_pixels(degrees, dy, dx):
    spacing, centre = (0.4, 0.3), (10.0 + 0.4 * dy, 9.0 + 0.3 * dx)
    values = 3 - 2 * gaussian((50, 60), spacing, centre, (2.4, 1.2), degrees)  # colder than sound
    found = size_defect(values, values < 2, spacing, sound=3.0)
    np.testing.assert_allclose(found.fwhm, (2.4 * FWHM, 1.2 * FWHM), rtol=0.02)
    assert found.area == pytest.approx(2 * math.pi * math.log(2) * 2.4 * 1.2, rel=0.03)
    assert abs((found.angle - degrees + 90) % 180 - 90) < 1.5
    assert -90 < found.angle <= 90
    np.testing.assert_allclose(found.centre, centre, atol=0.02)
    assert found.peak == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("radius", [3.0, 5.5])
def test_a_disc_has_its_diameter(radius, shift):
    spacing, centre = (0.5, 0.5), (10 + 0.5 * shift, 10 - 0.5 * shift)
    disc = covered((40, 40), spacing, lambda y, x: (y - centre[0]) ** 2 + (x - centre[1]) ** 2 < radius**2)
    found = size_defect(disc, disc > 0.5, spacing, sound=0.0)
    np.testing.assert_allclose(found.fwhm, 2 * radius, atol=0.05 * 2 * 0.5)  # a twentieth of a pixel on each side
    assert found.diameter == pytest.approx(2 * radius, rel=5e-3)
    assert found.area == pytest.approx(math.pi * radius**2, rel=1e-2)
    np.testing.assert_allclose(found.centre, centre, atol=0.02)


def test_a_slot_is_as_long_and_as_wide_as_it_is():
    spacing = (0.25, 0.5)
    slot = covered((60, 50), spacing, lambda y, x: (np.abs(y - 7.3) < 1.1) & (np.abs(x - 12.6) < 4.2))
    found = size_defect(slot, slot > 0.5, spacing, sound=0.0)
    np.testing.assert_allclose(found.fwhm, (8.4, 2.2), atol=0.1)
    assert found.angle == pytest.approx(0, abs=0.5)
    assert found.area == pytest.approx(8.4 * 2.2, rel=0.02)
    upright = size_defect(slot.T.copy(), slot.T > 0.5, (spacing[1], spacing[0]), sound=0.0)
    assert abs(upright.angle) == pytest.approx(90, abs=0.5)
    np.testing.assert_allclose(upright.fwhm, found.fwhm, rtol=1e-9)


def test_the_sound_level_is_found_around_the_defect():
    values = 7 + 2 * gaussian((81, 81), (1.0, 1.0), (40.5, 40.5), (4.0, 4.0))
    values[:8] = 100.0  # further away than the ring
    found = size_defect(values, (values > 8) & (values < 50), (1.0, 1.0))
    assert found.sound == pytest.approx(7.0, abs=0.01)
    np.testing.assert_allclose(found.fwhm, 4 * FWHM, rtol=5e-3)


def test_neighbours_are_not_sound_and_not_part_of_it():
    spacing = (1.0, 1.0)
    one = gaussian((50, 90), spacing, (25.5, 25.5), (3.0, 3.0))
    other = 4 * gaussian((50, 90), spacing, (25.5, 60.5), (5.0, 5.0))
    labels = np.where(one > 0.5, 1, np.where(other > 0.2, 2, 0))
    found = size_defects(one + other, labels, spacing)
    np.testing.assert_allclose(found[0].fwhm, 3 * FWHM, rtol=0.01)
    np.testing.assert_allclose(found[1].fwhm, 5 * FWHM, rtol=0.01)
    assert found[0].centre == (pytest.approx(25.5, abs=0.05), pytest.approx(25.5, abs=0.05))
    assert size_defects(one, np.zeros((50, 90), int), spacing) == []


def test_regions_that_touch_at_a_corner_are_two():
    values = np.zeros((12, 12))
    values[3:6, 3:6] = 1
    values[6:10, 6:10] = 1
    mask = np.zeros_like(values, dtype=bool)
    mask[3:6, 3:6] = True
    found = size_defect(values, mask, (1.0, 1.0), sound=0.0)
    assert found.centre == (pytest.approx(5.0 - 0.5), pytest.approx(4.5))
    assert found.area == pytest.approx(9 - 4 / 8)  # the contour cuts off half a quarter of a pixel at each corner


def test_a_ring_has_the_area_within_it_and_no_width():
    values = covered((40, 40), (1.0, 1.0), lambda y, x: np.abs(np.hypot(y - 20, x - 20) - 9) < 3)
    found = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0)
    assert found.diameter == pytest.approx(24, rel=0.01)
    assert np.isnan(found.fwhm).all()  # its centre is sound


def test_what_leaves_the_image_has_no_size():
    values = gaussian((40, 40), (1.0, 1.0), (20.5, 3.5), (6.0, 4.0), 90)  # longer along y; cut off along x
    found = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0)
    assert found.fwhm[0] == pytest.approx(6 * FWHM, rel=0.02)
    assert math.isnan(found.fwhm[1])
    assert math.isnan(found.area)
    assert math.isnan(found.diameter)


def test_unknown_pixels_at_the_edge_of_a_defect_leave_it_without_a_size():
    values = gaussian((41, 41), (1.0, 1.0), (20.5, 20.5), (5.0, 3.0))
    known = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0)
    values[19:22, 25:28] = np.nan
    found = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0)
    assert math.isnan(found.fwhm[0])
    assert found.fwhm[1] == pytest.approx(known.fwhm[1], rel=0.02)
    assert math.isnan(found.area)
    values[np.isnan(values)] = 0
    values[2, 2] = np.nan  # far away it does not matter
    assert size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0).area > 0


def test_a_given_peak_moves_the_half():
    values = gaussian((61, 61), (1.0, 1.0), (30.5, 30.5), (5.0, 5.0))
    values[30, 30] = 3.0  # a hot pixel
    found = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0, peak=1.0)
    np.testing.assert_allclose(found.fwhm, 5 * FWHM, rtol=5e-3)
    quarter = size_defect(np.minimum(values, 1), values > 0.5, (1.0, 1.0), sound=0.0, peak=0.5)
    np.testing.assert_allclose(quarter.fwhm, 2 * 5 * math.sqrt(2 * math.log(4)), rtol=5e-3)


@given(st.floats(0.01, 100), st.floats(0.1, 10), st.floats(-10, 10), st.sampled_from([1, -1]))
@settings(max_examples=10)
def test_units_of_length_and_of_the_map_do_not_matter(unit, gain, offset, sign):
    values = gaussian((30, 30), (1.0, 1.0), (14.2, 15.1), (3.0, 2.0), 30)
    here = size_defect(values, values > 0.5, (1.0, 1.0), sound=0.0)
    there = size_defect(offset + sign * gain * values, values > 0.5, (unit, unit), sound=offset)
    np.testing.assert_allclose(there.fwhm, np.multiply(unit, here.fwhm), rtol=1e-6)
    assert there.area == pytest.approx(unit**2 * here.area, rel=1e-6)


def test_the_deficit_of_a_volume():
    grid = Grid((4, 20, 24), (2.0, 10.0, 12.0))
    background = np.array([0.2, 0.2, 0.1, 0.1])
    alpha = np.broadcast_to(background[:, None, None], grid.shape).copy()
    alpha[1, 6:14, 8:16] = 0.05
    deficit = deficit_map(alpha, background)
    assert deficit[0, 0] == 0
    assert deficit[10, 12] == pytest.approx(0.75 / 4)
    found = size_defect(deficit, deficit > 0.1, grid.spacing[1:], sound=0.0)
    np.testing.assert_allclose(found.fwhm, 4.0)
    assert found.centre == (pytest.approx(5.0), pytest.approx(6.0))
    with pytest.raises(InputError, match=r"background \(3,\)"):
        deficit_map(alpha, background[:3])


SPOT = gaussian((20, 20), (1.0, 1.0), (10.0, 10.0), (2.0, 2.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": np.zeros((20, 20), bool)}, "mask holds 0 pixels and none with a value"),
        ({"mask": SPOT}, "mask has shape .* and type float64; give booleans"),
        ({"mask": np.ones((3, 3), bool)}, r"mask has shape \(3, 3\)"),
        ({"values": SPOT[None]}, r"shape \(1, 20, 20\)"),
        ({"values": np.full((20, 20), np.nan)}, "none with a value"),
        ({"values": np.full((20, 20), np.inf)}, "infinity"),
        ({"values": np.ones((20, 20)), "sound": 1.0}, "half way from the sound level 1 to the peak 1"),
        ({"peak": 5.0, "sound": 0.0}, "half way from the sound level 0 to the peak 5"),
        ({"spacing": (1.0, 0.0)}, "spacing along x=0 must be above 0"),
        ({"mask": np.ones((20, 20), bool)}, "no sound pixel between 22.6 and 45.1"),
        ({"others": np.ones((20, 20), bool)}, "no sound pixel"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {"values": SPOT, "mask": SPOT > 0.5, "spacing": (1.0, 1.0), **change}
    with pytest.raises(InputError, match=message):
        size_defect(**given)


def test_labels_are_whole_numbers():
    with pytest.raises(InputError, match="labels must be whole numbers"):
        size_defects(SPOT, SPOT, (1.0, 1.0))


@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0])
def test_a_mask_has_the_axes_of_its_ellipse_and_its_own_area(degrees):
    mask = gaussian((80, 60), (0.3, 0.4), (12.0, 12.0), (4.0, 2.0), degrees) > math.exp(-0.5)
    size = size_of_mask(mask, (0.3, 0.4))
    assert size.fwhm == pytest.approx((8.0, 4.0), rel=0.03)
    assert math.pi / 4 * size.fwhm[0] * size.fwhm[1] == pytest.approx(size.area)
    assert size.area == pytest.approx(0.12 * mask.sum())
    assert size.centre == pytest.approx((12.0, 12.0), abs=0.05)
    assert size.angle == pytest.approx(degrees, abs=1.5)


def test_a_single_pixel_and_a_line_of_them_have_a_width():
    mask = np.zeros((5, 9), bool)
    mask[2, 3] = True
    assert size_of_mask(mask, (1.0, 1.0)).fwhm == pytest.approx((math.sqrt(4 / math.pi),) * 2)
    mask[2, 1:8] = True
    long, short = size_of_mask(mask, (1.0, 1.0)).fwhm
    assert long / short == pytest.approx(7.0)
