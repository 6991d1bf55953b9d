"""Three slices through one point."""

from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report.figures.linked_slices import PANELS, SlicedVolume, cell_of, linked_slices
from nefty.report.figures.style import DIFFUSIVITY, AxisUnits

VALUES = np.arange(4 * 5 * 6, dtype=float).reshape(4, 5, 6)


def test_the_first_traces_are_the_slices_through_the_point():
    inside = VALUES > 60
    volume = SlicedVolume(VALUES, inside, (1.0, 5.0, 6.0), DIFFUSIVITY, "alpha", (0, 120))
    figure = linked_slices(volume, (0.6, 1.2, 4.9), AxisUnits("mm"))
    images: Any = figure.data[: len(PANELS)]
    assert all(image.type == "heatmap" for image in images)
    for image, expected in zip(images, (VALUES[2], VALUES[:, 1], VALUES[:, :, 4]), strict=True):
        assert np.array_equal(image.z, expected)
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["At depth 0.625 mm", "Cut along x, at y = 1.5 mm", "Cut along y, at x = 4.5 mm"]


def test_a_place_outside_is_moved_to_the_edge():
    assert (cell_of(-3, 1.0, 4), cell_of(9, 1.0, 4), cell_of(0.5, 1.0, 4)) == (0, 3, 2)


def test_a_picture_is_no_volume():
    with pytest.raises(InputError, match="axes"):
        linked_slices(SlicedVolume(VALUES[0], None, (1, 1, 1), DIFFUSIVITY, "", (0, 1)), (0, 0, 0))
