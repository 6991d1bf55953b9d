"""What speaks for a defect: its pixel in the frames, its size in a map, the band of its depth, its SNR."""

import math
from dataclasses import replace

import numpy as np
import pytest

from nefty.core.grid import Grid
from nefty.data.facts import Window
from nefty.result.indications.depth_band import relative_error
from nefty.result.indications.detection_image import detection_image, heating, visibility
from nefty.result.indications.surroundings import around, around_mask, centring
from support.parts import BULK, COLUMNS, FACTS, GRID, NOISE, ROWS, TIMES, planted

DZ = GRID.spacing[0]


@pytest.fixture(scope="module")
def rec():
    return planted()


def test_the_position_is_that_of_the_pixels_that_stay_warm(rec):
    """Off-centre, 30 x 44 pixels of 0.3 mm x 0.2 mm: rows and columns cannot be mistaken for each other."""
    (defect,), (found,) = rec.defects(), rec.evidence()
    late = rec.measured[np.searchsorted(TIMES, 0.6)]
    warm = late > (late.max() + np.median(late)) / 2
    row, column = np.argwhere(warm).mean(axis=0)
    assert abs(found.row - row) <= 1
    assert abs(found.column - column) <= 1
    assert (found.row, found.column) == (20, 11)
    assert defect.centre[1] == pytest.approx((ROWS.start + ROWS.stop) / 2 * 0.3e-3, abs=1e-5)
    assert defect.centre[2] == pytest.approx((COLUMNS.start + COLUMNS.stop) / 2 * 0.2e-3, abs=1e-5)


def test_the_pixel_is_one_of_the_frames_before_they_were_cut_and_averaged(rec):
    cut = replace(rec, facts=FACTS.replaced(window=Window(top=100, left=40, bin=3)))
    (found,) = cut.evidence()
    assert (found.row, found.column) == (100 + 3 * 20 + 1, 40 + 3 * 11 + 1)
    assert cut.defects()[0].centre == rec.defects()[0].centre


def test_the_size_at_half_maximum_is_that_of_the_box(rec):
    (found,) = rec.evidence()
    assert found.fwhm_long == pytest.approx(2.2e-3, rel=0.02)
    assert found.fwhm_short == pytest.approx(2.1e-3, rel=0.02)
    assert found.fwhm_area == pytest.approx(4.62e-6, rel=0.02)


def test_the_other_of_two_defects_does_not_count(rec):
    alpha = rec.alpha.copy()
    alpha[10:13, 2:28, 6:40] = 0.04 * BULK  # larger, below the first
    two = {e.label: e for e in replace(rec, alpha=alpha).evidence()}
    assert len(two) == 2
    assert two[2].fwhm_long == pytest.approx(2.2e-3, rel=0.05)


def test_a_defect_at_the_side_has_no_length_across_it(rec):
    alpha = np.full(GRID.shape, BULK)
    alpha[6:9, 10:20, :7] = 0.04 * BULK
    (found,) = replace(rec, alpha=alpha).evidence()
    assert math.isnan(found.fwhm_area)
    assert math.isnan(found.fwhm_long) != math.isnan(found.fwhm_short)


def test_a_defect_across_a_periodic_corner_is_as_large_as_in_the_middle(rec):
    here = replace(rec, lateral="periodic")
    moved = {name: np.roll(getattr(rec, name), (-21, -10), (-2, -1)) for name in ("alpha", "measured", "fitted")}
    (one,), (other,) = here.evidence(), replace(here, **moved).evidence()
    for name in ("fwhm_long", "fwhm_short", "fwhm_area", "snr", "depth_low", "depth_high"):
        assert getattr(other, name) == pytest.approx(getattr(one, name))
    assert (other.row, other.column) == ((one.row - 21) % 30, (one.column - 10) % 44)


def test_the_snr_is_that_of_its_formula_in_the_best_frame(rec):
    (found,) = rec.evidence()
    place = around(1, rec.segmentation(), rec.grid)
    heated = heating(rec.fitted)
    ratios = []
    for frame in rec.measured:
        image = detection_image(frame, heated, place.sound)
        d, s = image[place.footprint], image[place.sound]
        ratios.append(abs(d.mean() - s.mean()) / s.std(ddof=1))
    assert found.frame == int(np.argmax(ratios))
    assert found.time == TIMES[found.frame]
    assert found.snr == pytest.approx(20 * math.log10(max(ratios)))
    assert found.thermal_contrast > 1


def test_uneven_heating_that_the_model_knows_goes_out_of_the_detection_image(rec):
    gain = 1 + 0.3 * np.linspace(-1, 1, 44) * np.linspace(-1, 1, 30)[:, None]
    uneven = replace(rec, measured=rec.fitted * gain + rec.residual, fitted=rec.fitted * gain)
    (even,), (found,) = rec.evidence(), uneven.evidence()
    assert found.snr == pytest.approx(even.snr, abs=1.5)
    assert found.thermal_contrast == pytest.approx(even.thermal_contrast, rel=0.1)


def test_sound_places_have_next_to_no_snr(rec):
    patch = np.zeros(GRID.shape[1:], dtype=bool)
    patch[3:9, 30:38] = True
    seen = visibility(rec.measured, heating(rec.fitted), around_mask(patch, rec.segmentation().footprint, GRID))
    assert seen is not None
    assert seen.snr < 0 < rec.evidence()[0].snr - 30


def test_unknown_pixels_leave_the_snr_unknown(rec):
    measured = rec.measured.copy()
    measured[:, ROWS, COLUMNS] = np.nan
    (found,) = replace(rec, measured=measured).evidence()
    assert math.isnan(found.snr)
    assert found.frame == -1
    assert (found.depth_low, found.depth_high) == (0.0, GRID.size[0])  # the decay tells nothing


def test_the_surroundings_are_sound_and_near(rec):
    place = around(1, rec.segmentation(), rec.grid)
    assert place.footprint.sum() == 77
    assert (place.core <= place.footprint).all()
    assert 0 < place.core.sum() < 40
    assert not (place.sound & place.footprint).any()
    everywhere = np.ones(GRID.shape[1:], dtype=bool)
    everywhere[0, 0] = False
    assert np.argwhere(around_mask(everywhere, everywhere, GRID).sound).tolist() == [[0, 0]]


def test_centring_makes_one_piece_of_a_patch_across_the_sides():
    patch = np.zeros((8, 11), dtype=bool)
    patch[[7, 0, 1]] = True
    patch &= np.isin(np.arange(11), (9, 10, 0))
    moved = np.roll(patch, centring(patch), (0, 1))
    assert np.argwhere(moved).min(axis=0).tolist() == [2, 4]
    assert np.argwhere(moved).max(axis=0).tolist() == [4, 6]


def test_the_band_holds_the_depth_and_is_no_narrower_than_a_cell(rec):
    (defect,), (found,) = rec.defects(), rec.evidence()
    assert found.depth_low < 0.6e-3 < found.depth_high
    assert found.depth_high - found.depth_low == pytest.approx(2 * math.hypot(DZ / 2, 0.6e-3 * error_of(rec)))
    assert (found.depth_low + found.depth_high) / 2 == pytest.approx(defect.depth_to_top)


def error_of(rec):
    return relative_error(rec, around(1, rec.segmentation(), rec.grid))


def test_the_change_of_the_decay_with_depth_is_that_of_the_model(rec):
    """The estimate against the same part with its defect one cell deeper, at the time when the two differ most."""
    deeper = planted(layers=slice(7, 10))
    place = around(1, rec.segmentation(), rec.grid)
    moved = np.abs((deeper.fitted - rec.fitted)[:, place.core].mean(axis=1)).max()
    true = NOISE * math.log(7 / 6) / moved
    assert error_of(rec) == pytest.approx(true, rel=0.35)
    assert error_of(rec) > true  # lateral heat flow: on the safe side


@pytest.mark.parametrize("factor", [2.0, 10.0])
def test_noise_widens_the_band_in_proportion(rec, factor):
    noisy = replace(rec, noise=factor * NOISE, measured=rec.fitted + factor * rec.residual)
    assert error_of(noisy) == pytest.approx(factor * error_of(rec), rel=0.05)
    per_frame = replace(noisy, measured=rec.fitted)  # nothing left over, but the noise is known
    assert error_of(per_frame) == pytest.approx(factor * error_of(rec), rel=0.1)


def test_what_is_left_over_counts_as_noise(rec):
    off = rec.measured.copy()
    off[:, ROWS, COLUMNS] += 0.5
    assert error_of(replace(rec, measured=off)) == pytest.approx(25 * error_of(rec), rel=0.1)
    assert error_of(replace(rec, noise=None)) == pytest.approx(error_of(rec), rel=0.25)


def test_a_smeared_edge_widens_the_band(rec):
    alpha = rec.alpha.copy()
    alpha[5, ROWS, COLUMNS], alpha[4, ROWS, COLUMNS] = 0.12 * BULK, 0.35 * BULK
    (defect,), (found,) = (lambda r: (r.defects(), r.evidence()))(replace(rec, alpha=alpha))
    assert defect.depth_blur > 1.2 * DZ
    assert found.depth_high - found.depth_low >= 2 * defect.depth_blur


def test_a_sloping_top_widens_the_band(rec):
    alpha = np.full(GRID.shape, BULK)
    for step, column in enumerate(range(6, 17)):
        alpha[4 + step // 3 : 11, ROWS, column] = 0.04 * BULK
    (defect,), (found,) = (lambda r: (r.defects(), r.evidence()))(replace(rec, alpha=alpha))
    assert defect.depth_spread > 0.4 * DZ
    assert found.depth_high - found.depth_low > 2 * defect.depth_spread


def test_frames_that_do_not_depend_on_the_depth_leave_it_open(rec):
    even = np.broadcast_to(rec.fitted.mean(axis=(1, 2))[:, None, None], rec.fitted.shape)
    (found,) = replace(rec, fitted=even, measured=even).evidence()
    assert (found.depth_low, found.depth_high) == (0.0, GRID.size[0])


def test_two_faces_and_one_pixel_defects_do_no_harm(rec):
    both = replace(rec, measured=np.stack([rec.measured] * 2), fitted=np.stack([rec.fitted] * 2))
    assert both.evidence() == rec.evidence()
    tiny = Grid((4, 5, 5), (1.0, 5.0, 5.0))
    place = around_mask(np.eye(5, dtype=bool) & (np.arange(5) == 2), np.zeros((5, 5), bool), tiny)
    assert place.core.sum() == 1
