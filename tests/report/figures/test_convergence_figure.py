from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.inversion.penalties import PENALTIES
from nefty.report.figures.convergence import MOST_POINTS, convergence, running


@pytest.fixture
def history():
    return {
        "stage": np.array(["bulk"] * 3 + ["volume <b>"] * 5),
        "evaluations": np.array([1, 2, 3, 1, 2, 3, 4, 5]),
        "seconds": np.linspace(0.1, 2, 8),
        "misfit": np.geomspace(1000, 1.1, 8),
        "objective": np.geomspace(1000, 3, 8),
    }


def test_a_counter_that_starts_again_goes_on():
    np.testing.assert_array_equal(running(np.array([1.0, 2, 3, 1, 2, 1])), [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(running(np.array([1.0, 4, 9])), [1, 4, 9])


def test_each_stage_has_a_line_in_each_panel(history):
    figure: Any = convergence(history)
    assert [trace.name for trace in figure.data] == 2 * ["bulk", "volume &lt;b&gt;"]
    np.testing.assert_array_equal(figure.data[1].x, [3, 4, 5, 6, 7, 8])
    assert [trace.showlegend for trace in figure.data] == [True, True, False, False]


@pytest.mark.parametrize("count", range(len(PENALTIES) + 1))
def test_every_penalty_that_counts_has_a_panel(history, count):
    """Gaps where it does not count; in two columns, whose axes the buttons change too."""
    some, rest = list(PENALTIES)[:count], list(PENALTIES)[count:]
    values = np.append(np.zeros(3), np.geomspace(4, 1, 5))
    figure: Any = convergence(history | dict.fromkeys(some, values) | dict.fromkeys(rest, np.zeros(8)))
    titles = ["Misfit / noise²", "Objective", *(PENALTIES[name].title for name in some)]
    assert [note.text for note in figure.layout.annotations if note.text != "noise floor"] == titles
    assert len(figure.data) == 2 * len(titles)
    if count:
        assert np.isnan(figure.data[4].y).all()  # of the first stage
        np.testing.assert_array_equal(figure.data[5].y[1:], values[3:])
    changed = figure.layout.updatemenus[0].buttons[1].args[1]
    assert set(changed.values()) == {"seconds"}
    assert len(changed) == len(titles)


def test_the_noise_floor_is_a_line_with_a_word_on_it(history):
    figure: Any = convergence(history)
    assert [(shape.y0, shape.yref) for shape in figure.layout.shapes] == [(1, "y")]
    note = next(note for note in figure.layout.annotations if note.text == "noise floor")
    assert note.y == 0  # the logarithm of 1
    assert figure.layout.yaxis.range[0] < 0


def test_without_noise_there_is_no_floor(history):
    figure: Any = convergence(history, noise_floor=None)
    assert not figure.layout.shapes
    assert figure.layout.annotations[0].text == "Mean squared residual"


def test_the_buttons_change_between_evaluations_and_seconds(history):
    figure: Any = convergence(history)
    buttons = figure.layout.updatemenus[0].buttons
    assert [button.label for button in buttons] == ["by evaluations", "by seconds"]
    change, titles = buttons[1].args
    np.testing.assert_allclose(change["x"][0], history["seconds"][:3])
    assert titles == {"xaxis.title.text": "seconds", "xaxis2.title.text": "seconds"}


def test_less_history_is_enough():
    figure: Any = convergence({"misfit": np.array([3.0, 2.0])})
    assert len(figure.data) == 1
    assert figure.layout.xaxis.title.text == "iterations"
    assert not figure.layout.updatemenus


def test_an_objective_below_zero_has_a_linear_axis(history):
    figure: Any = convergence(history | {"objective": np.linspace(1, -1, 8)})
    assert figure.layout.yaxis.type == "log"
    assert figure.layout.yaxis2.type is None


def test_long_histories_are_thinned_and_keep_their_end():
    figure: Any = convergence({"misfit": np.geomspace(100, 1, 10_000)})
    assert len(figure.data[0].x) <= MOST_POINTS + 1
    assert figure.data[0].x[-1] == 10_000


def test_without_misfit_and_objective_there_is_nothing_to_draw():
    with pytest.raises(InputError, match="neither misfit nor objective"):
        convergence({"seconds": np.arange(3.0)})
