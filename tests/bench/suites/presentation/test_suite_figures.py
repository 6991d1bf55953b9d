import json
import re
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from nefty.bench.suites.check import OF_PARTS, OF_PLATES
from nefty.bench.suites.presentation.figures import FIGURES, convergence, seconds, spectra, suite_figures
from nefty.bench.suites.presentation.images import (
    Example,
    example,
    image_rows,
    slices,
    surface_errors,
    surface_errors_figure,
)
from nefty.bench.suites.suite import FigureName
from nefty.report.figures.style import DIFFUSIVITY
from support.outcomes import SHAPE, outcome, outcomes, small_suite


@pytest.fixture(scope="module")
def suite():
    return small_suite()


@pytest.fixture(scope="module")
def done(suite):
    return outcomes(suite)


def drawn(section) -> Any:
    return section.figure


def with_iou(suite, marks, methods=("fast", "grid")):
    """Outcomes of homogeneous specimens with a given IoU of the first method, by seed."""
    return [
        (e, outcome(e, scores={"iou": marks[e.task.seed] if e.task.method == "fast" else 0.1}))
        for e in suite.entries()
        if e.task.kind == "homogeneous" and e.task.method in methods and e.task.seed in marks
    ]


def test_there_is_a_function_for_every_figure_of_a_suite():
    assert set(FIGURES) == set(get_args(FigureName))


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in (*OF_PLATES, *OF_PARTS, "training")])
def test_every_figure_says_how_to_read_it_and_bears_missing_outcomes(name, suite, done):
    sections = suite_figures(suite, done, name)
    assert sections
    assert all(s.figure is not None and s.shows and s.good and s.bad and s.do for s in sections)
    assert suite_figures(suite, [], name) == []
    only = [(e, o) for e, o in done if e.task.method == "grid" and e.task.kind == "layered" and e.task.seed == 2]
    assert len(suite_figures(suite, only, name)) == 1


def test_the_example_is_the_median_specimen_of_the_first_method(suite):
    done = with_iou(suite, {0: 0.9, 1: 0.2, 2: 0.5, 3: 0.7, 4: 0.1})
    shown = example(suite, done, ["clean"], "homogeneous")
    assert shown is not None
    assert shown.seed == 2
    assert list(shown.outcomes) == ["nefty fast", "Grid Opt."]
    assert example(suite, done, ["clean"], "layered") is None


def test_the_example_is_one_that_all_methods_have(suite):
    done = with_iou(suite, {0: 0.9, 1: 0.2, 2: 0.5, 3: 0.7, 4: 0.1}, methods=("fast",))
    done += [(e, o) for e, o in with_iou(suite, {1: 0.2}) if e.task.method == "grid"]
    shown = example(suite, done, ["clean"], "homogeneous")
    assert shown is not None
    assert shown.seed == 1


def decoded(trace, power):
    return np.asarray(trace.z, dtype=float) / 10.0**power


def test_slices_hold_the_volumes_with_one_set_of_colours(suite, done):
    homogeneous, layered = slices(suite, done)
    assert (homogeneous.title, layered.title) == ("Slices, homogeneous", "Slices, layered")
    shown = example(suite, done, ["clean"], "homogeneous")
    assert shown is not None
    figure = drawn(homogeneous)
    depths = [float(re.findall(r"z = ([\d.]+)", a.text)[0]) for a in figure.layout.annotations if "z =" in a.text]
    layers = [int(z * SHAPE[0]) for z in depths]
    assert len(figure.data) == 3 * len(layers)
    volumes = [shown.truth, *(o.alpha for o in shown.outcomes.values())]
    for index, trace in enumerate(figure.data):
        assert trace.coloraxis == "coloraxis"
        expected = volumes[index // len(layers)][layers[index % len(layers)]]
        np.testing.assert_allclose(decoded(trace, 4), expected, atol=0.5e-4 + 1e-9)
    assert figure.layout.coloraxis.cmax == pytest.approx(1e4 * shown.truth.max())
    assert [a.text.split("<br>")[0] for a in figure.layout.annotations[-3:]] == ["truth", "nefty fast", "Grid Opt."]


def test_slices_of_a_suite_about_robustness_are_by_number_of_defects_and_strata():
    suite = small_suite(tables=["robustness"])
    done = outcomes(suite, [e for e in suite.entries() if e.task.method == "fast"])
    titles = [section.title for section in slices(suite, done)]
    defects = sorted({o.facts["defects"] for e, o in done if e.task.kind == "homogeneous"})
    strata = sorted({o.facts["strata"] for e, o in done if e.task.kind == "layered"})
    assert len(defects) > 1
    assert titles == [
        *(f"Slices, {n} defect{'s' if n > 1 else ''}, homogeneous" for n in defects),
        *(f"Slices, {n} strata, layered" for n in strata),
    ]


def test_outlines_run_along_all_borders_of_the_mask():
    random = np.random.default_rng(3)
    mask = random.random((5, 7)) < 0.5
    figure: Any = image_rows(
        {"a": np.ones((1, 5, 7))}, ["t"], (10.0, 14.0), DIFFUSIVITY, (0.0, 1.0), "x", "unit", mask[None]
    )
    (shape,) = figure.layout.shapes
    strokes = re.findall(r"M([\d.]+),([\d.]+)([HV])([\d.]+)", shape.path)
    assert "".join(f"M{x},{y}{way}{end}" for x, y, way, end in strokes) == shape.path
    along = sum(float(end) - float(x if way == "H" else y) for x, y, way, end in strokes)
    padded = np.pad(mask, 1)
    edges = sum(
        int(padded[i, j] != padded[i + di, j + dj]) for i in range(6) for j in range(8) for di, dj in ((1, 0), (0, 1))
    )
    assert along == pytest.approx(2.0 * edges)  # cells have sides of 2


def test_large_images_are_made_coarser_and_large_values_still_fit():
    values = np.full((1, 300, 300), 4.0e5)
    figure: Any = image_rows(
        {"a": values}, ["t"], (1.0, 1.0), DIFFUSIVITY, (0.0, 4.0e5), "x", "unit", np.zeros((1, 300, 300), bool)
    )
    (trace,) = figure.data
    assert max(np.shape(trace.z)) <= 128
    assert np.asarray(trace.z).dtype == np.int16
    np.testing.assert_allclose(decoded(trace, -2), 4.0e5)
    assert len(figure.layout.shapes) == 0


def test_the_true_volume_has_no_error_on_the_surface(suite):
    entry = next(e for e in suite.entries() if e.task.kind == "layered")
    good, bad = outcome(entry, 0), outcome(entry, 3)
    shown = Example("layered", entry.task.seed, {"true": good, "blurred": bad})
    shown = Example("layered", entry.task.seed, {"true": replace(good, stored=shown.truth), "blurred": bad})
    figure: Any = surface_errors_figure(shown)
    columns = len(figure.data) // 2
    assert all((np.asarray(t.z) == 0).all() for t in figure.data[:columns])
    assert all((np.asarray(t.z) != 0).any() for t in figure.data[columns:])
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax
    names = [a.text for a in figure.layout.annotations[-2:]]
    assert names[0] == "true<br>RMSE 0"


def test_surface_errors_are_those_of_the_simulated_frames(suite, done):
    from nefty.metrics.surface import resimulated

    section = surface_errors(suite, done)[0]
    shown = example(suite, done, ["clean"], "homogeneous")
    assert shown is not None
    recording: Any = shown.any.task.recording
    sequence = recording.sequence("homogeneous", shown.seed)
    error = resimulated(shown.outcomes["Grid Opt."].alpha, sequence) - sequence.frames
    text = next(a.text for a in drawn(section).layout.annotations if a.text.startswith("Grid Opt."))
    assert text == f"Grid Opt.<br>RMSE {np.sqrt((error**2).mean()):.2g}"


def test_spectra_are_means_over_the_specimens_that_all_methods_have(suite, done):
    some = [(e, o) for e, o in done if e.task.method == "fast" or e.task.seed in (1, 3)]
    (section,) = spectra(suite, some)
    lines = [t for t in drawn(section).data if t.xaxis == "x"]
    assert [t.name for t in lines] == ["truth", "nefty fast", "Grid Opt."]
    for line, key, method in zip(lines, ("true", "found", "found"), ("fast", "fast", "grid"), strict=True):
        chosen = [o.spectrum[key] for e, o in some if (e.task.method, e.task.kind) == (method, "homogeneous")]
        seeds = [e.task.seed for e, o in some if (e.task.method, e.task.kind) == (method, "homogeneous")]
        expected = np.mean([p for p, seed in zip(chosen, seeds, strict=True) if seed in (1, 3)], axis=0)
        known = np.isfinite(expected) & (expected > 0)
        np.testing.assert_allclose(line.y, expected[known], rtol=1e-6)
    assert drawn(section).layout.yaxis.type == "log"
    (left, right) = drawn(section).layout.shapes
    assert left.x0 == right.x0 == 4.0  # 1/(2 dz) of 8 cells


def test_loss_curves_switch_between_iterations_and_seconds(suite, done):
    long = [(e, replace(o, history={**o.history, "misfit": 1 / np.arange(1.0, 5001)})) for e, o in done]
    long = [(e, replace(o, history={**o.history, "seconds": np.linspace(0, 9, 5000)})) for e, o in long]
    (section,) = convergence(suite, long)
    figure = drawn(section)
    by_iterations, by_seconds = figure.layout.updatemenus[0].buttons
    for button in (by_iterations, by_seconds):
        assert [len(x) for x in button.args[0]["x"]] == [len(t.y) for t in figure.data]
    assert max(len(t.y) for t in figure.data) <= 200
    assert figure.data[0].x[-1] == 5000
    assert by_seconds.args[0]["x"][0][-1] == 9
    assert by_seconds.args[1] == {"xaxis.title.text": "seconds", "xaxis2.title.text": "seconds"}


def test_methods_without_a_history_have_no_curve(suite, done):
    some = [(e, replace(o, history={}) if e.task.method == "grid" else o) for e, o in done]
    (section,) = convergence(suite, some)
    assert {t.name for t in drawn(section).data} == {"nefty fast"}
    assert convergence(suite, [(e, replace(o, history={})) for e, o in done]) == []


def test_seconds_are_shown_one_by_one(suite, done):
    (section,) = seconds(suite, done)
    boxes = {(t.name, t.xaxis): t for t in drawn(section).data}
    assert set(boxes) == {(name, axis) for name in ("nefty fast", "Grid Opt.") for axis in ("x", "x2")}
    np.testing.assert_allclose(sorted(boxes["Grid Opt.", "x"].y), 4 + 0.1 * np.arange(6), rtol=1e-6)


def test_names_cannot_bring_markup_along():
    suite = small_suite(methods=[{"method": "fast", "title": "<b>bold</b>"}])
    done = outcomes(suite, [e for e in suite.entries() if e.task.seed < 2])
    for name in FIGURES:
        for section in suite_figures(suite, done, name):
            assert "<b>" not in json.dumps(json.loads(drawn(section).to_json()))
