from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.report.figures.curves import Curve
from nefty.report.figures.fit_curves import fit_curves
from nefty.report.figures.style import AxisUnits

TIMES = np.linspace(0.05, 5, 60)
LINE = 10 * TIMES**-0.5


def draw(*titles: str, noise: float | None = 0.1, measured: np.ndarray = LINE + 0.05, fitted: np.ndarray = LINE) -> Any:
    panels = [(title, [Curve("a", measured, fitted), Curve("b", measured, fitted)]) for title in titles]
    return fit_curves(TIMES, panels, AxisUnits(time="s", temperature="K"), noise=noise)


def test_the_band_is_twice_the_noise_on_either_side():
    band = draw("Front").data[0]
    assert band.fill == "toself"
    np.testing.assert_allclose(band.y[:60], LINE + 0.2)
    np.testing.assert_allclose(band.y[60:], (LINE - 0.2)[::-1])


def test_below_it_counts_in_noise():
    figure = draw("Front")
    left = [trace for trace in figure.data if trace.yaxis == "y2"]
    assert len(left) == 2
    np.testing.assert_allclose(left[0].y, 0.5)
    assert figure.layout.yaxis2.title.text == "residual / noise"
    assert (figure.layout.shapes[0].y0, figure.layout.shapes[0].y1) == (-2, 2)


@pytest.mark.parametrize("noise", [None, 0.0])
def test_without_noise_there_is_no_band(noise):
    figure = draw("Front", noise=noise)
    assert not [trace for trace in figure.data if trace.fill]
    assert figure.layout.yaxis2.title.text == "residual (K)"


def test_both_faces_stand_side_by_side_with_one_legend():
    figure = draw("Front face", "Back face")
    assert [note.text for note in figure.layout.annotations] == ["Front face", "Back face"]
    assert sum(bool(trace.showlegend) for trace in figure.data) == 2
    assert figure.layout.yaxis2.type == "log"


def test_a_signal_within_the_noise_has_no_band_and_a_valid_axis():
    figure = draw("Back", measured=np.full(60, -0.1), fitted=np.full(60, 1e-6))
    low, high = figure.layout.yaxis.range
    assert np.isfinite([low, high]).all()
    assert low < high
    assert len(figure.data[0].x) == 0


def test_missing_values_stay_missing():
    figure = draw("Front", measured=np.full(60, np.nan))
    assert np.isnan(figure.data[2].y).all()


def test_frames_before_the_flash_are_left_out():
    times = np.array([-1.0, 0.0, 1.0, 2.0])
    values = np.array([0.0, 9.0, 3.0, 2.0])
    figure: Any = fit_curves(times, [("a", [Curve("p", values, values)])])
    assert all(min(trace.x) > 0 for trace in figure.data)


def test_no_curves_no_figure():
    with pytest.raises(InputError, match="at least one"):
        fit_curves(TIMES, [])
