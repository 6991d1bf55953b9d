"""Outlines that move, stretch and turn."""

import numpy as np
import pytest

from nefty.inversion.ensemble.moved_region import Outline, insulation_of

WINDOW = (slice(0, 30), slice(0, 30))


@pytest.fixture
def outline():
    mask = np.zeros((30, 30), dtype=bool)
    mask[10:16, 8:20] = True
    mask[16:20, 8:12] = True  # an L
    return Outline.of(mask, WINDOW, 0.6, 4.0, hole=False)


def test_the_first_fit_is_covered_as_it_was(outline):
    assert np.allclose(outline.covered(outline.start), outline.mask)
    assert insulation_of(outline.start) == pytest.approx(0.6)


def test_it_moves(outline):
    moved = outline.start + np.array([2.0, -1.0, 0, 0, 0, 0, 0])
    assert np.allclose(outline.covered(moved), np.roll(outline.mask, (2, -1), (0, 1)), atol=1e-6)


def test_it_grows_and_turns(outline):
    larger = outline.start.copy()
    larger[2:4] += np.log(1.2)
    assert outline.covered(larger).sum() == pytest.approx(1.44 * outline.mask.sum(), rel=0.1)
    turned = outline.start.copy()
    turned[4] += np.pi / 2
    assert outline.covered(turned).sum() == pytest.approx(outline.mask.sum(), rel=0.1)
    assert (outline.covered(turned) > 0.5).any(axis=1).sum() >= 11  # as high now as it was wide


def test_members_lie_around_what_is_reported(outline):
    rest = outline.start + np.array([0.2, 0, 0, 0, 0, 0.5, 1.0])
    assert np.allclose(outline.moved(rest, rest), outline.start)
    deeper = rest.copy()
    deeper[6] *= 1.1
    assert outline.moved(deeper, rest)[6] == pytest.approx(1.1 * outline.start[6])
