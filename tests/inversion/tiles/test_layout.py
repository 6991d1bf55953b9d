"""Tiles cover a picture, and their weights add up to 1."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nefty.inversion.tiles.layout import NARROWEST, layout

PICTURES = st.tuples(st.integers(9, 150), st.integers(9, 150))
RIMS = st.tuples(st.integers(0, 30), st.integers(0, 30))


@given(PICTURES, RIMS, st.integers(200, 3000))
def test_cores_cover_every_pixel_once(shape, rims, most):
    covered = np.zeros(shape, int)
    for tile in layout(shape, rims, most):
        covered[tile.core] += 1
        inside = np.zeros(shape)[tile.whole][tile.core_inside]
        assert inside.shape == covered[tile.core].shape
    assert (covered == 1).all()


@given(PICTURES, RIMS, st.integers(200, 3000))
def test_weights_add_up_to_one_and_vanish_at_the_edges_of_tiles(shape, rims, most):
    total = np.zeros(shape)
    for tile in layout(shape, rims, most):
        weights = tile.weights()
        total[tile.whole] += weights
        for span, edge in ((tile.rows, weights[0]), (tile.columns, weights[:, 0])):
            if span.whole[0] < span.core[0]:
                assert edge.max() <= np.sin(np.pi / 8 / span.blend) ** 2 + 1e-12  # half a pixel inside
    np.testing.assert_allclose(total, 1, atol=1e-12)


@given(PICTURES, RIMS, st.integers(200, 3000))
def test_no_tile_is_larger_than_allowed_unless_heat_spreads_further(shape, rims, most):
    for tile in layout(shape, rims, most):
        rows, columns = (b - a for a, b in (tile.rows.whole, tile.columns.whole))
        at_least = (NARROWEST + 2 * rims[0]) * (NARROWEST + 2 * rims[1])
        assert rows * columns <= max(most, at_least)
