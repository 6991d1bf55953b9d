"""How sure: slices, a veil, and a column of the table."""

import dataclasses
from typing import Any

import pytest

from nefty.report.figures.style import units_of
from nefty.report.pages.ensemble_section import section
from nefty.report.pages.findings import Findings, defect_table
from nefty.report.pages.reconstruction import reconstruction_page
from nefty.result.display_units import in_display_units
from support.weighed_parts import refits, weighed


@pytest.fixture(scope="module")
def rec():
    return in_display_units(weighed(ensemble=refits()))


def test_probability_and_spread_side_by_side(rec):
    found = section(Findings(rec), units_of(rec))
    assert found is not None
    assert found.figure is not None
    assert [note.text for note in found.figure.layout.annotations] == ["Probability", "Spread"]
    assert "refitted 4 times" in found.shows
    fewer = dataclasses.replace(rec, ensemble=dataclasses.replace(rec.ensemble, asked=9, failed=1))
    shown = section(Findings(fewer), units_of(fewer))
    assert shown is not None
    assert "refitted 4 of 9 times" in shown.shows
    assert "One refit failed" in shown.shows


def test_the_table_has_a_column_of_spreads(rec):
    table = defect_table(Findings(rec), units_of(rec))
    column = table.columns.index("ensemble: depth, ⌀ (mm), R")
    assert [row[column] for row in table.rows] == ["± 0.02, ± 0.05, ± 8 %"]


def test_without_an_ensemble_nothing_changes():
    rec = in_display_units(weighed())
    assert section(Findings(rec), units_of(rec)) is None
    assert not any("ensemble" in column for column in defect_table(Findings(rec), units_of(rec)).columns)


def test_the_page_shows_what_is_sure_as_solid_and_the_rest_as_a_veil(rec):
    page = reconstruction_page(rec)
    titles = {one.title: one for one in page.sections}
    assert "How sure, slice by slice" in titles
    solid: Any = titles["The indications in 3D"]
    meshes = [trace for trace in solid.figure.data if trace.type == "mesh3d" and trace.intensity is not None]
    assert [mesh.opacity for mesh in meshes] == [1.0, 0.22]
    assert meshes[1].x.min() < meshes[0].x.min()
    assert "not sure" in solid.shows
