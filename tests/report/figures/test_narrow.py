import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from nefty.report.figures.narrow import shrinks, stack_when_narrow
from nefty.report.figures.sliders import Stack, frames_slider
from nefty.report.figures.style import TEMPERATURE, dress


@pytest.fixture
def figure() -> Any:
    figure = make_subplots(1, 2, subplot_titles=["a", "b"])
    for column in (1, 2):
        figure.add_trace(go.Heatmap(z=np.ones((2, 2)), colorbar={"x": column / 2}), 1, column)
    return dress(figure, height=300)


def stacked(figure: Any, *args: Any, **kwargs: Any) -> Any:
    """Both layouts."""
    layout: Any = stack_when_narrow(figure, *args, **kwargs).layout
    return layout.meta


def test_panels_stand_under_each_other_without_overlap(figure):
    layout = stacked(figure, [200, 100], between=50)["narrow"]["layout"]
    upper, lower = layout["yaxis.domain"], layout["yaxis2.domain"]
    assert upper[1] == 1
    assert lower[0] == pytest.approx(0)
    assert (upper[1] - upper[0]) / (lower[1] - lower[0]) == pytest.approx(2)
    assert (upper[0] - lower[1]) * 350 == pytest.approx(50)
    assert layout["annotations[1].y"] == pytest.approx(lower[1])


def test_the_order_can_be_another(figure):
    layout = stacked(figure, [100, 100], order=[1, 0])["narrow"]["layout"]
    assert layout["yaxis2.domain"][1] == 1


def test_colour_bars_move_with_their_panels(figure):
    meta = stacked(figure, [100, 100], bar=0.2)
    assert meta["narrow"]["traces"] == [0, 1]
    assert meta["narrow"]["style"]["colorbar.x"] == pytest.approx([0.82, 0.82])
    assert meta["wide"]["style"] == {"colorbar.x": [0.5, 1.0], "colorbar.y": [0.5, 0.5], "colorbar.len": [1.0, 1.0]}


def test_the_way_back_restores_every_key(figure):
    meta = stacked(figure, [100, 100], also={"title.text": "phone"})
    assert meta["wide"]["layout"].keys() == meta["narrow"]["layout"].keys()
    assert meta["wide"]["layout"]["yaxis2.domain"] == list(figure.layout.yaxis2.domain)
    assert meta["wide"]["layout"]["height"] == figure.layout.height
    json.dumps(meta)


def test_figures_say_whether_they_shrink(figure):
    assert not shrinks(figure)
    assert shrinks(stack_when_narrow(figure, [100, 100]))
    stack = Stack("T", np.ones((2, 3, 3)), TEMPERATURE, "T")
    assert shrinks(frames_slider([stack], np.array([1.0, 2.0]), (1.0, 1.0)))
