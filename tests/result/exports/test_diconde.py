"""DICOM objects with DICONDE's attributes, read back with pydicom."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest

from nefty.core.errors import InputError, MissingExtraError
from nefty.data.facts import Facts, Units
from nefty.result.exports.diconde import depth_object
from support.parts import COLUMNS, FACTS, GRID, ROWS, planted
from support.weighed_parts import weighed

pydicom = pytest.importorskip("pydicom")


@pytest.fixture(scope="module")
def rec():
    return planted(provenance={"created": "2026-03-04T05:06:07+00:00", "nefty": "0.1.0"})


@pytest.fixture(scope="module")
def files(rec, tmp_path_factory):
    path = rec.export(tmp_path_factory.mktemp("dicom") / "plate.dcm")
    assert sorted(p.name for p in path.parent.iterdir()) == ["plate-depth.dcm", "plate.dcm"]
    return pydicom.dcmread(path), pydicom.dcmread(path.with_name("plate-depth.dcm"))


def real(dicom):
    mapping = dicom.RealWorldValueMappingSequence[0]
    return dicom.pixel_array * mapping.RealWorldValueSlope + mapping.RealWorldValueIntercept


def test_the_depth_map_is_in_millimetres_on_its_pixels(rec, files):
    _, depth = files
    assert (depth.Rows, depth.Columns, depth.NumberOfFrames) == (30, 44, 1)
    assert [float(v) for v in depth.PixelSpacing] == [0.3, 0.2]  # rows, columns
    assert depth.RealWorldValueMappingSequence[0].MeasurementUnitsCodeSequence[0].CodeValue == "mm"
    found = real(depth)
    expected = 1e3 * np.nan_to_num(rec.depth_map())
    np.testing.assert_allclose(found, expected, atol=5.1e-4)
    assert np.argwhere(found > 0).min(axis=0).tolist() == [ROWS.start, COLUMNS.start]


def test_the_volume_has_a_frame_per_layer(rec, files):
    volume, _ = files
    assert volume.NumberOfFrames == GRID.shape[0]
    np.testing.assert_allclose(real(volume), rec.alpha / rec.background[:, None, None], atol=5.1e-4)
    np.testing.assert_allclose(volume.SliceLocationVector, 0.1 * (np.arange(13) + 0.5))
    assert volume.FrameIncrementPointer == pydicom.tag.Tag("SliceLocationVector")
    assert float(volume.SpacingBetweenSlices) == pytest.approx(0.1)


def test_component_material_and_indications_are_said(files):
    volume, depth = files
    assert str(depth.PatientName) == "plate 12.h5"
    assert float(depth.MaterialThickness) == pytest.approx(1.3)
    assert depth.MaterialGrade == "cfrp"
    assert "alpha_z=4.5e-07 m2/s" in depth.MaterialPropertiesDescription
    assert depth.MaterialNotes == "table of nefty"
    (evaluator,) = depth.EvaluatorSequence
    (indication,) = evaluator.IndicationSequence
    assert indication.IndicationNumber == 1
    assert "depth to top 0.6 mm" in indication.IndicationDescription
    assert "row 20, column 11" in indication.IndicationDescription
    assert "IndicationDisposition" not in indication
    assert depth.StudyDate == "20260304"
    assert "EXPERIMENTAL" in depth.SeriesDescription
    assert depth.StudyInstanceUID == volume.StudyInstanceUID
    assert depth.SOPInstanceUID != volume.SOPInstanceUID
    assert depth.SOPInstanceUID == depth.file_meta.MediaStorageSOPInstanceUID


def test_it_is_the_same_file_again_and_pixels_mean_what_the_class_asks(rec, files):
    assert depth_object(rec) == depth_object(rec)
    for dicom in files:
        assert (dicom.RescaleSlope, dicom.RescaleIntercept, dicom.RescaleType) == (1, 0, "US")
        assert pydicom.uid.UID(dicom.SOPClassUID).name.startswith("Multi-frame Grayscale Word Secondary Capture")


def test_a_sound_part_and_a_bare_result_can_be_written(rec):
    bare = replace(rec, alpha=np.full(GRID.shape, 4.5e-7), provenance={}, facts=Facts(units=Units(length="mm")))
    found = pydicom.dcmread(io.BytesIO(depth_object(bare)))
    assert not found.pixel_array.any()
    assert list(found.EvaluatorSequence[0].IndicationSequence) == []


def test_lengths_of_an_unknown_unit_are_refused(rec):
    with pytest.raises(InputError, match=r"lengths in mm; the unit of this grid is 'not known'"):
        depth_object(replace(rec, facts=Facts()))
    with pytest.raises(InputError, match="is 'in'"):
        depth_object(replace(rec, facts=FACTS.replaced(units=Units(length="in"))))


def test_the_extra_is_named_where_the_library_is_missing(rec, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(MissingExtraError, match=r"pip install nefty\[formats\]"):
        rec.export(tmp_path / "plate.dcm")
    assert list(tmp_path.iterdir()) == []


def test_evidence_and_gaps_are_said():
    item = pydicom.dcmread(io.BytesIO(depth_object(weighed()))).EvaluatorSequence[0].IndicationSequence[0]
    said = item.IndicationDescription
    assert "evidence 21 standard deviations; thermal resistance 0.00192 m2K/W; equivalent air gap 50 um" in said
    assert "nan" not in said
