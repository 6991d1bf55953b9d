"""The page of nefty inspect, and its figures."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.data.preparation.prepare import prepare
from nefty.physics.slab.reference_decay import reference_decay
from nefty.report.figures.curves import Curve
from nefty.report.figures.decay import decay_figure
from nefty.report.figures.frames import level_figure, window_figure
from nefty.report.figures.style import AxisUnits
from nefty.report.pages.inspection import Inspection, inspection_page
from support.flash_recordings import Camera

UNITS = AxisUnits("", "s", "K")


@pytest.fixture(scope="module")
def seen():
    gain = np.full((40, 48), 0.01)
    gain[5:35, 6:44] = 1
    camera = Camera(shape=(150, 40, 48), gain=gain)
    frames = camera.frames()
    frames[[70, 71]] = 280
    recording = camera.sequence(np.minimum(frames, np.float32(302)))
    prepared = prepare(recording, bin=2)
    summary = [("Frames", "150 of 40 x 48 pixels"), ("Noise", "30 mK")]
    return Inspection("plate.npy", recording, prepared, prepared.steps, ["the pixel size (--pixel)"], summary, UNITS)


def traces(figure) -> Any:
    """What a figure draws."""
    assert figure is not None
    return figure.data


def titles(page):
    return [section.title for section in page.sections]


def test_all_is_shown(seen):
    page = inspection_page(seen)
    assert titles(page) == [
        "What was found, step by step",
        "The frames",
        "Frame by frame",
        "How it cools",
        "Which frames become one",
        "Pixels that are not used",
        "Uneven flash and emissivity",
    ]
    facts = {fact.label: fact.value for fact in page.facts}
    assert facts["Frames"] == "150"
    assert facts["Flash"] == "frame 11"
    assert facts["Missing"] == "1"
    assert page.notice is not None
    assert page.notice.tone == "caution"
    assert "--pixel" in page.notice.text
    steps = page.sections[0].table
    assert steps is not None
    assert [row[0] for row in steps.rows][-1] == "Gain"
    assert "Drift (assumed)" in [row[0] for row in steps.rows]
    html = page.render()
    assert "plate.npy" in html
    assert "70, 71" in html


def test_the_outline_is_drawn_in_pixels_of_the_file(seen):
    line = next(trace for trace in traces(inspection_page(seen).sections[1].figure) if trace.type == "scatter")
    top, bottom, left, right = seen.prepared.pictures.suggested
    ys, xs = [y for y in line.y if y is not None], [x for x in line.x if x is not None]
    assert (min(ys), max(ys), min(xs), max(xs)) == (top, bottom, left, right)


def test_places_of_curves_are_pixels_of_the_file(seen):
    names = [trace.name for trace in traces(inspection_page(seen).sections[3].figure)]
    assert "middle: row 20, column 24" in names
    assert names[-1].startswith("slope −1/2")


def test_a_recording_without_a_rise_and_without_noise_is_shown_too():
    camera = Camera(shape=(40, 12, 12), rise=0.0, sigma=0.0, ambient=-3.0)
    frames = camera.frames()
    frames[:, 3, 3] += np.linspace(0, 1, 40, dtype=np.float32)
    recording = camera.sequence(frames)
    prepared = prepare(recording)
    page = inspection_page(Inspection("x", recording, prepared, prepared.steps, [], [], UNITS))
    assert "How it cools" not in titles(page)
    assert "Which frames become one" not in titles(page)
    assert {fact.label: fact.value for fact in page.facts}["Flash"] == "not found"
    assert page.render()


def test_nothing_missing_is_said_calmly(seen):
    page = inspection_page(dataclasses.replace(seen, missing=[]))
    assert page.notice is not None
    assert page.notice.tone == "calm"


def test_the_line_of_a_thick_part_has_slope_one_half():
    times = np.geomspace(0.1, 10, 20)
    figure = decay_figure(times, [Curve("mean", 3 / np.sqrt(times)), Curve("a pixel", 1 / times)], UNITS)
    line = traces(figure)[-1]
    np.testing.assert_allclose(np.diff(np.log(line.y)) / np.diff(np.log(line.x)), -0.5)
    np.testing.assert_allclose(line.y, 3 / np.sqrt(times))
    with pytest.raises(InputError, match="no curve"):
        decay_figure(times, [Curve("mean", -np.ones(20))])


def test_frames_are_marked_by_their_number():
    levels = np.linspace(1, 0, 50)
    figure = level_figure(levels, np.arange(10, 50), np.array([20, 30]), 9, UNITS)
    used, left_out, corrupt = traces(figure)
    assert list(left_out.x) == list(range(10))
    assert list(corrupt.x) == [20, 30]
    assert len(used.x) == 40
    counts = np.array([1, 2, 4])
    frames, _ = traces(window_figure(counts.astype(float), counts, 0.1 / np.sqrt(counts), np.array([5, 6, 8])))
    assert list(frames.y) == [1, 2, 4]
    assert frames.customdata[2][0] == 8


def test_the_law_of_a_slab_goes_through_the_same_point():
    times = np.geomspace(0.01, 10, 60)
    law = reference_decay(times, 1e-6, 2e-3)
    figure = decay_figure(times, [Curve("mean", 40 * law)], UNITS, law=law)
    drawn = traces(figure)[-1]
    assert drawn.name == "law of a sound slab"
    assert np.allclose(drawn.y, 40 * law)
