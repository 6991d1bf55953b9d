"""Metres are shown as millimetres, once; everything else as it is."""

import csv
import io

import numpy as np
import pytest

from nefty.data.facts import Units
from nefty.result.display_units import display_units, in_display_units
from nefty.result.exports.export import defect_table
from support.parts import BULK, GRID, planted

SI = Units(length="m", time="s", temperature="K")


def test_metres_become_millimetres():
    units = display_units(SI)
    assert (units.length.word, units.area.word, units.volume.word) == ("mm", "mm²", "mm³")
    assert units.length(0.0013) == pytest.approx(1.3)
    assert units.area(1e-6) == pytest.approx(1)
    assert units.volume(1e-9) == pytest.approx(1)
    assert units.diffusivity.word == "mm²/s"
    assert units.diffusivity.plain == "mm2/s"
    assert units.diffusivity(4.47e-7) == pytest.approx(0.447)
    assert (units.time.factor, units.temperature.factor) == (1, 1)


@pytest.mark.parametrize("word", ["", "mm", "in"])
def test_other_units_and_none_stay_as_they_are(word):
    units = display_units(Units(length=word))
    assert {units.length.factor, units.volume.factor, units.diffusivity.factor} == {1}
    assert units.length.word == word


def test_a_reconstruction_is_scaled_as_a_whole():
    rec = planted(truth=np.full(GRID.shape, BULK))
    shown = in_display_units(rec)
    np.testing.assert_allclose(shown.grid.size, np.multiply(1e3, rec.grid.size))
    np.testing.assert_allclose(shown.alpha, 1e6 * rec.alpha)
    np.testing.assert_allclose(shown.background, 0.45)
    np.testing.assert_allclose(np.asarray(shown.truth), 0.45)
    assert shown.unit("length") == "mm"
    assert shown.measured is not None
    (here,), (there,) = rec.defects(), shown.defects()
    assert there.depth_to_top == pytest.approx(1e3 * here.depth_to_top)
    assert there.area == pytest.approx(1e6 * here.area)
    assert shown.evidence()[0].snr == pytest.approx(rec.evidence()[0].snr)
    assert in_display_units(shown) is shown  # once


def test_the_table_and_the_notebook_are_in_millimetres():
    rec = planted()
    header, line = csv.reader(io.StringIO(defect_table(rec)))
    row = dict(zip(header, line, strict=True))
    assert float(row["depth_to_top (mm)"]) == pytest.approx(0.6, abs=0.02)
    assert float(row["area (mm2)"]) == pytest.approx(4.62)
    assert float(row["alpha_mean (mm2/s)"]) == pytest.approx(0.018)
    assert float(row["thermal_contrast (K)"]) > 1
    assert "(m)" not in " ".join(header)
    page = rec._repr_html_()
    assert "1.3 × 9 × 8.8 mm" in page
    assert "0.45 to 0.45 mm²/s" in page
