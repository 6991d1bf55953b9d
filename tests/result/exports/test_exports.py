"""Files for other programs, read back by the letter of their formats."""

import base64
import csv
import json
import struct
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from nefty.core.errors import InputError
from nefty.core.grid import Grid
from nefty.data.facts import Facts, Units
from nefty.result.display_units import in_display_units
from nefty.result.exports.export import defect_table
from nefty.result.exports.vtk_image import vti
from nefty.result.indications.segmentation import Absolute
from nefty.result.reconstruction import Reconstruction
from support.weighed_parts import GAP, weighed

KINDS = {"Float32": "<f4", "Int32": "<i4"}


def read_vti(path):
    """Attributes of the image and its cell arrays, (z, y, x)."""
    root = ElementTree.parse(path).getroot()
    assert root.attrib == {
        "type": "ImageData",
        "version": "1.0",
        "byte_order": "LittleEndian",
        "header_type": "UInt64",
    }
    image = root.find("ImageData")
    assert image is not None
    nx, ny, nz = (int(n) for n in image.attrib["WholeExtent"].split()[1::2])
    arrays = {}
    for item in image.iter("DataArray"):
        data = base64.b64decode(item.text or "")
        assert struct.unpack("<Q", data[:8])[0] == len(data) - 8
        arrays[item.attrib["Name"]] = np.frombuffer(data[8:], KINDS[item.attrib["type"]]).reshape(nz, ny, nx)
    return image.attrib, arrays


def expected_volumes(rec):
    return {
        "alpha": rec.alpha,
        "alpha_over_background": rec.alpha / rec.background[:, None, None],
        "defect": rec.segmentation().labels,
        "truth": rec.truth,
    }


def test_vti_holds_the_volumes_on_their_cells(make, tmp_path):
    rec = make(kind="layered")
    image, arrays = read_vti(rec.export(tmp_path / "volume.vti"))
    assert image["WholeExtent"] == "0 64 0 64 0 16"
    assert image["Origin"] == "0 0 0"
    assert [float(d) for d in image["Spacing"].split()] == [0.15625, 0.15625, 0.0625]
    assert arrays.keys() == expected_volumes(rec).keys()
    for name, values in expected_volumes(rec).items():
        np.testing.assert_allclose(arrays[name], values, rtol=1e-6)


def test_the_legacy_format_names_the_one_that_is_written(make, tmp_path):
    with pytest.raises(InputError, match=r"volume\.vtk: the legacy format \.vtk is not written; .* ends in \.vti"):
        make().export(tmp_path / "volume.vtk")


def test_truth_is_left_out_where_unknown(make, tmp_path):
    assert "truth" not in read_vti(make(truth=None).export(tmp_path / "volume.vti"))[1]


def test_vtk_refuses_what_it_cannot_hold():
    grid = Grid((2, 3, 4), (1.0, 1.0, 1.0))
    for name, values in (("a", np.ones((4, 3, 2))), ("a", np.ones(grid.shape, complex)), ("a b", np.ones(grid.shape))):
        with pytest.raises(InputError, match="cannot be written as VTK cells"):
            vti(grid, {name: values})


def test_npz_needs_no_pickle(make, tmp_path):
    known = Facts(units=Units(length="mm"), gain=np.ones((64, 64)), extra={"shift": np.float64(2)})
    rec = make(noise=0.5, facts=known)
    with np.load(rec.export(tmp_path / "volume.npz"), allow_pickle=False) as found:
        found = dict(found)
    np.testing.assert_array_equal(found["alpha"], rec.alpha)
    np.testing.assert_array_equal(found["measured"], rec.measured)
    np.testing.assert_array_equal(found["grid_size"], rec.grid.size)
    np.testing.assert_array_equal(found["depth_map"], rec.depth_map())
    np.testing.assert_array_equal(found["defect"], rec.segmentation().labels)
    assert found["noise"] == 0.5
    assert found["history_stage"].tolist() == ["coarse", "fine"]
    assert json.loads(str(found["recipe"])) == rec.recipe
    assert json.loads(str(found["facts"])) == {
        "units": {"length": "mm"},
        "gain": np.ones((64, 64)).tolist(),
        "extra": {"shift": 2.0},
    }
    assert str(found["lateral"]) == "periodic"
    assert json.loads(str(found["stopped"])) == {"reason": "good enough", "text": "at the noise floor"}
    assert json.loads(str(found["effort"])) == vars(rec.effort)
    assert json.loads(str(found["reach"])) == vars(rec.reach)
    with np.load(make(noise=None, truth=None).export(tmp_path / "bare.npz")) as bare:
        assert not {"noise", "truth"} & set(bare)


def test_what_json_does_not_know_is_named(make, tmp_path):
    with pytest.raises(InputError, match="is a object and cannot be saved"):
        make(facts=Facts(extra={"what": object()})).export(tmp_path / "volume.npz")
    with pytest.raises(InputError, match="is a object and cannot be written as JSON"):
        make(recipe={"what": object()}).export(tmp_path / "volume.npz")


def test_csv_has_units_in_its_header_and_a_line_per_defect(make, tmp_path):
    rec = make(seed=2, facts=Facts(units=Units(length="mm", diffusivity="mm2/s")))
    with open(rec.export(tmp_path / "defects.csv"), newline="") as file:
        header, *lines = csv.reader(file)
    assert header[:5] == ["label", "centre_z (mm)", "centre_y (mm)", "centre_x (mm)", "depth_to_top (mm)"]
    assert {"area (mm2)", "volume (mm3)", "alpha_mean (mm2/s)", "contrast (1)"} <= set(header)
    assert {"row (pixel)", "column (pixel)", "cells (count)"} <= set(header)
    assert all(name.endswith(")") for name in header[1:])
    assert len(lines) == len(rec.defects()) > 0
    for line, defect in zip(lines, rec.defects(), strict=True):
        row = dict(zip(header, line, strict=True))
        assert int(row["label"]) == defect.label
        assert float(row["centre_x (mm)"]) == pytest.approx(defect.centre[2])
        assert float(row["depth_to_top (mm)"]) == pytest.approx(defect.depth_to_top)
        assert row["reaches_back (0 or 1)"] in "01"


def test_csv_of_a_sound_part_is_its_header(make):
    assert defect_table(make(kind="sound")).splitlines()[1:] == []
    assert "volume (length unit3)" in defect_table(make())


def test_hdf5_is_what_load_reads_and_the_rule_reaches_the_files(make, tmp_path):
    rec = make()
    again = Reconstruction.load(rec.export(tmp_path / "volume.h5"))
    np.testing.assert_array_equal(again.alpha, rec.alpha)
    _, arrays = read_vti(rec.export(tmp_path / "volume.vti", Absolute(0.02)))
    np.testing.assert_array_equal(arrays["defect"] > 0, rec.alpha < 0.02)


def test_an_unknown_suffix_is_refused_with_the_known_ones(make, tmp_path):
    with pytest.raises(InputError, match=r"the suffix='\.vtu' is unknown; choose one of.*'\.vti'"):
        make().export(tmp_path / "volume.vtu")
    assert list(tmp_path.iterdir()) == []


def test_a_unit_from_a_file_parts_no_columns_and_starts_no_formula(make):
    nasty = '=cmd|"a",b;c\t\nd<b>' + "x" * 90
    units = Units(length=nasty, time="-s", temperature="°C")
    header = defect_table(make(facts=Facts(units=units))).splitlines()
    (names,) = csv.reader(header[:1])
    assert len(names) == header[0].count(",") + 1
    assert not set(header[0]) & set('=|";<>\t')
    assert {"time (s)", "thermal_contrast (°C)"} <= set(names)
    assert max(map(len, names)) < 80


def test_csv_has_evidence_resistance_and_gaps(make):
    header, *lines = csv.reader(defect_table(weighed()).splitlines())
    (row,) = (dict(zip(header, line, strict=True)) for line in lines)
    assert float(row["evidence (standard deviations)"]) == 21
    assert float(row["resistance (m2K/W)"]) == pytest.approx(GAP / 0.026)
    assert float(row["gap_air (mm)"]) == pytest.approx(1e3 * GAP)
    assert float(row["gap_polymer (mm)"]) > float(row["gap_air (mm)"])
    assert float(row["depth_to_top (mm)"]) == pytest.approx(0.61)
    assert row["thickness (mm)"] == row["volume (mm3)"] == ""
    in_mm = in_display_units(weighed())
    assert list(csv.reader(defect_table(in_mm).splitlines()))[1][header.index("gap_air (mm)")] == row["gap_air (mm)"]
    header, line, *_ = csv.reader(defect_table(make()).splitlines())
    assert dict(zip(header, line, strict=True))["evidence (standard deviations)"] == ""


def test_a_sheet_without_thickness_goes_into_every_file(tmp_path):
    rec = weighed()
    for name in ("volume.vti", "volume.npz", "volume.h5"):
        assert rec.export(tmp_path / name).stat().st_size > 0
    assert "21 standard deviations" in rec._repr_html_()
