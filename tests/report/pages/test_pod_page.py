import csv
import io
import math
import re
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from nefty.metrics.detection import hit_miss, signal_response
from nefty.metrics.detection.table import DetectionTable, SoundPlace, Target
from nefty.report.figures.pod import pod_curve, signal_plot
from nefty.report.pages.pod import curve_csv, pod_page


def targets(seed=4, number=80):
    random = np.random.default_rng(seed)
    sizes = np.exp(random.uniform(math.log(0.5), math.log(10), number))
    hits = random.random(number) < 1 / (1 + np.exp(2 - 2.5 * np.log(sizes)))
    signals = np.exp(0.2 + 1.1 * np.log(sizes) + 0.35 * random.normal(size=number))
    rows = tuple(Target(float(a), bool(h), float(s)) for a, h, s in zip(sizes, hits, signals, strict=True))
    places = (SoundPlace(False, 0.5),) * 17 + (SoundPlace(True, 2.5),) * 3
    return DetectionTable(rows, "mm", places, 20)


@pytest.mark.parametrize("transform", ["log", "linear"])
def test_the_curve_crosses_where_the_numbers_say(transform):
    table = targets()
    pod = hit_miss(table.sizes, table.hits, transform=transform, asymptote="one")
    figure: Any = pod_curve(pod, table.sizes, table.hits, "mm")
    curves = {trace.name: trace for trace in figure.data}
    line, bound = curves["POD"], curves["lower 95 % confidence, likelihood ratio"]
    assert np.interp(0.9, line.y, line.x) == pytest.approx(pod.a90, rel=0.01)
    assert np.interp(0.9, bound.y, bound.x) == pytest.approx(pod.a90_likelihood, rel=0.01)
    assert np.interp(2.0, bound.x, bound.y) < np.interp(2.0, line.x, line.y)
    assert f"found, {table.hits.sum()}" in curves
    assert figure.layout.xaxis.title.text == "size (mm)"
    assert figure.layout.xaxis.type == ("log" if transform == "log" else None)


def test_signals_lie_around_the_fitted_line():
    table = targets()
    pod = signal_response(table.sizes, table.signals, 2.0)
    figure: Any = signal_plot(pod, table.sizes, table.signals, 2.0, "mm")
    band, line, dots = figure.data
    slope = np.polyfit(np.log(table.sizes), np.log(table.signals), 1)
    np.testing.assert_allclose(np.log(line.y), np.polyval(slope, np.log(line.x)), atol=1e-6)
    upper = np.interp(table.sizes, band.x[:160], band.y[:160])
    assert np.mean(dots.y < upper) == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("threshold", [None, 2.0])
def test_the_page_says_the_numbers_and_judges_nothing(threshold):
    table = targets()
    pod = (
        hit_miss(table.sizes, table.hits, false_calls=table.false_calls())
        if threshold is None
        else signal_response(table.sizes, table.signals, threshold, false_calls=table.false_calls(threshold))
    )
    page = pod_page(pod, table, threshold=threshold, source="somewhere")
    bound = max(pod.a90_wald, pod.a90_likelihood)
    assert page.title.replace("\u00a0", " ") == (
        f"Probability of detection: a90/95 = {bound:.3g} mm; 0.15 false calls per part"
    )
    facts = {fact.label: fact.value.replace("\u00a0", " ") for fact in page.facts}
    assert facts["a90"] == f"{pod.a90:.3g} mm"
    assert facts["False calls"] == "0.15"
    assert "False calls: 3 in 20 parts, 0.15 per part (0.031 to 0.44), 95 %" in page.lead
    assert all(
        "0.15 false calls per part" in fact.note
        for fact in page.facts
        if fact.label in ("a90", "a90/95, likelihood ratio")
    )
    assert "somewhere" in page.lead
    text = re.sub(r"<script.*?</script>", "", page.render().replace(get_plotlyjs(), ""), flags=re.S)
    assert not re.search(r"\b(pass|fail|accept|reject)(es|s|ed|ing|ure|able)?\b", text, re.IGNORECASE)
    assert [s.title for s in page.sections][-1] == "The targets"
    assert ("Signals against sizes" in [s.title for s in page.sections]) == (threshold is not None)


def test_few_targets_and_no_bound_are_said_first():
    hits = [True, False] * 4 + [True, True]
    table = DetectionTable(tuple(Target(float(a), hit) for a, hit in enumerate(hits, 1)))
    page = pod_page(hit_miss(table.sizes, table.hits), table)
    assert page.title.endswith("the data set no bound; false calls not measured")
    assert page.facts[-1].value == "not measured"
    assert page.notice is not None
    assert "10 targets; MIL-HDBK-1823A asks for at least 60." in page.notice.text
    assert page.facts[2].value == "none"


def test_the_curve_as_csv_can_be_read_back():
    table = targets()
    pod = hit_miss(table.sizes, table.hits)
    header, *rows = csv.reader(io.StringIO(curve_csv(pod, "mm")))
    assert header == ["pod", "size (mm)", "bound_wald (mm)", "bound_likelihood (mm)"]
    found = {float(p): [float(v) for v in rest] for p, *rest in rows}
    assert found[0.9] == pytest.approx([pod.a90, pod.a90_wald, pod.a90_likelihood], rel=1e-5)


def test_a_curve_that_ends_below_says_so_in_page_and_figure():
    """Of 300 targets one in four is missed whatever its size."""
    random = np.random.default_rng(3)
    sizes = np.exp(random.uniform(math.log(0.5), math.log(10), 300))
    hits = random.random(300) < 0.75 / (1 + np.exp(3 - 4 * np.log(sizes)))
    table = DetectionTable(tuple(Target(float(a), bool(h)) for a, h in zip(sizes, hits, strict=True)), "mm")
    pod = hit_miss(table.sizes, table.hits)
    page = pod_page(pod, table)
    assert "no a90, large defects are found in" in page.title
    facts = {fact.label: fact.value for fact in page.facts}
    assert (facts["a90"], facts["a90/95, likelihood ratio"]) == ("none", "none")
    assert facts["POD of large defects"] == f"{pod.ceiling:.3g}"
    assert "a90/95, Wald" not in facts
    figure: Any = page.sections[0].figure
    said = [note.text for note in figure.layout.annotations]
    assert f"asymptote {pod.ceiling:.3g}" in said
    assert "no a90, false calls not measured" in said
    assert max(figure.data[0].y) < pod.ceiling
    assert [float(row.split(",")[0]) for row in curve_csv(pod).splitlines()[1:]][-1] < pod.ceiling


def test_found_against_false_is_drawn_and_tabled():
    table = targets()
    page = pod_page(hit_miss(table.sizes, table.hits), table)
    section = next(s for s in page.sections if s.title == "Found against false")
    assert section.table is not None
    figure: Any = section.figure
    line, dot = figure.data
    assert (dot.x[0], dot.y[0]) == (line.x[-1], line.y[-1]) == (1.0, pytest.approx(1.0))  # 20 places, 20 parts
    assert (np.diff(line.y) >= 0).all()
    assert section.table.rows[0][1].endswith("of 80")
