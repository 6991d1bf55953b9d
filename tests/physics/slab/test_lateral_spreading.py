"""Heat that leaves a frame sideways, against the integral of the heat kernel."""

import numpy as np
import pytest
from scipy.integrate import quad

from nefty.physics.slab.lateral_spreading import remaining_share

TIMES = np.array([0.5, 4.0, 60.0])
ALPHA, SIZE, PIXELS = (2e-7, 1e-7), (6e-3, 10e-3), (3, 5)


def by_kernel(at, width, margin, alpha, time):
    """Heat of 1 along -margin to width + margin, spread by the kernel of the heat equation, at one place."""

    def kernel(source):
        return np.exp(-((at - source) ** 2) / (4 * alpha * time)) / np.sqrt(4 * np.pi * alpha * time)

    return quad(kernel, -margin, width + margin, points=[at])[0]


@pytest.mark.parametrize("margin", [0.0, 2e-3])
def test_it_is_the_product_of_what_is_left_along_both_sides(margin):
    found = remaining_share(TIMES, ALPHA, SIZE, PIXELS, margin)
    assert found.shape == (3, 3, 5)
    for t, y, x in [(0, 0, 0), (1, 2, 1), (2, 1, 4)]:
        along = [
            by_kernel((index + 0.5) * width / count, width, margin, alpha, TIMES[t])
            for index, width, count, alpha in zip((y, x), SIZE, PIXELS, ALPHA, strict=True)
        ]
        assert found[t, y, x] == pytest.approx(along[0] * along[1], rel=1e-6)


def test_heat_only_leaves_and_the_wider_the_margin_the_later():
    near, wide = (remaining_share(TIMES, ALPHA, SIZE, PIXELS, margin) for margin in (1e-3, 4e-3))
    assert (np.diff(near, axis=0) < 0).all()
    assert (near <= wide).all()
    np.testing.assert_allclose(remaining_share(TIMES, ALPHA, SIZE, PIXELS, 1.0), 1, atol=1e-12)


def test_both_sides_are_alike():
    found = remaining_share(TIMES, ALPHA, SIZE, PIXELS, 1e-3)
    np.testing.assert_allclose(found, found[:, ::-1, ::-1], rtol=1e-12)
