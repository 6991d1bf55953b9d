"""Which cells are defect: a sound part has none, a weak one is not lost, sides wrap."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.result.indications.components import by_size, label, pad_sides, seam, trim_sides
from nefty.result.indications.depth_map import depth_map
from nefty.result.indications.segmentation import RULES, Absolute, Paper2D, Relative, deficit, named_rule, segment
from nefty.synth.specimen import draw_specimen
from support.volumes import blurred


def iou(a, b):
    return (a & b).sum() / (a | b).sum()


def scatter(rng, shape, size):
    """Smooth scatter as an inversion leaves it, of standard deviation ``size`` in log alpha."""
    smooth = ndimage.gaussian_filter(rng.standard_normal(shape), 1)
    return np.exp(size * smooth / smooth.std())


def plate(grid, *boxes, bulk=0.15):
    """Homogeneous background and boxes (ratio, slices) in it."""
    alpha = np.full(grid.shape, bulk)
    for ratio, *slices in boxes:
        alpha[tuple(slices)] = ratio * bulk
    return alpha, np.full(grid.shape[0], bulk)


@pytest.mark.parametrize("kind", ["homogeneous", "layered"])
def test_the_default_rule_finds_blurred_defects(grid, rng, kind):
    for seed in range(8):
        specimen = draw_specimen(seed, kind)
        background, truth = specimen.background(grid), specimen.alpha(grid)
        alpha = blurred(truth, background) * scatter(rng, grid.shape, 0.05)
        found = segment(alpha, background, grid)
        assert iou(found.mask, truth < 0.03) > 0.9
        assert found.number == len(specimen.defects)


@pytest.mark.parametrize("kind", ["sound", "sound-layered"])
def test_a_sound_part_has_no_defects(grid, rng, kind):
    for seed in range(5):
        specimen = draw_specimen(seed, kind)
        alpha = specimen.alpha(grid) * scatter(rng, grid.shape, 0.12)
        assert segment(alpha, specimen.background(grid), grid).number == 0
        assert segment(specimen.alpha(grid), specimen.background(grid), grid).number == 0


def test_a_weak_defect_is_not_lost_beside_a_strong_one(grid):
    strong, weak = np.s_[4:8, 10:22, 10:22], np.s_[4:8, 40:52, 40:52]
    sharp, background = plate(grid, (0.02, *strong), (0.4, *weak))
    found = segment(blurred(sharp, background), background, grid)
    assert found.number == 2
    for slices in (strong, weak):
        inside = np.zeros(grid.shape, dtype=bool)
        inside[slices] = True
        assert iou(found.mask & ndimage.binary_dilation(inside, iterations=3), inside) > 0.8


def test_two_defects_joined_by_a_faint_bridge_are_two(grid):
    alpha, background = plate(
        grid,
        (0.55, slice(4, 8), slice(30, 34), slice(10, 50)),
        (0.05, slice(4, 8), slice(24, 40), slice(8, 24)),
        (0.05, slice(4, 8), slice(24, 40), slice(36, 52)),
    )
    assert segment(alpha, background, grid).number == 2


def test_strata_are_no_defects(grid):
    background = np.where(np.arange(16) < 8, 0.2, 0.05)
    alpha = np.broadcast_to(background[:, None, None], grid.shape).copy()
    assert segment(alpha, background, grid).number == 0
    alpha[9:12, 20:40, 20:40] *= 0.1
    assert segment(alpha, background, grid).labels.sum() == 3 * 20 * 20


def test_what_diffusion_blurs_away_is_dropped(grid):
    speck = (0.05, slice(10, 13), slice(30, 32), slice(30, 32))
    alpha, background = plate(grid, speck)
    assert segment(alpha, background, grid).number == 0
    assert segment(alpha, background, grid, Relative(min_aspect=0.2)).number == 1
    assert segment(alpha, background, grid, Relative(min_aspect=0, min_cells=13)).number == 0
    shallow, _ = plate(grid, (0.05, slice(1, 4), slice(30, 32), slice(30, 32)))
    assert segment(shallow, background, grid).number == 1


def test_the_ratio_stays_within_its_bounds(grid):
    alpha, background = plate(grid, (0.001, slice(4, 8), slice(10, 30), slice(10, 30)))
    alpha[4:8, 30:34, 10:30] = 0.15 * 0.15
    alpha[4:8, 34:38, 10:30] = 0.15 * 0.45
    assert segment(alpha, background, grid).mask[5, 20, 20]
    assert segment(alpha, background, grid).mask[5, 31, 20]
    assert segment(alpha, background, grid, Relative(bounds=(0.5, 0.6))).mask[5, 35, 20]
    assert not segment(alpha, background, grid, Relative(bounds=(0.01, 0.1))).mask[5, 31, 20]


def test_the_absolute_rule_is_a_threshold_and_labels_go_by_size(grid):
    specimen = draw_specimen(4, "layered", defects=3)
    background, truth = specimen.background(grid), specimen.alpha(grid)
    found = segment(truth, background, grid, "absolute")
    np.testing.assert_array_equal(found.mask, truth < 0.03)
    sizes = np.bincount(found.labels.ravel())[1:]
    assert found.number == 3
    assert (np.diff(sizes) <= 0).all()
    assert found.labels.dtype == np.int32
    smallest = Absolute(min_cells=int(sizes[-1]) + 1)
    assert segment(truth, background, grid, smallest).number == 2
    np.testing.assert_array_equal(found.footprint, (truth < 0.03).any(axis=0))


def test_an_absolute_threshold_above_the_background_is_refused(grid):
    alpha, background = plate(grid, bulk=1.2e-7)
    with pytest.raises(InputError, match=r"threshold=0\.03 is not below the background, 1\.2e-07"):
        segment(alpha, background, grid, "absolute")


def test_the_papers_rule_by_hand():
    grid = Grid((4, 3, 3), (4.0, 3.0, 3.0))
    alpha = np.ones(grid.shape)
    deficits = 0.01 * np.arange(9).reshape(3, 3)  # of the pixels, by the first layer; median 0.04, MAD 0.02
    alpha[0] -= 4 * deficits
    alpha[1:3, 2, 2] = 0.2
    np.testing.assert_allclose(deficit(alpha, np.ones(4)), deficits + np.eye(3)[2] * np.eye(3)[2][:, None] * 0.4)
    found = segment(alpha, np.ones(4), grid, "paper-2d")
    # d > 2 x 1.4826 x 0.02 = 0.0593: pixels 6, 7 and 8. Voxels: half of the 24 sound ones and more are 0, so the
    # floor is 0, and any deficit counts.
    np.testing.assert_array_equal(found.footprint, [[0, 0, 0], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(found.labels[:, 2], [[1, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 0]])
    assert segment(alpha, np.ones(4), grid, Paper2D(sigmas=20)).number == 0


def test_the_papers_rule_misses_no_defect_but_takes_scatter_for_more(grid, rng):
    specimen = draw_specimen(3, defects=2)
    background, truth = specimen.background(grid), specimen.alpha(grid)
    clean = segment(truth, background, grid, "paper-2d")
    assert clean.number == 2
    np.testing.assert_array_equal(clean.mask, truth < 0.03)
    alpha = blurred(truth, background) * scatter(rng, grid.shape, 0.02)
    letter, signed = (segment(alpha, background, grid, rule) for rule in ("paper-2d", Paper2D(one_sided=False)))
    assert letter.footprint[clean.footprint].all()
    assert signed.footprint[clean.footprint].all()
    assert iou(letter.footprint, clean.footprint) < 0.3
    assert iou(signed.footprint, clean.footprint) > 0.5


def test_regions_continue_across_periodic_sides(grid):
    corner = [slice(4, 8), np.r_[0:6, 58:64][:, None], np.r_[0:6, 58:64]]
    alpha, background = plate(grid)
    alpha[tuple(corner)] *= 0.1
    assert segment(alpha, background, grid, lateral="adiabatic").number == 4
    found = segment(alpha, background, grid, lateral="periodic")
    assert found.number == 1
    assert found.mask.sum() == 4 * 12 * 12


def test_a_rolled_periodic_plate_has_the_rolled_segmentation(grid, rng):
    specimen = draw_specimen(2, defects=4)
    background = specimen.background(grid)
    alpha = blurred(specimen.alpha(grid), background) * scatter(rng, grid.shape, 0.05)
    for rule in ("default", "absolute", "paper-2d"):
        here = segment(alpha, background, grid, rule, "periodic").mask
        there = segment(np.roll(alpha, (20, 37), (1, 2)), background, grid, rule, "periodic").mask
        np.testing.assert_array_equal(np.roll(here, (20, 37), (1, 2)), there)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.6))
def test_periodic_labels_do_not_depend_on_where_the_plate_is_cut(seed, share):
    rng = np.random.default_rng(seed)
    mask = rng.random((2, 7, 9)) < share * 0.5
    labels, number = label(mask, periodic=True)
    shift = tuple(rng.integers(0, 9, size=2))
    rolled, again = label(np.roll(mask, shift, (1, 2)), periodic=True)
    pairs = {*zip(np.roll(labels, shift, (1, 2)).ravel().tolist(), rolled.ravel().tolist(), strict=True)}
    assert number == again
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert set(np.unique(labels)) | {0} == set(range(number + 1))
    np.testing.assert_array_equal(labels > 0, mask)


def test_cells_that_touch_at_a_corner_belong_together():
    mask = np.zeros((2, 2, 2), dtype=bool)
    mask[0, 0, 0] = mask[1, 1, 1] = True
    assert label(mask, periodic=False)[1] == 1


def test_helpers_of_components():
    labels = np.array([[1, 1, 0], [2, 0, 3], [2, 2, 3]])
    np.testing.assert_array_equal(by_size(labels, np.array([True, True, False])), [[2, 2, 0], [1, 0, 0], [1, 1, 0]])
    assert by_size(labels, np.zeros(3, dtype=bool)).sum() == 0
    assert [seam(np.array(row, dtype=bool)) for row in ([1, 0, 0, 1], [0, 1, 1, 0], [1, 1, 1], [0, 0])] == [3, 1, 0, 0]
    array = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(trim_sides(pad_sides(array, 2, periodic=True), 2), array)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: named_rule("defualt"), "rule='defualt' is unknown.*Did you mean 'default'"),
        (lambda: Relative(bounds=(0.6, 0.2)), r"bounds=\(0.6, 0.2\) must be two ratios"),
        (lambda: Relative(bounds=0.3), "must be two ratios"),  # pyright: ignore[reportArgumentType]
        (lambda: Relative(min_cells=0), "min_cells=0 must be"),
        (lambda: Relative(edge=0), "edge=0 must be above 0"),
        (lambda: Relative(core=-0.1), "core=-0.1 must be above 0"),
        (lambda: Absolute(threshold=0), "threshold=0 must be above 0"),
        (lambda: Paper2D(sigmas=-1), "sigmas=-1 must be above 0"),
        (lambda: segment(np.ones((1, 2, 2)), np.ones(1), Grid((1, 2, 2), (1, 1, 1)), lateral="open"), "lateral='open'"),
    ],
)
def test_wrong_rules_are_refused(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_the_edge_lies_where_the_deficit_is_a_share_of_the_lowest(grid):
    """A strong void with a halo: the halo, of log ratio 0.4, is above 0.3 and below 0.5 of the void's."""
    void, halo = np.s_[4:7, 20:40, 20:40], np.s_[4:7, 16:44, 16:44]
    alpha, background = plate(grid, (0.1**0.4, *halo), (0.1, *void))
    wide, narrow = (segment(alpha, background, grid, Relative(bounds=(0.1, 0.75), edge=e)).mask for e in (0.3, 0.5))
    expected = np.zeros(grid.shape, dtype=bool)
    expected[halo] = True
    np.testing.assert_array_equal(wide, expected)
    expected[:] = False
    expected[void] = True
    np.testing.assert_array_equal(narrow, expected)


def test_one_pixel_does_not_make_the_edge_which_stays_within_the_bounds(grid):
    """One pixel that is far lower than the rest does not move the edge."""
    region, rim = np.s_[4:7, 20:32, 20:32], np.s_[4:7, 18:34, 18:34]
    alpha, background = plate(grid, (0.6, *rim), (0.5, *region), (1e-4, 5, 25, 25))
    found = segment(alpha, background, grid, Relative(bounds=(0.1, 0.75), edge=0.5))
    assert found.footprint.sum() == 16 * 16
    faint, background = plate(grid, (0.74, *region))
    assert segment(faint, background, grid, Relative(bounds=(0.1, 0.75), edge=0.01)).footprint.sum() == 12 * 12


def test_a_region_without_a_core_is_dropped(grid):
    weak, strong = np.s_[4:7, 10:22, 10:22], np.s_[4:7, 40:52, 40:52]
    alpha, background = plate(grid, (0.4, *weak), (0.3, *strong))
    assert segment(alpha, background, grid, Relative(bounds=(0.1, 0.6))).number == 2
    found = segment(alpha, background, grid, Relative(bounds=(0.1, 0.6), core=0.35))
    assert found.number == 1
    assert found.mask[strong].all()
    assert segment(alpha, background, grid, Relative(bounds=(0.1, 0.6), core=0.2)).number == 0


def test_the_rule_for_real_parts_finds_the_wide_and_faint_and_the_void_but_no_speck(grid):
    faint, void, halo = np.s_[4:8, 6:26, 6:26], np.s_[3:6, 40:54, 40:54], np.s_[3:6, 38:56, 38:56]
    core = np.s_[5:7, 10:22, 10:22]
    alpha, background = plate(grid, (0.5, *faint), (0.15, *core), (0.7, *halo), (0.05, *void))
    alpha[5:7, 30:33, 8:11] *= 0.65  # a weak speck
    alpha[13:15, 30:33, 28:31] *= 0.2  # a strong one, narrower than deep
    found = segment(alpha, background, grid, "faint")
    assert found.rule is RULES["faint"]
    assert found.number == 2
    expected = np.zeros(grid.shape, dtype=bool)
    expected[faint] = expected[void] = True
    assert iou(found.mask, expected) > 0.9
    assert not found.mask[5:7, 30:33].any()
    assert not found.mask[13:15].any()
    sound, background = plate(grid)
    assert segment(sound, background, grid, "faint").number == 0


def test_the_edge_follows_regions_across_periodic_sides(grid):
    alpha, background = plate(grid, (0.6, *np.s_[4:7, 16:44, 16:44]), (0.1, *np.s_[4:7, 20:40, 20:40]))
    rule = Relative(bounds=(0.1, 0.75), edge=0.5)
    middle = segment(alpha, background, grid, rule, "periodic").mask
    rolled = segment(np.roll(alpha, (32, 30), (1, 2)), background, grid, rule, "periodic")
    np.testing.assert_array_equal(rolled.mask, np.roll(middle, (32, 30), (1, 2)))
    assert rolled.number == 1


def test_depths_by_resistance_follow_the_layer_that_holds_the_heat_back():
    grid = Grid((10, 12, 12), (1.0, 12.0, 12.0))
    ratio = np.ones(grid.shape)
    ratio[4, 3:9, 3:9], ratio[5, 3:9, 3:9] = 0.3, 0.1  # a smeared top, then the inclusion
    background = np.full(10, 2.0)
    depths = {}
    for resistance in (False, True):
        found = segment(2.0 * ratio, background, grid, Relative(resistance=resistance))
        depths[resistance] = depth_map(2.0 * ratio, background, grid, found)[6, 6]
    # log: half of log 0.1 lies between cells 3 (1) and 4 (0.3); resistance: half of 9 between 4 (7/3) and 5 (9).
    assert depths[False] == pytest.approx(0.1 * (3.5 + 0.5 * np.log(0.1) / np.log(0.3)))
    assert depths[True] == pytest.approx(0.1 * (4.5 + (4.5 - 7 / 3) / (9 - 7 / 3)))


def test_scatter_of_a_noisy_layer_does_not_join_its_defects(grid, rng):
    one, other = np.s_[3:6, 8:18, 8:18], np.s_[3:6, 40:50, 40:50]
    alpha, background = plate(grid, (0.05, *one), (0.05, *other))
    truth = (alpha < 0.1 * background[:, None, None]).any(axis=0)
    alpha[6:12] *= 0.9 * scatter(rng, grid.shape, 0.2)[6:12]  # deep layers come out low as well
    joined = segment(alpha, background, grid, dataclasses.replace(RULES["faint"], scatter=0))
    assert iou(joined.footprint, truth) < 0.5
    found = segment(alpha, background, grid, "faint")
    assert found.number == 2
    assert iou(found.footprint, truth) > 0.9


def test_scatter_is_that_of_the_layer_and_not_its_defect(grid, rng):
    for wide in (np.s_[5:8, 4:60, 4:50], np.s_[5:8, :63, :63], np.s_[5:8]):  # most of the part, and all of it
        alpha, background = plate(grid, (0.2, *(wide if isinstance(wide, tuple) else (wide,))))
        alpha *= scatter(rng, grid.shape, 0.05)
        found = segment(alpha, background, grid, "faint")
        assert found.number == 1
        assert iou(found.footprint, (alpha < 0.3 * background[:, None, None]).any(axis=0)) > 0.95


def test_few_cells_tell_no_scatter():
    grid = Grid((8, 8, 8), (1.0, 2.0, 2.0))
    alpha, background = plate(grid, (0.2, *np.s_[3:5, 2:6, 2:6]))
    assert segment(alpha, background, grid, "faint").number == 1


def test_a_scatter_below_zero_is_refused():
    with pytest.raises(InputError, match="scatter=-1"):
        Relative(scatter=-1)
