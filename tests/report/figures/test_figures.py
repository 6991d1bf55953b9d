import base64
from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report import figures
from nefty.report.figures import (
    DIFFERENCE,
    TEMPERATURE,
    Stack,
    frames_slider,
    slices_slider,
)

SIZE = (6.0, 8.0)
TIMES = np.array([0.1, 0.2, 0.5, 1.0])


def traces(figure: Any) -> Any:
    """What is drawn; Plotly's own types do not know."""
    return figure.data


@pytest.fixture
def frames():
    return np.random.default_rng(0).uniform(1, 5, (4, 6, 8))


def test_everything_listed_exists():
    assert all(hasattr(figures, name) for name in figures.__all__)


def test_frames_slider_has_one_step_per_frame_and_starts_where_told(frames):
    mask = np.zeros((6, 8), dtype=bool)
    mask[2:4, 3:6] = True
    stacks = [
        Stack("Temperature", frames, TEMPERATURE, "T"),
        Stack("Contrast", frames - 3, DIFFERENCE, "dT", mask),
    ]
    figure = frames_slider(stacks, TIMES, SIZE, figures.AxisUnits(time="s"), start=2)
    slider = figure.layout.sliders[0]
    assert [step.label for step in slider.steps] == ["0.1", "0.2", "0.5", "1"]
    assert slider.active == 2
    assert slider.currentvalue.prefix == "t (s) = "
    np.testing.assert_allclose(traces(figure)[0].z, frames[2], rtol=1e-6)
    np.testing.assert_allclose(figure.frames[3].data[1].z, frames[3] - 3, rtol=1e-6)
    assert list(figure.frames[0].traces) == [0, 1]
    assert traces(figure)[0].zmin == 0
    assert traces(figure)[1].zmin == -traces(figure)[1].zmax


def test_frames_are_embedded_in_binary_single_precision(frames):
    figure = frames_slider([Stack("T", frames, TEMPERATURE, "T")], TIMES, SIZE)
    stored = figure.to_dict()["frames"][1]["data"][0]["z"]
    assert stored["dtype"] == "f4"
    values = np.frombuffer(base64.b64decode(stored["bdata"]), dtype="f4").reshape(6, 8)
    np.testing.assert_array_equal(values, frames[1].astype("f4"))


def test_images_have_row_0_on_top_equal_aspect_and_cell_centres(frames):
    figure = frames_slider([Stack("T", frames, TEMPERATURE, "T")], TIMES, SIZE, figures.AxisUnits(length="mm"))
    assert figure.layout.yaxis.range == (6.0, 0)
    assert figure.layout.xaxis.range == (0, 8.0)
    assert figure.layout.yaxis.scaleanchor == "x"
    assert (traces(figure)[0].x0, traces(figure)[0].dx, traces(figure)[0].y0, traces(figure)[0].dy) == (0.5, 1, 0.5, 1)
    assert figure.layout.xaxis.title.text == "x (mm)"
    assert figure.layout.yaxis.title.text == "y (mm)"


def test_frames_slider_refuses_a_wrong_number_of_frames(frames):
    with pytest.raises(InputError, match=r"\(3, 6, 8\).*4 steps"):
        frames_slider([Stack("T", frames[:3], TEMPERATURE, "T")], TIMES, SIZE)


def test_slices_slider_shows_depths_and_shares_the_colours_of_the_truth():
    truth = np.full((4, 6, 8), 0.1)
    figure = slices_slider(2 * truth, (1.0, *SIZE), truth=truth)
    assert [step.label for step in figure.layout.sliders[0].steps] == ["0.125", "0.375", "0.625", "0.875"]
    assert traces(figure)[0].zmax == traces(figure)[1].zmax == 0.1
    assert not figure.layout.updatemenus


def test_outline_follows_the_cell_edges(frames):
    mask = np.zeros((6, 8), dtype=bool)
    mask[1, 2] = True
    figure = frames_slider([Stack("T", frames, TEMPERATURE, "T", mask)], TIMES, SIZE)
    edge = traces(figure)[1]
    corners = {(x, y) for x, y in zip(edge.x, edge.y, strict=True) if x is not None}
    assert corners == {(2, 1), (3, 1), (2, 2), (3, 2)}
    assert len(edge.x) == 4 * 3
