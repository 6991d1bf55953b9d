import math
from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report.figures.cuts import Cut, cut_rows
from nefty.report.figures.depth_bands import DepthBand, depth_bands
from nefty.report.figures.depth_profile import depth_profile
from nefty.report.figures.front_maps import SOUND, DepthMap, depth_maps
from nefty.report.figures.style import DEPTH, DIFFUSIVITY, AxisUnits


def test_depth_maps_leave_sound_pixels_grey_and_number_the_defects():
    depth = np.full((6, 8), np.nan)
    depth[2:4, 3:5] = 0.3
    maps = [
        DepthMap("Found", depth, DEPTH, "depth", (0, 1), marks=[("1", (3.0, 4.0))]),
        DepthMap("Truth", depth, DEPTH, "depth", (0, 1), outline=np.isfinite(depth)),
    ]
    figure: Any = depth_maps(maps, (6.0, 8.0), AxisUnits(length="mm"))
    assert figure.layout.plot_bgcolor == SOUND
    image, words = figure.data[0], figure.data[1]
    assert np.isnan(image.z[0, 0])
    assert (image.zmin, image.zmax) == (0, 1)
    assert (words.text[0], words.y[0], words.x[0]) == ("1", 3.0, 4.0)
    assert figure.layout.yaxis.range == (6.0, 0)


def test_an_empty_depth_map_still_has_limits():
    figure: Any = depth_maps([DepthMap("Found", np.full((3, 3), np.nan), DEPTH, "depth")], (1.0, 1.0))
    assert figure.data[0].zmin < figure.data[0].zmax
    with pytest.raises(InputError, match="at least one"):
        depth_maps([], (1.0, 1.0))


def test_the_profile_is_a_staircase_over_the_cells():
    figure: Any = depth_profile(np.array([0.1, 0.2]), 1.0, AxisUnits(length="mm", diffusivity="mm²/s"))
    line = figure.data[0]
    np.testing.assert_allclose(line.x, [0, 0.5, 0.5, 1])
    np.testing.assert_allclose(line.y, [0.1, 0.1, 0.2, 0.2])
    assert figure.layout.yaxis.title.text == "diffusivity (mm²/s)"


def test_the_profile_shows_spread_truth_and_defects():
    columns = np.random.default_rng(0).uniform(0.1, 0.2, (4, 50))
    figure: Any = depth_profile(
        np.full(4, 0.15), 1.0, sound=columns, truth=np.full(4, 0.3), spans=[("defect 1", 0.2, 0.5)]
    )
    names = [trace.name for trace in figure.data]
    assert "truth" in names
    assert "calibrated background" in names
    assert figure.layout.yaxis.range[1] > 0.3
    assert list(figure.data[-1].x) == [0.2, 0.5]
    assert figure.layout.annotations[0].text == "defect 1"


def test_cuts_have_the_front_on_top_and_one_scale():
    values = np.ones((4, 8))
    mask = values > 0
    cuts = [Cut("a", values, 2 * values, (mask, mask)), Cut("b", values, 2 * values)]
    figure: Any = cut_rows(cuts, (1.0, 8.0), DIFFUSIVITY, "alpha", limits=(0.0, 2.0))
    assert [axis.range for axis in figure.select_yaxes()] == 4 * [(1.0, 0)]
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 2)
    assert [note.text for note in figure.layout.annotations] == ["a", "Truth", "b", "Truth"]


@pytest.mark.parametrize("count", [1, 3])
def test_cuts_without_truth_have_one_column(count):
    figure: Any = cut_rows([Cut("a", np.ones((4, 8)))] * count, (1.0, 8.0), DIFFUSIVITY, "alpha")
    assert len(figure.data) == count
    with pytest.raises(InputError, match="at least one"):
        cut_rows([], (1.0, 8.0), DIFFUSIVITY, "alpha")


def test_a_thickness_that_is_not_known_has_no_bar():
    bands = [DepthBand("1", 0.4, 0.3, 0.5, 0.2), DepthBand("2", 0.6, 0.5, 0.7, math.nan)]
    bars: Any = depth_bands(bands, 1.0).data[0]
    assert tuple(bars.y) == (0.2, None)


@pytest.mark.parametrize(("thickness", "told"), [(math.nan, False), (0.2, True)])
def test_a_legend_of_thickness_only_where_one_is_drawn(thickness, told):
    figure: Any = depth_bands([DepthBand("1", 0.3, 0.2, 0.4, thickness)], 1.0)
    assert {trace.name: trace.showlegend for trace in figure.data}["thickness"] is told
