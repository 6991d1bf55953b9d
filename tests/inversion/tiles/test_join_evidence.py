"""One region across a border of tiles is one, and every look has its price."""

import numpy as np
import pytest

from nefty.inversion.evidence.null import SCALE, threshold
from nefty.inversion.tiles.join_evidence import join_evidence
from nefty.inversion.tiles.layout import layout
from nefty.result.frame_evidence import FrameEvidence, RegionEvidence

SHAPE, RIM = (20, 40), 5
TILES = layout(SHAPE, (RIM, RIM), 30 * 30)  # two, side by side
ACCEPTED = 0.05
HIGHER = threshold(ACCEPTED / (2 * len(TILES))) - threshold(ACCEPTED)  # of a tile, over the part as a whole
HALF = threshold(ACCEPTED / 2) - threshold(ACCEPTED)  # of the overview


def evidence(shape, *regions, looks=2, score_map=0.0, coldest=1.0):
    """Of regions that are (rows, columns, score, depth), of one of so many looks."""
    labels = np.zeros(shape, dtype=np.int32)
    for number, (rows, columns, *_) in enumerate(regions, 1):
        labels[rows, columns] = number
    told = tuple(RegionEvidence(score, depth, 1.0, 0.3) for *_, score, depth in regions)
    rate = ACCEPTED / looks
    return FrameEvidence(labels, told, threshold(rate), rate, np.full(shape, score_map), coldest)


def of_tiles(*pieces):
    """Evidence of each tile from regions in the whole picture; what lies beside a tile is cut."""
    found = []
    for tile, regions in zip(TILES, pieces, strict=True):
        (top, bottom), (left, right) = tile.rows.whole, tile.columns.whole
        cut = [
            (slice(max(r.start - top, 0), r.stop - top), slice(max(c.start - left, 0), c.stop - left), *more)
            for r, c, *more in regions
        ]
        found.append(evidence((bottom - top, right - left), *cut, looks=2 * len(TILES)))
    return found


NOTHING = evidence((10, 20))


def test_two_tiles():
    assert [tile.columns.core for tile in TILES] == [(0, 20), (20, 40)]


def test_a_region_across_the_border_is_one_with_the_clearest_score():
    across = (slice(5, 10), slice(14, 30))
    left, right = (*across, 30.0, 1.0), (*across, 40.0, 2.0)
    joined = join_evidence(TILES, of_tiles([left], [right]), NOTHING, 2, SHAPE, ACCEPTED)
    (region,) = joined.regions
    assert region.score == pytest.approx(40.0 - HIGHER)
    assert region.depth == 2.0  # of the tile that has ten of its sixteen columns
    expected = np.zeros(SHAPE, bool)
    expected[across] = True
    np.testing.assert_array_equal(joined.footprint(1), expected)


def test_what_lies_only_in_a_rim_is_the_other_tiles_to_tell():
    beyond = (slice(5, 8), slice(21, 24), 30.0, 1.0)
    assert join_evidence(TILES, of_tiles([beyond], []), NOTHING, 2, SHAPE, ACCEPTED).regions == ()
    (one,) = join_evidence(TILES, of_tiles([beyond], [beyond]), NOTHING, 2, SHAPE, ACCEPTED).regions
    assert one.score == pytest.approx(30.0 - HIGHER)


def test_regions_that_do_not_touch_stay_apart():
    here, there = (slice(2, 6), slice(2, 6), 20.0, 1.0), (slice(2, 6), slice(30, 36), 10.0, 2.0)
    joined = join_evidence(TILES, of_tiles([here], [there]), NOTHING, 2, SHAPE, ACCEPTED)
    assert sorted(region.depth for region in joined.regions) == [1.0, 2.0]
    assert joined.labels.max() == 2


def test_the_threshold_is_that_of_one_look_and_each_look_pays():
    just = threshold(ACCEPTED) + 0.5 * HIGHER
    joined = join_evidence(TILES, of_tiles([(slice(2, 6), slice(2, 6), just, 1.0)], []), NOTHING, 2, SHAPE, ACCEPTED)
    assert joined.threshold == threshold(ACCEPTED)
    assert joined.called == ()
    expected = 2 * len(TILES) * np.exp(-(just - threshold(ACCEPTED)) / SCALE)  # of the rate that one look accepts
    assert np.exp(-(joined.regions[0].score - threshold(ACCEPTED)) / SCALE) == pytest.approx(expected)


def test_a_region_of_the_overview_that_no_tile_covers_stays():
    wide = evidence((10, 20), (slice(1, 9), slice(2, 18), 50.0, 1.5))
    fragment = (slice(2, 4), slice(4, 6), 12.0, 0.5)
    joined = join_evidence(TILES, of_tiles([fragment], []), wide, 2, SHAPE, ACCEPTED)
    (region,) = joined.regions
    assert region.depth == 1.5
    assert region.score == pytest.approx(50.0 - HALF)
    assert joined.footprint(1).sum() == 8 * 16 * 4


def test_a_region_that_the_tiles_see_finer_is_told_by_them():
    coarse = evidence((10, 20), (slice(2, 5), slice(2, 5), 50.0, 1.5))
    fine = (slice(4, 9), slice(4, 9), 30.0, 1.4)
    (region,) = join_evidence(TILES, of_tiles([fine], []), coarse, 2, SHAPE, ACCEPTED).regions
    assert region.depth == 1.4


def test_what_the_overview_does_not_call_does_not_hide_what_a_tile_calls():
    faint = evidence((10, 20), (slice(1, 9), slice(2, 18), 3.0, 1.5))
    fine = (slice(4, 7), slice(4, 7), 30.0, 0.4)
    joined = join_evidence(TILES, of_tiles([fine], []), faint, 2, SHAPE, ACCEPTED)
    assert [joined.regions[n - 1].depth for n in joined.called] == [0.4]
