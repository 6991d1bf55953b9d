import base64
from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report import figures
from nefty.report.figures import (
    DIFFERENCE,
    DIFFUSIVITY,
    TEMPERATURE,
    Curve,
    Stack,
    Units,
    View,
    contrast_curve,
    decay_curves,
    frames_slider,
    map_row,
    plan_and_section,
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
    figure = frames_slider(stacks, TIMES, SIZE, Units(time="s"), start=2)
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
    figure = frames_slider([Stack("T", frames, TEMPERATURE, "T")], TIMES, SIZE, Units(length="mm"))
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


def test_map_row_shares_one_centred_scale(frames):
    figure = map_row(list(frames - 2), ["a", "b", "c", "d"], SIZE, DIFFERENCE, "dT")
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax
    assert figure.layout.coloraxis.cmax == pytest.approx(np.abs(frames - 2).max())
    assert {trace.coloraxis for trace in traces(figure)} == {"coloraxis"}


def test_map_row_refuses_maps_without_titles(frames):
    with pytest.raises(InputError, match="4 maps and 1 titles"):
        map_row(list(frames), ["a"], SIZE, DIFFERENCE, "dT")


def test_outline_follows_the_cell_edges(frames):
    mask = np.zeros((6, 8), dtype=bool)
    mask[1, 2] = True
    figure = map_row([frames[0]], ["a"], SIZE, TEMPERATURE, "T", outline=mask)
    edge = traces(figure)[1]
    corners = {(x, y) for x, y in zip(edge.x, edge.y, strict=True) if x is not None}
    assert corners == {(2, 1), (3, 1), (2, 2), (3, 2)}
    assert len(edge.x) == 4 * 3


def test_plan_and_section_has_the_front_on_top_and_marks_the_cut():
    view = View("part", np.ones((6, 8)), np.ones((4, 8)), DIFFUSIVITY, "alpha")
    figure = plan_and_section([view, view], (1.0, *SIZE), cut_y=2.5)
    sections = list(figure.select_yaxes(row=2))
    assert [axis.range for axis in sections] == [(1.0, 0), (1.0, 0)]
    assert [shape.y0 for shape in figure.layout.shapes] == [2.5, 2.5]


def test_decay_curves_are_log_log_with_a_guide_of_slope_one_half():
    times = np.geomspace(0.05, 5, 50)
    curve = Curve("sound", 10 * times**-0.5, 10 * times**-0.5)
    figure = decay_curves(times, [curve], Units(temperature="K"))
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis.title.text == "Temperature rise (K)"
    guide = traces(figure)[-1]
    slope = np.diff(np.log(np.asarray(guide.y))) / np.diff(np.log(np.asarray(guide.x)))
    assert slope == pytest.approx(-0.5)


def test_decay_curves_ignore_time_zero_and_need_a_curve():
    times = np.array([0.0, 1.0, 2.0])
    figure = decay_curves(times, [Curve("a", np.array([3.0, 2.0, 1.0]))])
    assert 0 not in traces(figure)[0].x
    with pytest.raises(InputError, match="at least one"):
        decay_curves(times, [])


def test_contrast_curve_marks_the_peak():
    times = np.linspace(0.1, 3, 30)
    figure = contrast_curve(times, [Curve("contrast", 4 - (times - 1.03) ** 2)])
    note = figure.layout.annotations[0]
    assert note.text == "peak 4 at t = 1.03"
    assert note.x == pytest.approx(np.log10(1.03))
