"""Polygons and rectangles that are left out: which pixels count, what is said, and what a run's fingerprint holds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.draw import polygon2mask

from nefty.core.errors import InputError
from nefty.data.deciding import deciding_facts
from nefty.data.intake.intake import take_in
from nefty.data.intake.known import Known
from nefty.data.preparation.pixel_choice import chosen_pixels, inside_polygon
from nefty.data.preparation.prepare import prepare
from nefty.data.sequence import Sequence
from nefty.physics.pulses import GaussianFlash

FACE = (12, 16)
TRIANGLE = ((1.0, 1.0), (1.0, 15.0), (11.0, 8.0))


def recording() -> Sequence:
    times = np.array([-0.1, *np.geomspace(0.1, 3, 20)])
    rise = np.where(times > 0, 5 / np.sqrt(np.abs(times)), 0.0)
    frames = rise[:, None, None] + np.random.default_rng(1).normal(0, 0.02, (times.size, *FACE))
    return Sequence(frames=frames, times=times, size=(1.0, 3.0, 4.0))


def test_pixels_whose_centre_is_inside_count():
    inside = inside_polygon(((2, 3), (2, 9), (7, 9), (7, 3)), FACE)
    assert inside[2:7, 3:9].all()
    assert inside.sum() == 5 * 6


@given(st.lists(st.tuples(st.floats(0, 12), st.floats(0, 16)), min_size=3, max_size=3))
def test_a_triangle_agrees_with_another_rule(corners):
    """Barycentric signs, but for centres on a side."""
    (ay, ax), (by, bx), (cy, cx) = corners
    y, x = np.mgrid[: FACE[0], : FACE[1]] + 0.5
    sides = [
        (x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)
        for (y0, x0), (y1, x1) in (((ay, ax), (by, bx)), ((by, bx), (cy, cx)), ((cy, cx), (ay, ax)))
    ]
    clear = np.min(np.abs(sides), axis=0) > 1e-6
    expected = np.all(np.array(sides) > 0, axis=0) | np.all(np.array(sides) < 0, axis=0)
    assert (inside_polygon(corners, FACE) == expected)[clear].all()


def test_a_bent_polygon_has_its_notch_outside():
    bent = ((0, 0), (0, 16), (12, 16), (12, 10), (6, 8), (12, 6), (12, 0))
    inside = inside_polygon(bent, FACE)
    assert not inside[11, 8]
    assert inside[3, 8]
    assert abs(int(inside.sum()) - int(polygon2mask(FACE, np.array(bent)).sum())) <= 24


def test_the_region_is_cut_to_the_polygon_and_outside_is_missing():
    prepared = prepare(recording(), polygon=TRIANGLE, leave_out=((1, 3, 7, 9),), bin="off", dead="off")
    frames = prepared.sequence.frames
    region = prepared.step("region")
    assert prepared.pictures.region[0] == 1
    chosen = chosen_pixels(TRIANGLE, [(1, 3, 7, 9)], FACE)
    assert chosen is not None
    top, bottom, left, right = prepared.pictures.region
    assert (np.isfinite(frames[0]) == chosen[top:bottom, left:right]).all()
    assert region.values["polygon"] == [list(corner) for corner in TRIANGLE]
    assert region.values["left out"] == [[1, 3, 7, 9]]
    assert f"{int(chosen.sum())} of its" in region.text


def test_polygon_and_what_is_left_out_decide_the_result_by_name():
    one = prepare(recording(), polygon=TRIANGLE, bin="off").sequence
    other = prepare(recording(), polygon=TRIANGLE, leave_out=((1, 3, 7, 9),), bin="off").sequence
    assert deciding_facts(one)["preparation"]["region"] != deciding_facts(other)["preparation"]["region"]
    assert one.digest() != other.digest()


def test_what_was_not_asked_changes_nothing():
    values = prepare(recording(), bin="off").step("region").values
    assert set(values) == {"rows", "columns"}


def test_words_and_numbers_say_the_same(tmp_path):
    file = recording().save(tmp_path / "r.npz")
    typed = Known(polygon="1,1 1,15 11,8", leave_out="1:3,7:9 4:5,8:9", typed=True)
    called = Known(polygon=TRIANGLE, leave_out=[(1, 3, 7, 9), "4:5,8:9"])
    one, other = (take_in(file, known).sequence for known in (typed, called))
    assert one.digest() == other.digest()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"polygon": "1,1 2,2"}, "--polygon '1,1 2,2' must be three corners"),
        ({"polygon": "1,1 2,2 x,3"}, "must be three corners"),
        ({"leave_out": "1:3"}, "--leave-out '1:3' must be rows and columns"),
        ({"polygon": "0,0 0.2,0 0,0.2"}, "no pixel is left"),
        ({"polygon": "1,1 1,15 11,nan"}, "finite"),
    ],
)
def test_what_cannot_be_is_refused_by_name(tmp_path, said, words):
    file = recording().save(tmp_path / "r.npz")
    with pytest.raises(InputError, match=words):
        take_in(file, Known(**said, typed=True))


def test_a_part_under_a_narrow_flash_is_not_cut_but_the_rest_does_not_count():
    """Heat crosses the sides of any piece of it, which as a part of its own would have insulated ones."""
    heated = dataclasses.replace(recording(), excitation=GaussianFlash(width=1.0))
    whole = prepare(heated, dead="off", bin="off").sequence
    cut = prepare(heated, dead="off", bin="off", roi=(2, 11, 3, 16), leave_out=[(4, 5, 6, 8)])
    found, counts = cut.sequence, np.zeros(FACE, bool)
    counts[2:11, 3:16] = True
    counts[4, 6:8] = False
    assert found.size == whole.size
    assert found.excitation == whole.excitation
    assert (np.isfinite(found.frames).all(axis=0) == counts).all()
    assert (found.facts.window.top, found.facts.window.left) == (0, 0)
    said = next(step.text for step in cut.steps if step.name == "region")
    assert "Rows 2 to 11" in said
    assert "heat flows" in said
    even = prepare(recording(), dead="off", bin="off", roi=(2, 11, 3, 16)).sequence
    assert even.frames.shape[1:] == (9, 13)  # of a part that was heated evenly a piece is like the whole
