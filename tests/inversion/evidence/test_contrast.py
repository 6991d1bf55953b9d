"""What a pixel, a row or a column may do by itself is no contrast; what is left has a known spread."""

import numpy as np
import pytest

from support.weak_films import PIXEL, SPREAD, TIMES, contrast_of, disc, shown_by

SHAPE = (26, 30)


def empty(*, weight=None):
    return contrast_of(np.zeros((len(TIMES), *SHAPE)), weight=weight)


def test_gain_and_early_deviation_of_a_pixel_go_out_exactly(rng):
    gain, early = rng.standard_normal((2, *SHAPE))
    values = gain + early * ((TIMES[0] / TIMES) ** 2)[:, None, None]
    np.testing.assert_allclose(empty().whitened(values), 0, atol=1e-9)


def test_what_is_left_is_over_its_spread_and_orthogonal_to_them(rng):
    contrast = contrast_of(np.zeros((len(TIMES), *SHAPE)), rng)
    white = contrast.whitened(contrast.values)
    np.testing.assert_allclose(np.tensordot(contrast.nuisances, white, axes=1), 0, atol=1e-9)
    np.testing.assert_allclose(contrast.nuisances @ contrast.nuisances.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(contrast.whitened(SPREAD[:, None, None] * white), white, atol=1e-9)  # as if new values
    kept = 1 - (contrast.nuisances**2).sum(axis=0)
    np.testing.assert_allclose(white.var(axis=(1, 2)), kept, atol=0.15)


@pytest.mark.parametrize("masked", [False, True])
def test_what_rows_and_columns_have_in_common_goes_out_exactly(rng, masked):
    along_y, along_x = rng.standard_normal((len(TIMES), SHAPE[0], 1)), rng.standard_normal((len(TIMES), 1, SHAPE[1]))
    weight = np.ones(SHAPE)
    if masked:
        weight[:4, :7] = 0
    contrast = contrast_of(along_y + along_x, weight=weight)
    np.testing.assert_allclose(contrast.evened(contrast.counted).values, 0, atol=1e-9)


def test_a_defect_stays_when_sound_pixels_tell_the_rows_and_columns(rng):
    under = disc(SHAPE, (12, 14), 4)
    defect = shown_by(0.2 * under, 0.3, layers=20)
    shared = 0.05 * rng.standard_normal((len(TIMES), SHAPE[0], 1))
    far = ~disc(SHAPE, (12, 14), 9)
    contrast = contrast_of(defect + shared).evened(far)
    shown = defect[:, under].mean(axis=1)
    np.testing.assert_allclose(contrast.values[:, under].mean(axis=1), shown, atol=0.03 * shown.max())


def test_rows_with_too_few_sound_pixels_take_what_lies_between_their_neighbours():
    """In a straight line from row to row, so it is right all the same."""
    values = np.broadcast_to(np.linspace(0, 1, SHAPE[0])[:, None], (len(TIMES), *SHAPE)).copy()
    sound = np.ones(SHAPE, dtype=bool)
    sound[9:13, 3:] = False
    np.testing.assert_allclose(contrast_of(values).evened(sound).values, 0, atol=1e-9)


def test_without_any_sound_row_nothing_is_taken_away(rng):
    contrast = contrast_of(np.zeros((len(TIMES), *SHAPE)), rng)
    np.testing.assert_array_equal(contrast.evened(np.zeros(SHAPE, dtype=bool)).values, contrast.values)


def test_pixels_that_do_not_count_hold_nothing(rng):
    weight = np.ones(SHAPE)
    weight[3:5] = 0
    contrast = contrast_of(np.zeros((len(TIMES), *SHAPE)), rng, weight)
    assert not contrast.counted[3:5].any()
    assert not contrast.evened(contrast.counted).values[:, 3:5].any()


def test_a_part_of_it_is_those_frames_of_that_window(rng):
    contrast = contrast_of(np.zeros((len(TIMES), *SHAPE)), rng)
    early = TIMES[10] > TIMES
    part = contrast.part(early, (slice(2, 9), slice(5, 20)))
    np.testing.assert_array_equal(part.values, contrast.values[:10, 2:9, 5:20])
    assert (len(part.times), len(part.spread), part.weight.shape, part.pixel) == (10, 10, (7, 15), PIXEL)


def test_rows_are_evened_over_what_is_explained_though_its_heat_reaches_them():
    """Fibres along x carry the heat of a film past the pixels beside it, which then tell some of its contrast."""
    film = disc(SHAPE, (13, 15), 8)
    shown = shown_by(0.3 * film, 0.5, layers=20, along=(1.0, 16.0))
    contrast = contrast_of(shown)
    beside = contrast.evened(~disc(SHAPE, (13, 15), 10))
    over = contrast.evened(contrast.counted, shown)
    np.testing.assert_allclose(over.values, shown, atol=1e-12)
    assert np.abs(beside.values - shown).max() > 0.1 * shown.max()


def test_gains_of_pixels_over_a_defect_bend_no_row_once_the_defect_is_explained(rng):
    """Half of each row lies over a wide defect, whose warmth the gains have taken up; nothing else is in the frames."""
    shown = 0.1 * np.exp(-((np.log(TIMES / TIMES[12])) ** 2))[:, None, None] * (np.arange(20) < 13)
    shown = np.broadcast_to(shown, (len(TIMES), 16, 20)).copy()
    early = 0.02 * rng.standard_normal((16, 20)) * ((TIMES[0] / TIMES) ** 2)[:, None, None]
    contrast = contrast_of(shown - shown.mean(axis=0) * (1 + 0.3 * rng.standard_normal((16, 20))) + early)
    evened = contrast.evened(np.ones((16, 20), dtype=bool), shown)
    np.testing.assert_allclose(evened.whitened(evened.values - shown), 0, atol=1e-9)
