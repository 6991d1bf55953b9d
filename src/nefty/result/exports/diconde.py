"""EXPERIMENTAL: a reconstruction as DICOM objects with DICONDE's attributes (ASTM E2339), for archives of inspections.

Two objects of the SOP class *Multi-frame Grayscale Word Secondary Capture*, unsigned 16 bit:

| object | frames | pixel value |
|---|---|---|
| depth | one | depth to the top of the indication in micrometres; 0 where there is none |
| volume | one per layer of cells, the front first | 1000 alpha/background, so that the background is 1000 |

``RealWorldValueMappingSequence`` has factor and unit. The component stands in the place of the patient, as E2339 has
it; thickness, material and indications are in DICONDE's group 0014.

What is not conformant: this is a derived secondary capture, not the object that ASTM's practice on DICONDE for
thermography defines, and has none of its modules on camera and excitation (they are in ``MaterialNotes`` and
``DerivationDescription`` as text); what nefty does not know (component ID, inspector, owner) is empty; UIDs are under
pydicom's root. No viewer or archive was certified with it.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from nefty.core.errors import InputError, MissingExtraError
from nefty.core.storage.hdf5 import digest
from nefty.data.record.record import InspectionRecord
from nefty.result.display_units import in_display_units
from nefty.result.indications.segmentation import Rule

if TYPE_CHECKING:
    from nefty.result.reconstruction import Reconstruction

#: Pixel values per millimetre, and of the background.
PER_MM, SOUND = 1000, 1000
TOP = 2**16 - 1


def depth_object(rec: Reconstruction, rule: Rule | str = "default") -> bytes:
    """The depth map as a DICOM file.

    Args:
        rec: on a grid in m or mm.
        rule: of the segmentation.
    """
    rec = _in_millimetres(rec)
    depths = np.nan_to_num(rec.depth_map(rule))
    values = np.where(depths > 0, np.clip(np.rint(PER_MM * depths), 1, TOP), 0)
    content = _common(rec, rule, "depth to the top of the indications", 1)
    _put_pixels(content, values[None], 1 / PER_MM, ("mm", "millimeter"), "depth")
    content.PixelPaddingValue = 0
    return _written(content)


def volume_object(rec: Reconstruction, rule: Rule | str = "default") -> bytes:
    """The diffusivity over that of the background as a DICOM file with a frame per layer."""
    rec = _in_millimetres(rec)
    ratio = rec.alpha / rec.background[:, None, None]
    content = _common(rec, rule, "diffusivity over that of the background", 2)
    _put_pixels(content, np.clip(np.rint(SOUND * ratio), 0, TOP), 1 / SOUND, ("1", "no units"), "alpha/background")
    dz = rec.grid.spacing[0]
    content.SpacingBetweenSlices = _number(dz)
    content.SliceLocationVector = [float((k + 0.5) * dz) for k in range(rec.grid.shape[0])]
    content.FrameIncrementPointer = 0x00182005  # SliceLocationVector
    return _written(content)


def _in_millimetres(rec: Reconstruction) -> Reconstruction:
    rec = in_display_units(rec)
    if rec.unit("length") != "mm":
        raise InputError(
            f"DICOM needs lengths in mm; the unit of this grid is {rec.unit('length') or 'not known'!r}. Reconstruct "
            "with lengths in m or mm and say so: Facts(units=Units(length=...))."
        )
    return rec


def _pydicom() -> Any:
    try:
        import pydicom
        import pydicom.uid
    except ImportError as error:
        raise MissingExtraError(
            "DICOM files are written with pydicom, which is not installed: pip install nefty[formats]."
        ) from error
    return pydicom


def _common(rec: Reconstruction, rule: Rule | str, shows: str, number: int) -> Any:
    """Everything but the pixels."""
    pydicom = _pydicom()
    dicom, uid = pydicom.Dataset(), pydicom.uid.generate_uid
    created = _created(rec.provenance)
    entropy = [str(rec.provenance.get("created", "")), digest(rec.alpha), str(rec.grid)]
    dicom.SOPClassUID = "1.2.840.10008.5.1.4.1.1.7.3"
    dicom.SOPInstanceUID = uid(entropy_srcs=[*entropy, shows])
    dicom.StudyInstanceUID = uid(entropy_srcs=[*entropy, "study"])
    dicom.SeriesInstanceUID = uid(entropy_srcs=[*entropy, "series"])
    dicom.SpecificCharacterSet = "ISO_IR 192"
    # The component, in the place of the patient.
    dicom.PatientName = _name(rec.facts.origin.name)
    dicom.PatientID = dicom.PatientBirthDate = dicom.PatientSex = ""
    dicom.StudyDate, dicom.StudyTime = created.strftime("%Y%m%d"), created.strftime("%H%M%S")
    dicom.ContentDate, dicom.ContentTime = dicom.StudyDate, dicom.StudyTime
    dicom.StudyID = dicom.AccessionNumber = dicom.ReferringPhysicianName = dicom.OperatorsName = ""
    dicom.SeriesNumber, dicom.InstanceNumber = 1, number
    dicom.Modality, dicom.ConversionType = "TG", "WSD"
    dicom.SeriesDescription = f"nefty, EXPERIMENTAL: {shows}"[:64]
    dicom.Manufacturer, dicom.ManufacturerModelName = "nefty", "thermal tomography"
    dicom.SoftwareVersions = str(rec.provenance.get("nefty", ""))
    dicom.ImageType, dicom.BurnedInAnnotation = ["DERIVED", "SECONDARY"], "NO"
    dicom.DerivationDescription = f"{shows}, reconstructed from {len(rec.times)} frames by nefty"[:1024]
    _, dy, dx = rec.grid.spacing
    dicom.PixelSpacing = dicom.NominalScannedPixelSpacing = [_number(dy), _number(dx)]
    # DICONDE.
    dicom.MaterialThickness = _number(rec.grid.size[0])
    material = rec.facts.material
    if material is not None:
        dicom.MaterialGrade = material.name[:1024]
        axes = ("alpha_z", "alpha_y", "alpha_x")
        dicom.MaterialPropertiesDescription = ", ".join(f"{k}={getattr(material, k):.4g} m2/s" for k in axes)
        dicom.MaterialNotes = material.note[:10240]
    _put_record(dicom, rec.facts.record)
    evaluator = pydicom.Dataset()
    evaluator.EvaluatorNumber, evaluator.EvaluatorName, evaluator.EvaluationAttempt = 1, "nefty", 1
    evaluator.IndicationSequence = [_indication(pydicom, *pair) for pair in _listed(rec, rule)]
    dicom.EvaluatorSequence = [evaluator]
    return dicom


def _put_record(dicom: Any, record: InspectionRecord | None) -> None:
    """Who inspected what, where DICONDE has a place for it; all of it as comments on the component."""
    if record is None:
        return
    if record.part:
        dicom.PatientName = _name(record.part)
    dicom.PatientID, dicom.OperatorsName = record.serial[:64].replace("\\", "/"), _name(record.inspector)
    if record.date:
        dicom.StudyDate = record.date[:10].replace("-", "")
    procedure = " ".join(word for word in (record.procedure, record.revision) if word)
    places = {
        "ProtocolName": procedure,
        "DeviceSerialNumber": record.camera_serial,
        "InstitutionName": record.location,
        "StudyDescription": f"drawing {record.drawing}" if record.drawing else "",
    }
    for place, text in places.items():
        if text:
            setattr(dicom, place, " ".join(text.split())[:64].replace("\\", "/"))
    if record.ambient:
        dicom.ActualEnvironmentalConditions = f"ambient {record.ambient}"
    dicom.PatientComments = "\n".join(f"{name}: {value}" for name, value in record.recorded().items())[:10240]


def _name(text: str) -> str:
    """A name as DICOM has them."""
    return " ".join(text.split())[:64].translate(str.maketrans("^=\\", "  /"))


def _listed(rec: Reconstruction, rule: Rule | str) -> list[tuple[Any, Any]]:
    return list(zip(rec.defects(rule), rec.evidence(rule), strict=True))


def _indication(pydicom: Any, defect: Any, evidence: Any) -> Any:
    """One indication in words; its disposition is the inspector's and stays empty."""
    item = pydicom.Dataset()
    item.IndicationNumber, item.IndicationLabel = defect.label, f"indication {defect.label}"[:16]
    _, y, x = defect.centre
    item.IndicationDescription = (
        f"centre x={x:.4g} mm, y={y:.4g} mm (row {evidence.row}, column {evidence.column} of the frames); depth to top "
        f"{defect.depth_to_top:.4g} mm, band {evidence.depth_low:.4g} to {evidence.depth_high:.4g} mm; area "
        f"{defect.area:.4g} mm2; FWHM {evidence.fwhm_long:.4g} x {evidence.fwhm_short:.4g} mm; "
        f"SNR {evidence.snr:.3g} dB{_weighed(defect)}"
    )
    return item


def _weighed(defect: Any) -> str:
    """Evidence, resistance and equivalent gaps, as far as they are known."""
    known = {
        "evidence": (defect.evidence, 1.0, "standard deviations"),
        "thermal resistance": (defect.resistance, 1.0, "m2K/W"),
        "equivalent air gap": (defect.gap_air, 1e6, "um"),
        "equivalent polymer film": (defect.gap_polymer, 1e6, "um"),
    }
    said = [f"; {name} {factor * v:.3g} {unit}" for name, (v, factor, unit) in known.items() if math.isfinite(v)]
    return "".join(said)


def _put_pixels(dicom: Any, values: np.ndarray, slope: float, unit: tuple[str, str], label: str) -> None:
    """Frames (n, y, x) of whole numbers, and what they mean."""
    pydicom = _pydicom()
    frames, rows, columns = values.shape
    dicom.SamplesPerPixel, dicom.PhotometricInterpretation = 1, "MONOCHROME2"
    dicom.NumberOfFrames, dicom.Rows, dicom.Columns = frames, rows, columns
    dicom.BitsAllocated, dicom.BitsStored, dicom.HighBit, dicom.PixelRepresentation = 16, 16, 15, 0
    dicom.RescaleIntercept, dicom.RescaleSlope, dicom.RescaleType = 0, 1, "US"
    dicom.PresentationLUTShape = "IDENTITY"
    dicom.PixelData = np.ascontiguousarray(values, dtype="<u2").tobytes()
    code = pydicom.Dataset()
    code.CodeValue, code.CodeMeaning, code.CodingSchemeDesignator = *unit, "UCUM"
    mapping = pydicom.Dataset()
    mapping.RealWorldValueFirstValueMapped, mapping.RealWorldValueLastValueMapped = 0, TOP
    mapping.RealWorldValueIntercept, mapping.RealWorldValueSlope = 0.0, float(slope)
    mapping.LUTLabel, mapping.LUTExplanation = label[:16], label
    mapping.MeasurementUnitsCodeSequence = [code]
    dicom.RealWorldValueMappingSequence = [mapping]


def _written(dicom: Any) -> bytes:
    pydicom = _pydicom()
    meta = pydicom.dataset.FileMetaDataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = dicom.SOPClassUID, dicom.SOPInstanceUID
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    dicom.file_meta = meta
    content = io.BytesIO()
    pydicom.dcmwrite(content, dicom, enforce_file_format=True)
    return content.getvalue()


def _created(provenance: Mapping[str, str | int | float]) -> datetime:
    """When the result was made; the epoch if it does not say."""
    try:
        return datetime.fromisoformat(str(provenance["created"]))
    except (KeyError, ValueError):
        return datetime(1970, 1, 1)


def _number(value: float) -> str:
    """A decimal string of at most 16 characters."""
    return f"{value:.9g}"
