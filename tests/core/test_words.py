import json

import numpy as np

from nefty.core.words import counted, decimals, duration, outlined, quantity, span, times


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_a_quantity_keeps_its_unit_on_the_line():
    assert quantity(0.43712, "mm") == "0.437\u00a0mm"
    assert quantity(0.43712, "") == "0.437"
    assert plain(times("10", 10, quantity(1, "mm"))) == "10 × 10 × 1 mm"


def test_spans():
    assert plain(span(0.1, 0.2, "mm")) == "0.1 to 0.2 mm"
    assert plain(span(0.1, 0.10001, "mm")) == "0.1 mm"


def test_decimals_show_a_tenth_of_a_cell():
    assert [decimals(step) for step in (0.0625, 0.15625, 0.1, 1.0, 20.0, 0.0)] == [3, 2, 2, 1, 0, 0]


def test_counted():
    assert [counted(n, "defect") for n in (0, 1, 2, 12)] == ["no defects", "one defect", "two defects", "12 defects"]


def test_durations():
    assert [duration(s) for s in (0.0123, 12.34, 250, 7500)] == ["12.3 ms", "12.3 s", "4 min 10 s", "2 h 5 min"]


def test_outlined_keeps_every_value_exactly():
    text = outlined({"a": {"b": 0.1, "c": [1, 2]}, "d": [{"e": "<x>"}], "f": None, "g": np.float64(0.5)})
    assert text == 'a:\n  b: 0.1\n  c: [1, 2]\nd:\n  -\n    e: "<x>"\nf: null\ng: 0.5'
    assert json.loads(outlined({"x": 1e-17}).removeprefix("x: ")) == 1e-17


def test_outlined_names_long_arrays_by_their_shape():
    assert outlined({"a": np.zeros((5, 5)), "b": np.arange(2)}) == 'a: "array of shape (5, 5)"\nb: [0, 1]'
