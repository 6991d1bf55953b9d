"""What would have been seen by tiles and overview together."""

import numpy as np
import pytest

from nefty.inversion.tiles.join_limits import join_limits
from nefty.inversion.tiles.layout import layout
from nefty.result.frame_evidence import FrameEvidence
from nefty.result.limits import Limits

SHAPE = (20, 41)  # the last column fills no cell of the overview
TILES = layout(SHAPE, (5, 5), 32 * 32)
DEPTHS = np.array([0.5, 1.5])


def shown(shape, maps, largest=4.0, name="a gap", depths=DEPTHS):
    maps = np.broadcast_to(np.asarray(maps, dtype=np.float64), (1, len(depths), *shape)).copy()
    limits = Limits((name,), np.asarray(depths), np.full((1, len(depths)), 9.0), maps, largest)
    return FrameEvidence(np.zeros(shape, dtype=np.int32), (), 5.0, 0.05, np.zeros(shape), 1.0, limits)


def of_tiles(*values, **more):
    shapes = [tuple(s.stop - s.start for s in tile.whole) for tile in TILES]
    return [shown(shape, value, **more) for shape, value in zip(shapes, values, strict=True)]


def joined_of(*arguments) -> Limits:
    """As ``join_limits``, of which these tests expect some."""
    joined = join_limits(*arguments)
    assert joined is not None
    return joined


def test_two_tiles_side_by_side():
    assert len(TILES) == 2


def test_what_one_look_finds_is_found_and_the_tile_that_answers_tells_it():
    overview = shown((10, 20), [[[2.0]], [[3.0]]])
    deep = [[[1.0]], [[np.nan]]]  # the first tile finds nothing at the second depth
    joined = joined_of(TILES, of_tiles(deep, 0.5, largest=1.5), overview, 2, np.ones(SHAPE, bool))
    border = TILES[0].columns.core[1]
    assert (joined.maps[0, 0, :, :border] == 1.0).all()
    assert (joined.maps[0, 1, :, :border] == 3.0).all()  # but the overview does
    assert (joined.maps[0, :, :, border:] == 0.5).all()
    assert joined.largest == 4.0
    assert joined.diameters[0] == pytest.approx([np.median(joined.maps[0, k]) for k in (0, 1)])


def test_pixels_that_do_not_count_tell_nothing():
    counted = np.ones(SHAPE, bool)
    counted[:, :30] = False
    joined = joined_of(TILES, of_tiles(1.0, 0.5), shown((10, 20), 2.0), 2, counted)
    assert np.isnan(joined.maps[:, :, :, :30]).all()
    assert joined.diameters[0] == pytest.approx([0.5, 0.5])


def test_other_defects_or_depths_are_not_mixed():
    overview, all_count = shown((10, 20), 2.0), np.ones(SHAPE, bool)
    for other in (of_tiles(1.0, 0.5, name="a film"), of_tiles(1.0, 0.5, depths=[0.5, 1.6])):
        joined = joined_of(TILES, other, overview, 2, all_count)
        assert (joined.maps[:, :, :, :40] == 2.0).all()
        assert np.isnan(joined.maps[:, :, :, 40]).all()


def test_an_overview_without_limits_has_none():
    nothing = FrameEvidence(np.zeros((10, 20), dtype=np.int32), (), 5.0, 0.05, np.zeros((10, 20)), 1.0)
    assert join_limits(TILES, of_tiles(1.0, 0.5), nothing, 2, np.ones(SHAPE, bool)) is None
