import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from nefty.core.errors import NeftyError
from nefty.core.grid import Grid
from nefty.core.stopping import UNKNOWN, Stopped, StopReason
from nefty.data.facts import CalibratedValue, CameraFacts, Facts, Heating, Origin, Step, Units
from nefty.metrics.pairing import paired
from nefty.metrics.score import evaluate
from nefty.physics.materials import Material
from nefty.report.figures.style import units_of
from nefty.report.pages.findings import Findings
from nefty.report.pages.page import Page
from nefty.report.pages.reconstruction import reconstruction_page, write_report
from nefty.result.reconstruction import Reconstruction

NASTY = '<script>alert("x")</script> & <b>'
GRID = Grid((8, 20, 24), (1.0, 10.0, 12.0))
BOXES = ((slice(2, 5), slice(4, 9), slice(4, 10)), (slice(4, 6), slice(12, 16), slice(15, 20)))


@pytest.fixture(scope="module")
def rec() -> Reconstruction:
    """Two boxes, the second of them one pixel too wide; frames that the noise explains."""
    random = np.random.default_rng(0)
    truth = np.full(GRID.shape, 0.15)
    alpha = truth * 1.01
    for box in BOXES:
        truth[box], alpha[box] = 0.01, 0.012
    alpha[4:6, 12:16, 20] = 0.012
    times = np.linspace(0.1, 4, 40)
    fitted = np.broadcast_to(30 * times[:, None, None] ** -0.5, (40, *GRID.shape[1:])).copy()
    steps = np.arange(1.0, 31.0)
    return Reconstruction(
        grid=GRID,
        alpha=alpha,
        background=np.full(8, 0.1515),
        times=times,
        measured=fitted + 0.2 * random.normal(size=fitted.shape),
        fitted=fitted,
        noise=0.2,
        history={
            "stage": np.array(["bulk"] * 10 + ["volume"] * 20),
            "evaluations": steps,
            "seconds": 0.4 * steps,
            "misfit": 1 + 500 * np.exp(-steps / 4),
            "objective": 2 + 500 * np.exp(-steps / 4),
        },
        recipe={"name": "fast", "optimiser": {"evaluations": 150}},
        provenance={"seed": "3"},
        stopped=Stopped(StopReason.GOOD_ENOUGH, "the noise floor was reached"),
        truth=truth,
        facts=Facts(units=Units(length="mm", time="s", temperature="K"), origin=Origin(name="plate 7")),
    )


@pytest.fixture(scope="module")
def page(rec) -> Page:
    return reconstruction_page(rec)


def sound(rec: Reconstruction) -> Reconstruction:
    even = np.full(GRID.shape, 0.1515)
    return replace(rec, alpha=even, truth=None)


def two_sided(rec: Reconstruction) -> Reconstruction:
    return replace(rec, measured=np.stack([rec.measured] * 2), fitted=np.stack([rec.fitted] * 2))


def masked(rec: Reconstruction) -> Reconstruction:
    measured = rec.measured.copy()
    measured[:, :3] = np.nan
    measured[7] = np.nan
    return replace(rec, measured=measured)


#: Words of a judgement that is not ours to make; "no acceptance limits" is what the report says about that.
JUDGEMENT = re.compile(r"\b(pass|fail|reject)(es|s|ed|ing|ure)?\b|\baccept(s|ed|able|ing)?\b", re.IGNORECASE)

VARIANTS = {
    "with truth": lambda rec: rec,
    "without truth": lambda rec: replace(rec, truth=None),
    "sound": sound,
    "sound, and the truth is not": lambda rec: replace(sound(rec), truth=rec.truth),
    "sound, and so is the truth": lambda rec: replace(sound(rec), truth=np.full(GRID.shape, 0.15)),
    "false alarm": lambda rec: replace(rec, truth=np.full(GRID.shape, 0.15)),
    "two-sided": two_sided,
    "masked": masked,
    "noise not known": lambda rec: replace(rec, noise=None),
    "no noise": lambda rec: replace(rec, noise=0.0),
    "bare": lambda rec: replace(
        rec, noise=None, truth=None, history={}, recipe={}, provenance={}, stopped=UNKNOWN, facts=Facts()
    ),
    "single precision": lambda rec: replace(rec, alpha=rec.alpha.astype("f4"), measured=rec.measured.astype("f4")),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_result_has_a_page(rec, variant):
    page = reconstruction_page(VARIANTS[variant](rec))
    html = page.render()
    for section in page.sections:
        assert section.shows
        assert section.good
        assert section.bad
        assert section.do
        shown = section.figure is not None or section.table is not None or section.pictures
        assert shown or "nothing to list" in section.shows
    own = html.replace(get_plotlyjs(), "")
    text = re.sub(r"<script.*?</script>", "", own, flags=re.S)
    assert not JUDGEMENT.search(text)
    assert "they set no acceptance limits" in text
    assert "nan" not in re.sub(r"<[^>]*>", " ", text).lower().split()
    assert "()" not in text
    assert len(html.encode()) < 8e6


def test_the_headline_and_the_facts_say_what_was_found(page):
    assert page.title == "Two indications found, depth to the top 0.25 to 0.5\u00a0mm of 1\u00a0mm"
    facts = {fact.label: fact.value.replace("\u00a0", " ") for fact in page.facts}
    assert facts["Indications"] == "2"
    assert facts["Depth to the top"].startswith("0.25 to 0.")
    assert float(facts["Misfit"]) == pytest.approx(1, abs=0.05)
    assert facts["Bulk diffusivity"] == "0.151 mm²/s" or facts["Bulk diffusivity"] == "0.152 mm²/s"
    assert facts["Wall time"] == "12 s"
    assert facts["Against the truth"].startswith("IoU 0.9")
    assert "plate 7" in page.lead
    assert "“fast”" in page.lead


def test_a_score_is_shown_as_given(rec):
    score = evaluate(rec, rec.truth)
    fact = reconstruction_page(rec, score).facts[-1]
    assert fact.value == f"IoU {score.iou:.2f}"
    assert "dB" in fact.note


def test_found_and_true_defects_stand_together(rec, page):
    table = page.sections[1].table
    assert table is not None
    assert [row[0] for row in table.rows] == ["1", "truth", "2", "truth"]
    assert list(table.quiet) == [1, 3]
    found, true = Findings(rec).pairs[1]
    assert found is not None
    assert true is not None
    assert found.size_x > true.size_x


def test_missed_and_invented_defects_are_named(rec):
    missed = reconstruction_page(replace(sound(rec), truth=rec.truth)).sections[1].table
    invented = reconstruction_page(replace(rec, truth=np.full(GRID.shape, 0.15))).sections[1].table
    assert missed is not None
    assert invented is not None
    assert [row[0] for row in missed.rows] == ["truth, missed"] * 2
    assert [row[0] for row in invented.rows] == ["1, not in the truth", "2, not in the truth"]


def test_far_defects_are_no_pair(rec):
    first, second = Findings(rec).defects
    assert paired([first], [second]) == [(first, None), (None, second)]
    assert paired([second, first], [first, second]) == [(second, second), (first, first)]
    assert paired([], []) == []


def test_the_decay_is_shown_over_defects_and_over_sound_material(rec):
    findings = Findings(rec)
    assert [word for word, _ in findings.points] == ["indication 1", "indication 2", "sound material"]
    for word, (y, x) in findings.points:
        assert findings.footprint[y, x] == word.startswith("indication")


def test_masked_pixels_are_not_chosen(rec):
    measured = rec.measured.copy()
    measured[:, 4:9, 4:10] = np.nan
    hidden = replace(rec, measured=measured)
    for _, (y, x) in Findings(hidden).points:
        assert np.isfinite(measured[:, y, x]).all()


def test_reconstruction_and_truth_share_their_colours(page):
    slices: Any = next(s for s in page.sections if s.title == "Slice by slice").figure
    a, b = (trace for trace in slices.data if trace.type == "heatmap")
    assert (a.zmin, a.zmax) == (b.zmin, b.zmax)
    assert slices.layout.sliders[0].active == 4  # the layer with most of both boxes


def test_residuals_are_in_units_of_the_noise(page):
    figure: Any = next(s for s in page.sections if s.title == "What the volume leaves unexplained").figure
    residual, spread = (trace for trace in figure.data if trace.type == "heatmap")
    assert (residual.zmin, residual.zmax) == (-4, 4)
    assert np.std(residual.z) == pytest.approx(1, abs=0.1)
    assert np.mean(spread.z) == pytest.approx(1, abs=0.1)
    assert len(figure.frames) <= 24


def test_both_faces_are_shown(rec):
    page = reconstruction_page(two_sided(rec))
    figures: dict[str, Any] = {section.title: section.figure for section in page.sections if section.figure}
    titles = {title: [note.text for note in figure.layout.annotations] for title, figure in figures.items()}
    assert titles["Measured and fitted decay"][:2] == ["Front face", "Back face"]
    assert titles["What the volume leaves unexplained"] == ["Front face", "Back face"]


def test_text_from_outside_is_escaped_and_nothing_is_fetched(rec):
    nasty = replace(
        rec,
        stopped=Stopped(StopReason.UNKNOWN, NASTY),
        provenance={NASTY: NASTY},
        recipe={"name": NASTY, NASTY: [NASTY]},
        facts=Facts(
            units=Units(length=NASTY, time=NASTY, temperature=NASTY),
            material=Material(name=NASTY, alpha_z=1.0, alpha_y=1.0, alpha_x=1.0, note=NASTY),
            camera=CameraFacts(model=NASTY),
            heating=Heating(NASTY),
            calibration=(CalibratedValue(NASTY, 1.0, unit=NASTY),),
            origin=Origin(name=NASTY),
            extra={NASTY: NASTY},
        ).done(Step(NASTY, NASTY), Step(NASTY, NASTY, assumed=True)),
        history={**rec.history, "stage": np.array([NASTY] * 30)},
    )
    own = reconstruction_page(nasty).render().replace(get_plotlyjs(), "")
    assert "<script>alert" not in own
    assert not re.search(r"https?://|@import|url\(", own)
    assert not re.search(r"<(link|iframe|object|embed)\b", own, re.I)
    assert all(src.startswith("data:image/png;base64,") for src in re.findall(r"<img[^>]* src=\"([^\"]*)", own))
    assert "default-src 'none'" in own


def test_units_come_from_the_recording(rec):
    assert units_of(rec).diffusivity == "mm²/s"
    assert units_of(replace(rec, facts=Facts())).length == ""
    assert units_of(replace(rec, facts=Facts(units=Units(diffusivity="m²/s")))).diffusivity == "m²/s"


def test_a_large_result_stays_a_small_file():
    grid = Grid((40, 200, 181), (4.0, 100.0, 90.0))
    alpha = np.full(grid.shape, 0.1, dtype="f4")
    alpha[10:20, 50:90, 40:80] = 0.01
    frames = np.ones((60, 200, 181), dtype="f4")
    large = Reconstruction(grid, alpha, alpha[:, 0, 0].copy(), np.linspace(1, 60, 60), frames, frames, 0.1, truth=alpha)
    page = reconstruction_page(large)
    assert len(page.render().encode()) < 12e6
    slices: Any = next(s for s in page.sections if s.title == "Slice by slice").figure
    assert len(slices.frames) == 20  # every second layer
    assert slices.data[0].z.shape == (100, 90)


def test_write_report_writes_the_whole_page_or_nothing(rec, tmp_path):
    path = write_report(rec, tmp_path / "run" / "report.html")
    assert path == tmp_path / "run" / "report.html"
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.rstrip().endswith("</html>")
    assert [p.name for p in path.parent.iterdir()] == ["report.html"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(NeftyError, match="cannot write"):
        write_report(rec, tmp_path / "file" / "report.html")


def test_the_result_writes_its_own_report(rec, tmp_path):
    assert rec.report(tmp_path / "report.html").stat().st_size > 1e6


@pytest.mark.parametrize("face", [(1, 600), (600, 1)])
def test_a_line_of_pixels_has_a_report(rec, face):
    grid = Grid((8, *face), (1.0, float(face[0]), float(face[1])))
    frames = np.broadcast_to(rec.fitted[:, :1, :1], (40, *face)).copy()
    line = replace(rec, grid=grid, alpha=np.full(grid.shape, 0.15), measured=frames, fitted=frames, truth=None)
    assert "Slice by slice" in reconstruction_page(line).render()
