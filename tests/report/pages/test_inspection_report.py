"""The report of a part in metres: millimetres, pixels that match the frames, where it comes from, and no judgement."""

import io
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from plotly.offline import get_plotlyjs

from nefty.core.errors import InputError
from nefty.data.facts import CalibratedValue, Facts, Heating, Note, NoteKind, Step, Window
from nefty.report.figures.depth_bands import DepthBand, depth_bands
from nefty.report.figures.style import DEPTH, AxisUnits, units_of
from nefty.report.pages import fit_sections, indication_sections, measurement_sections
from nefty.report.pages.findings import Findings
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.report.pictures.cscan import NAMES, write_cscans
from nefty.report.pictures.labelled_image import LEFT, TOP, LabelledMap, labelled_image, nice_ticks
from nefty.result.display_units import in_display_units
from support.parts import BULK, COLUMNS, FACTS, GRID, ROWS, planted

JUDGEMENT = re.compile(r"\b(pass|fail|reject)(es|s|ed|ing|ure)?\b|\baccept(s|ed|able|ing)?\b", re.IGNORECASE)
CALIBRATION = (
    CalibratedValue("diffusivity through the thickness", 4.51e-7, start=3.1e-7, unit="m2/s", spread=2e-9),
    CalibratedValue("heat loss of the back face", 5.1, start=10.0, unit="W/m2K"),
    CalibratedValue("heated margin", 0.012, unit="m"),
)


@pytest.fixture(scope="module")
def rec():
    return planted()


@pytest.fixture(scope="module")
def page(rec):
    return reconstruction_page(rec)


class Sections:
    """Some of the sections of a report, without the others."""

    def __init__(self, rec, *parts):
        shown = in_display_units(rec)
        self.sections = [s for part in parts for s in part.sections(Findings(shown), units_of(shown))]


def section(page, title) -> Any:
    return next(s for s in page.sections if s.title == title)


def cells(page, title):
    table = section(page, title).table
    return {row[0]: row[1] for row in table.rows}


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_everything_is_in_millimetres(page):
    assert plain(page.title) == "One indication found, depth to the top 0.6 mm of 1.3 mm"
    facts = {fact.label: plain(fact.value) for fact in page.facts}
    assert facts["Bulk diffusivity"] == "0.45 mm²/s"
    assert "8.8 × 9 × 1.3 mm" in plain(page.lead)
    for shown in page.sections:
        if shown.figure is not None and shown.figure.layout.xaxis.title.text:
            assert not re.search(r"\(m\)|\(m²", str(shown.figure.layout))
    image = section(page, "Where the indications are").figure.data[0]
    assert image.dx == pytest.approx(0.2)
    assert image.dy == pytest.approx(0.3)


def test_axes_have_units_and_rows_go_down_as_in_the_frames(page):
    for title in ("Where the indications are", "Slice by slice", "What the volume leaves unexplained"):
        layout = section(page, title).figure.layout
        assert layout.yaxis.range == (pytest.approx(9.0), 0)
        assert layout.xaxis.range == (0, pytest.approx(8.8))
        assert (layout.xaxis.title.text, layout.yaxis.title.text) == ("x (mm)", "y (mm)")
    cut = section(page, "Cut through the indications").figure.layout
    assert (cut.xaxis.title.text, cut.yaxis.title.text) == ("x (mm)", "depth (mm)")
    assert cut.yaxis.range == (pytest.approx(1.3), 0)
    bands = section(page, "How deep, and how sure").figure.layout.yaxis
    assert bands.title.text == "depth (mm)"
    assert bands.range[0] > bands.range[1]


def test_the_position_matches_the_pixel_in_the_frames(rec, page):
    (row,) = section(page, "What they measure").table.rows
    columns = section(page, "What they measure").table.columns
    found = dict(zip(columns, row, strict=True))
    x, y = (float(v) for v in found["centre x, y (mm)"].split(","))
    line, column = (int(v) for v in found["pixel row, column"].split(","))
    assert (line, column) == (20, 11)
    assert (int(y / 0.3), int(x / 0.2)) == (line, column)
    # The mark and the coloured pixels of the map lie there, and so does what is warm in the frames.
    image, mark = section(page, "Where the indications are").figure.data[:2]
    assert (mark.x[0], mark.y[0]) == (pytest.approx(x, abs=0.01), pytest.approx(y, abs=0.01))
    coloured = np.argwhere(np.isfinite(image.z))
    assert coloured.min(axis=0).tolist() == [ROWS.start, COLUMNS.start]
    assert coloured.max(axis=0).tolist() == [ROWS.stop - 1, COLUMNS.stop - 1]
    late = rec.measured[32]
    assert late[line, column] > late[line, 43 - column] + 1  # not mirrored
    assert late[line, column] > late[29 - line, column] + 1  # not upside down
    names = [trace.name for trace in section(page, "Measured and fitted decay").figure.data]
    assert "indication 1 (row 20, column 11)" in names


def test_positions_are_those_of_the_whole_frames_if_they_were_cut_and_averaged(rec):
    steps = (
        Step("region", "Rows 50 to 110 and columns 20 to 108 were cut out."),
        Step("pixels", "The means of 2 x 2 pixels were taken."),
    )
    cut = replace(rec, facts=FACTS.replaced(window=Window(top=50, left=20, bin=2)).done(*steps))
    page = Sections(cut, indication_sections, measurement_sections)
    (row,) = section(page, "What they measure").table.rows
    assert row[2] == f"{50 + 2 * 20 + 1}, {20 + 2 * 11 + 1}"
    said = " ".join(cells(page, "How this was measured").values())
    assert "Rows 50 to 110 and columns 20 to 108" in said
    assert "means of 2 x 2 pixels" in said
    assert "rows and columns from that of the frames" in said
    assert plain(cells(page, "How this was measured")["part"]).endswith("pixels of 0.1 × 0.15 mm")


def test_the_table_has_size_band_contrast_and_snr(page):
    found = section(page, "What they measure")
    row = dict(zip(found.table.columns, found.table.rows[0], strict=True))
    low, high = (float(v) for v in row["its band (mm)"].split(" to "))
    assert low < float(row["depth to top (mm)"]) < high
    assert row["FWHM (mm)"] == "2.20 × 2.10"
    assert float(row["area (mm²)"]) == pytest.approx(4.62)
    decibels, when = (float(v) for v in row["SNR (dB), at t (s)"].split(","))
    assert decibels > 30
    assert 0.3 < when < 2
    assert row["ΔT (K)"].startswith("+")
    assert "log₁₀(|ΔT|" in found.terms


def test_how_it_was_measured_says_what_is_known_and_what_is_not(rec):
    known = {k: plain(v) for k, v in cells(Sections(rec, measurement_sections), "How this was measured").items()}
    assert known["camera"] == "SC5000, 27 mm"
    assert known["frame rate"] == "50 Hz"
    assert known["material"] == "cfrp, diffusivity (z, y, x) 0.45, 0.45, 0.45 mm²/s; source: table of nefty"
    assert known["flash"] == "not recorded"
    assert known["frames used"] == "50, 0.03 to 3 s after the flash"
    assert known["step 1"].startswith("Counts became kelvin")
    assert "all depths scale with it" in known["assumption 1"]
    pulse = replace(rec, facts=FACTS.replaced(heating=Heating("TopHatPulse", 0.02)))
    flash = cells(Sections(pulse, measurement_sections), "How this was measured")["flash"]
    assert flash == "pulse on the front face, duration 20 ms"
    bare = cells(Sections(replace(rec, facts=Facts(units=FACTS.units)), measurement_sections), "How this was measured")
    assert [bare[name] for name in ("material", "camera", "frame rate", "flash")] == ["not recorded"] * 4


def test_steps_of_the_preparation_are_said_once_and_what_they_assume_apart(rec):
    unsaid = Step("region", "All of it.")  # of an old file, whose notes may lack it
    facts = FACTS.replaced(notes=(), steps=(unsaid,), window=Window(left=8, bin=2)).done(
        Step("pixels", "Means over 2 x 2.", {"bin": 2}), Step("pulse", "Assumed to last 2 ms.", assumed=True)
    )
    prepared = replace(rec, facts=facts.noted(Note(NoteKind.OTHER, "Something else.")))
    known = cells(Sections(prepared, measurement_sections), "How this was measured")
    told = list(known.values())
    assert [name for name, text in known.items() if "Means over" in text] == ["step 2"]
    assert [name.split()[0] for name, text in known.items() if "Pulse: Assumed" in text] == ["assumption"]
    assert "Region: All of it." in told
    assert "Something else." in told
    assert known["flash"] == "Assumed to last 2 ms."
    (row,) = section(Sections(prepared, indication_sections), "What they measure").table.rows
    assert row[2] == f"{2 * 20 + 1}, {8 + 2 * 11 + 1}"


def test_what_was_calibrated_is_shown_with_its_start_and_the_gain(rec):
    gain = np.broadcast_to(np.linspace(0.97, 1.03, 44), GRID.shape[1:])
    calibrated = FACTS.replaced(calibration=CALIBRATION, gain=gain)
    page = Sections(replace(rec, facts=calibrated), measurement_sections)
    found = section(page, "What was calibrated")
    rows = [tuple(plain(cell) for cell in row) for row in found.table.rows]
    assert rows == [
        ("diffusivity through the thickness", "0.451 mm²/s", "0.002 mm²/s", "0.31 mm²/s"),
        ("heat loss of the back face", "5.1 W/m2K", "–", "10 W/m2K"),
        ("heated margin", "12 mm", "–", "–"),
    ]
    image = found.figure.data[0]
    assert image.z[0, 0] == pytest.approx(-3, abs=0.01)
    assert image.z[0, -1] == pytest.approx(3, abs=0.01)
    estimated = Sections(replace(rec, facts=FACTS.replaced(gain=gain)), measurement_sections)
    assert "What was calibrated" not in [s.title for s in estimated.sections]  # a first estimate is no result


def test_noise_may_differ_from_frame_to_frame(rec):
    noise = np.geomspace(0.04, 0.01, len(rec.times))
    random = np.random.default_rng(1).standard_normal(rec.fitted.shape)
    noisy = replace(rec, measured=rec.fitted + noise[:, None, None] * random)
    object.__setattr__(noisy, "noise", noise)
    findings = Findings(noisy)
    assert plain(findings.noise_words("K")) == "0.01 to 0.04 K"
    sections = fit_sections.sections(findings, AxisUnits())
    left: Any = next(s for s in sections if s.title == "What the volume leaves unexplained").figure
    for frame in left.frames:
        assert np.std(frame.data[0].z) == pytest.approx(1, abs=0.08)


def test_the_words_of_a_judgement_are_never_used(rec):
    sound = replace(rec, alpha=np.full(GRID.shape, BULK))
    for part in (sound, replace(rec, facts=FACTS.replaced(calibration=CALIBRATION))):
        page = reconstruction_page(part)
        text = page.render().replace(get_plotlyjs(), "")
        text = re.sub(r"<script.*?</script>|data:image/png;base64,[^\"]*", "", text, flags=re.S)
        assert not JUDGEMENT.search(text), JUDGEMENT.search(text)
        assert "they set no acceptance limits" in text
        assert "indication" in page.title
        assert not JUDGEMENT.search(part._repr_html_())


def test_pictures_show_the_indication_where_it_is(rec, page, tmp_path):
    paths = write_cscans(rec, tmp_path)
    assert tuple(path.name for path in paths) == NAMES
    assert [p.name for p in section(page, "C-scan pictures").pictures] == list(NAMES)
    depth, contrast, missing = (np.asarray(Image.open(path)).astype(int) for path in paths)
    scale = 800 / 9.0  # pixels of the picture per mm; the part is 9 mm high
    inside = (round(TOP + 19.0 * 0.3 * scale), round(LEFT + 8.0 * 0.2 * scale))  # row 19, column 8 of the frames
    mirrored = (inside[0], round(LEFT + 36.0 * 0.2 * scale))
    above = (round(TOP + 9.0 * 0.3 * scale), inside[1])
    assert np.ptp(depth[inside]) > 60
    assert np.ptp(depth[mirrored]) < 15  # grey
    assert np.ptp(depth[above]) < 15
    assert contrast[inside][0] > contrast[inside][2] + 60  # red is warm
    assert abs(contrast[mirrored] - contrast[above]).max() < 40
    assert (missing[mirrored] == missing[above]).all()
    assert abs(missing[inside] - missing[above]).max() > 60


def test_a_labelled_image_is_true_to_scale_and_colours_nothing_unknown():
    values = np.full((10, 30), np.nan)
    values[0, 0], values[9, 29] = 0.0, 1.0
    marks = [("1", (0.5, 1.5))]
    given = LabelledMap("Title ² −", values, (1.0, 3.0), DEPTH, "depth (mm)", "mm", (0.0, 1.0), "note", marks)
    image = np.asarray(Image.open(io.BytesIO(labelled_image(given))).convert("RGB")).astype(int)
    cell = 800 / 30
    first = image[TOP + round(cell / 2), LEFT + round(cell / 2)]
    last = image[TOP + round(9.5 * cell), LEFT + round(29.5 * cell)]
    assert np.abs(first - (252, 166, 54)).max() < 6
    assert np.abs(last - (13, 8, 135)).max() < 6
    assert (image[TOP + round(5 * cell), LEFT + round(5 * cell)] == (238, 241, 244)).all()
    with pytest.raises(InputError, match="shape"):
        labelled_image(replace(given, values=np.zeros((2, 2, 2))))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.3), (0.0, 9.0), (-0.4, 0.4), (0.0, 7.7), (1e-6, 3e-6), (0, 1000)])
def test_ticks_are_round_and_inside(low, high):
    ticks = nice_ticks(low, high)
    assert 2 <= len(ticks) <= 6
    assert all(low - 1e-9 <= t <= high + 1e-9 for t in ticks)
    assert np.ptp(np.diff(ticks)) < 1e-9 * (high - low)
    with pytest.raises(InputError, match="low < high"):
        nice_ticks(1.0, 1.0)


def test_bands_are_drawn_around_their_depths():
    figure: Any = depth_bands([DepthBand("1", 0.5, 0.4, 0.7, 0.2, truth=0.55)], 1.3, AxisUnits(length="mm"))
    bar, dot, truth = figure.data
    assert (bar.base[0], bar.y[0]) == (0.5, 0.2)
    assert (dot.y[0], dot.error_y.array[0], dot.error_y.arrayminus[0]) == pytest.approx((0.5, 0.2, 0.1))
    assert truth.y[0] == 0.55
    with pytest.raises(InputError, match="at least one"):
        depth_bands([], 1.0)
